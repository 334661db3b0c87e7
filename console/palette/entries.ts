import { isAddressText, isTransactionText, keptCase } from '../account-texts.ts';
import { shortAddress } from '../format.ts';
import { CONSOLE_BASE, channelPath, SEARCH_TEXT_MAX, transactionPath, walletPath } from '../routes.ts';

/** What the search of the header finds without asking the API. Pure, so that tests can run it outside a browser. */

export type EntryKind =
  | 'wallet'
  | 'merchant'
  | 'transaction'
  | 'channel'
  | 'agent'
  | 'endpoint'
  | 'facilitator'
  | 'capability'
  | 'page'
  | 'docs'
  | 'search';

export interface Entry {
  readonly kind: EntryKind;
  readonly title: string;
  /** A second text: where the name is from, or where the entry leads. */
  readonly detail?: string;
  /** The whole address, which also identifies the entry. */
  readonly href: string;
  /** Drawn as the picture of the address. */
  readonly wallet?: string;
}

export interface EntryGroup {
  readonly name: string;
  readonly entries: readonly Entry[];
}

/** The wallet that the text is, or the transaction and the channel that it may be; none for other texts. */
export function identityEntries(text: string): readonly Entry[] {
  const wanted = keptCase(text.trim());
  if (isAddressText(wanted))
    return (['payee', 'payer'] as const).map((role) => ({
      kind: 'wallet',
      title: shortAddress(wanted),
      detail: role === 'payee' ? 'wallet, as merchant' : 'wallet, as payer',
      href: `${CONSOLE_BASE}${walletPath(wanted, role)}`,
      wallet: wanted,
    }));
  if (isTransactionText(wanted))
    return [
      {
        kind: 'transaction',
        title: shortAddress(wanted),
        detail: 'transaction',
        href: `${CONSOLE_BASE}${transactionPath(wanted)}`,
      },
      // Ids of channels look like hashes of transactions of EVM chains.
      ...(wanted.startsWith('0x')
        ? [
            {
              kind: 'channel' as const,
              title: shortAddress(wanted),
              detail: 'payment channel',
              href: `${CONSOLE_BASE}${channelPath(wanted)}`,
            },
          ]
        : []),
    ];
  return [];
}

interface Titled {
  readonly path: string;
  readonly title: string;
  /** Other words for the page. */
  readonly words?: string;
}

/** The pages whose title or other words have every word of the text at the beginning of a word. All of them for blank text. */
export function pageEntries(pages: readonly Titled[], text: string): readonly Entry[] {
  return pages
    .filter(({ title, words = '' }) => matches(`${title} ${words}`, text))
    .map(({ path, title }) => ({
      kind: 'page',
      title,
      detail: 'page',
      href: path === '/' ? CONSOLE_BASE : `${CONSOLE_BASE}${path}`,
    }));
}

/** Whether every word of the text begins a word of the name. */
export function matches(name: string, text: string): boolean {
  const words = wordsOf(name);
  return wordsOf(text).every((wanted) => words.some((word) => word.startsWith(wanted)));
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');
}

/** Leads to the whole lists of what the text finds. */
export function searchEntries(text: string): readonly Entry[] {
  const wanted = text.trim().slice(0, SEARCH_TEXT_MAX);
  if (wanted === '') return [];
  const q = encodeURIComponent(wanted);
  return [
    { kind: 'search', title: `All agents for “${wanted}”`, href: `${CONSOLE_BASE}/agents?q=${q}` },
    { kind: 'search', title: `All endpoints for “${wanted}”`, href: `${CONSOLE_BASE}/endpoints?q=${q}` },
  ];
}

/** What the sources found for a text. */
export interface Found {
  readonly identity: readonly Entry[];
  readonly names: readonly Entry[];
  readonly pages: readonly Entry[];
  readonly docs: readonly Entry[];
  readonly search: readonly Entry[];
}

/**
 * The groups in the order of the list. An address is what was meant; a page whose title begins with the text comes before names, so that
 * `sql` and Enter open the SQL page; the whole lists come last.
 */
export function groupsOf(
  { identity, names, pages, docs, search }: Found,
  text: string,
): readonly EntryGroup[] {
  const wanted = text.trim().toLowerCase();
  const isMeant = wanted !== '' && pages.some(({ title }) => title.toLowerCase().startsWith(wanted));
  const pageGroup = { name: 'Pages', entries: pages };
  const nameGroup = { name: 'Names', entries: names };
  const groups = [
    { name: 'Open', entries: identity },
    ...(isMeant ? [pageGroup, nameGroup] : [nameGroup, pageGroup]),
    { name: 'Documentation', entries: docs },
    { name: 'Search', entries: identity.length > 0 ? [] : search },
  ];
  return groups.filter(({ entries }) => entries.length > 0);
}
