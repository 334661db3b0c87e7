import { isAddress, readAddress } from '../../../core/domain/account.ts';
import { DEPLOYMENT_OWNER } from '../../../core/domain/dashboard.ts';
import { Failure } from '../../../core/errors.ts';
import { escapeHtml } from '../../docs-site/markdown.ts';
import { type BoardDeps, visibleBoard } from '../../operations/dashboards/boards.ts';
import { PICTURE_SIZE } from '../share/picture.ts';
import { NOBODY, shortWallet } from '../share/route.ts';

/** What other sites show with a link to a page of the console: Open Graph and its Twitter names, in the head of the page. */
export interface PageWords {
  readonly title: string;
  readonly description: string;
  /** Below the public URL. */
  readonly picture: string;
}

export const HOME_WORDS: PageWords = {
  title: 'Settlement Index',
  description: 'x402 settlements and ERC-8004 agents: live flow, wallets, SQL.',
  picture: `/og/dashboards/${DEPLOYMENT_OWNER}/home.png`,
};

/** The words for a path of the console. A dashboard that not everyone may open has those of the home page. */
export async function wordsOf(path: string, deps: BoardDeps): Promise<PageWords> {
  const [, , section = '', first = '', second = ''] = path.split('/');
  if (section === 'dashboards' && second !== '') return (await ofBoard(first, second, deps)) ?? HOME_WORDS;
  if (section === 'merchants' || section === 'agents') return ofWallet(first) ?? HOME_WORDS;
  return HOME_WORDS;
}

async function ofBoard(owner: string, slug: string, deps: BoardDeps): Promise<PageWords | null> {
  try {
    const { board } = await visibleBoard({ owner, slug, token: undefined }, deps, NOBODY);
    const { title, description } = board.content;
    return {
      title: `${title === '' ? board.slug : title} · Settlement Index`,
      description: description === '' ? HOME_WORDS.description : description,
      picture: `/og/dashboards/${board.owner}/${board.slug}.png`,
    };
  } catch (error) {
    // The page says itself what is wrong: that it is not there, or that the accounts do not answer.
    if (error instanceof Failure) return null;
    throw error;
  }
}

function ofWallet(text: string): PageWords | null {
  const wallet = readAddress(text);
  if (!isAddress(wallet)) return null;
  return {
    title: `${shortWallet(wallet)} · Settlement Index`,
    description: 'What this wallet was paid and paid over x402, by whom, and whether to pay it.',
    picture: `/og/wallets/${wallet}.png`,
  };
}

/** Without a public URL there is no address of a picture that another site could load. */
export function metaTags(
  { title, description, picture }: PageWords,
  { path, publicUrl }: { readonly path: string; readonly publicUrl: string },
): string {
  const named = [
    ['og:type', 'website'],
    ['og:site_name', 'Settlement Index'],
    ['og:title', title],
    ['og:description', description],
    ...(publicUrl === ''
      ? []
      : [
          ['og:url', `${publicUrl}${path}`],
          ['og:image', `${publicUrl}${picture}`],
          ['og:image:width', String(PICTURE_SIZE.width)],
          ['og:image:height', String(PICTURE_SIZE.height)],
        ]),
  ] as const;
  const twitter = publicUrl === '' ? 'summary' : 'summary_large_image';
  return [
    ...named.map(([name = '', text = '']) => `<meta property="${name}" content="${escapeHtml(text)}">`),
    `<meta name="twitter:card" content="${twitter}">`,
    `<meta name="twitter:title" content="${escapeHtml(title)}">`,
    `<meta name="twitter:description" content="${escapeHtml(description)}">`,
    ...(publicUrl === ''
      ? []
      : [`<meta name="twitter:image" content="${escapeHtml(`${publicUrl}${picture}`)}">`]),
  ].join('\n');
}
