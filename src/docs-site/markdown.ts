import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { DOCS_PAGES, type DocsPage } from './pages.ts';

/** Escapes text for HTML, between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const DOCS_ROOT = new URL('../../docs/', import.meta.url);

/** Files that pages link to but that are no pages, relative to docs/, and the paths that they are served under. */
const SERVED_ELSEWHERE: Readonly<Record<string, string>> = {
  'bundles.sql': '/docs/assets/bundles.sql',
  'reference/openapi.json': '/openapi.json',
  '../README.md': '/docs',
};

/** The target of a link: a page, another file that is served, or an address outside the documentation. */
type LinkTarget =
  | { readonly page: Pick<DocsPage, 'slug'> /** With its `#`, or ''. */; readonly fragment: string }
  | { readonly path: string }
  | { readonly href: string };

/** Throws on a relative link to a page that does not exist; the tests follow every link. */
export function linkTarget(href: string, from: DocsPage): LinkTarget {
  if (/^([a-z][a-z0-9+.-]*:|\/)/i.test(href)) return { href };
  const [path = '', fragment] = href.split('#', 2);
  const anchor = fragment === undefined ? '' : `#${fragment}`;
  if (path === '') return { page: from, fragment: anchor };
  const file = posix.join(posix.dirname(from.file), path);
  const page = DOCS_PAGES.find((known) => known.file === file);
  if (page !== undefined) return { page, fragment: anchor };
  const [, operation] = OPERATION_FILE.exec(file) ?? [];
  if (operation !== undefined) return { page: { slug: `operations/${operation}` }, fragment: anchor };
  const served = PICTURE.test(file) ? picturePath(file) : SERVED_ELSEWHERE[file];
  if (served === undefined) throw new Error(`docs/${from.file} links to ${href}, which is no page`);
  return { path: served };
}

/** Pages of operations are made from declarations: none of them is a file. */
const OPERATION_FILE = /^reference\/operations\/(\w+)\.md$/;

const PICTURE = /\.(?:svg|webp|png)$/;

function picturePath(file: string): string {
  return `/docs/assets/${posix.basename(file)}`;
}

/** The same picture of the screen in dark colours: `name-dark.webp` for `name.webp`; null where there is none. */
export function darkPicture(href: string): string | null {
  const dark = href.replace(/\.webp$/, '-dark.webp');
  return dark !== href && pictureFiles().has(posix.basename(dark)) ? dark : null;
}

/** The drawing that an image of a page shows, as SVG. */
export function readDrawing(href: string, from: DocsPage): string {
  return readFileSync(new URL(posix.join(posix.dirname(from.file), href), DOCS_ROOT), 'utf8');
}

/** The drawings and pictures by the name that they are served under. */
export function pictureFiles(): ReadonlyMap<string, URL> {
  const files = ['design/', 'images/'].flatMap((folder) => {
    const directory = new URL(folder, DOCS_ROOT);
    const names = readdirSync(directory).filter((name) => PICTURE.test(name));
    return names.map((name) => [name, new URL(name, directory)] as const);
  });
  return new Map(files);
}

/** The Markdown of a page in docs/. */
export function readPage({ file }: DocsPage): string {
  return readFileSync(new URL(file, DOCS_ROOT), 'utf8');
}

export interface PageParts {
  /** Whether the results of worked queries are on it: a model needs none of them to write a query. Default true. */
  readonly hasResults?: boolean;
  /** Its Markdown, where that is not the file's. */
  readonly text?: string;
}

/** The mark at the end stays: it is a comment, and those are removed next. */
const RESULTS = /<!-- result:(?:[^<]|<(?!!-- \/result:))*/g;

/** A page with its links rewritten by `hrefOf`, and without the comments of the generator. */
export function markdownOf(
  page: DocsPage,
  hrefOf: (target: Exclude<LinkTarget, { href: string }>) => string,
  { hasResults = true, text = readPage(page) }: PageParts = {},
): string {
  return (hasResults ? text : text.replace(RESULTS, ''))
    .replace(/<!--(?:[^-]|-(?!->))*(?:-->|$)\n*/g, '')
    .replace(/\]\(([^()\s]+)\)/g, (all, href: string) => {
      const target = linkTarget(href, page);
      return 'href' in target ? all : `](${hrefOf(target)})`;
    });
}
