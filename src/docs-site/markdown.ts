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
  | { readonly page: DocsPage /** With its `#`, or ''. */; readonly fragment: string }
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
  const served = file.endsWith('.svg') ? drawingPath(file) : SERVED_ELSEWHERE[file];
  if (served === undefined) throw new Error(`docs/${from.file} links to ${href}, which is no page`);
  return { path: served };
}

function drawingPath(file: string): string {
  return `/docs/assets/${posix.basename(file)}`;
}

/** The drawing that an image of a page shows, as SVG. */
export function readDrawing(href: string, from: DocsPage): string {
  return readFileSync(new URL(posix.join(posix.dirname(from.file), href), DOCS_ROOT), 'utf8');
}

/** The drawings of docs/design by the name that they are served under. */
export function drawingFiles(): ReadonlyMap<string, URL> {
  const directory = new URL('design/', DOCS_ROOT);
  const names = readdirSync(directory).filter((name) => name.endsWith('.svg'));
  return new Map(names.map((name) => [name, new URL(name, directory)]));
}

/** The Markdown of a page in docs/. */
export function readPage({ file }: DocsPage): string {
  return readFileSync(new URL(file, DOCS_ROOT), 'utf8');
}

/** A page with its links rewritten by `hrefOf`, and without the comments of the generator. */
export function markdownOf(
  page: DocsPage,
  hrefOf: (target: Exclude<LinkTarget, { href: string }>) => string,
): string {
  return readPage(page)
    .replace(/<!--[\s\S]*?-->\n*/g, '')
    .replace(/\]\(([^)\s]+)\)/g, (all, href: string) => {
      const target = linkTarget(href, page);
      return 'href' in target ? all : `](${hrefOf(target)})`;
    });
}
