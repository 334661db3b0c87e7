import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { weakTag } from '../../core/weak-tag.ts';
import type { AnyOperation } from '../operations/define.ts';
import { llmsFullText, llmsText, pageMarkdown } from './llms.ts';
import { pictureFiles, readPage } from './markdown.ts';
import { operationPages, overviewMarkdown } from './operations/page.ts';
import { DOCS_PAGES, type DocsPage } from './pages.ts';
import { type RenderedPage, renderPage, searchData } from './render-page.ts';
import { INDEX_DESCRIPTION, indexPage, missingPage, shell } from './shell.ts';

/** All texts that the documentation serves. Each one is made at its first request and kept. */
export interface DocsSite {
  /** /docs */
  index(): ServedText;
  /** /docs/{slug}, also `operations/{id}`; undefined where there is no such page. */
  page(slug: string): ServedText | undefined;
  /** /docs/{slug}.md */
  markdown(slug: string): ServedText | undefined;
  asset(name: string): ServedText | undefined;
  search(): ServedText;
  llms(): ServedText;
  llmsFull(): ServedText;
  missing(): ServedText;
  /** A page with the same frame that does not belong to the documentation. */
  framed(page: { readonly title: string; readonly description: string; readonly body: string }): ServedText;
}

export interface ServedText {
  readonly type: string;
  /** Bytes for pictures. */
  readonly body: string | Buffer;
  readonly etag: string;
}

const HTML = 'text/html; charset=utf-8';
const MARKDOWN = 'text/markdown; charset=utf-8';
const PLAIN = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const SVG = 'image/svg+xml; charset=utf-8';
/** By the end of the name. */
const PICTURES: Readonly<Record<string, string>> = { svg: SVG, webp: 'image/webp', png: 'image/png' };

const require = createRequire(import.meta.url);

/** The files of the assets. The search library is served as its package ships it. */
const ASSETS: Readonly<Record<string, { readonly type: string; readonly file: () => string | URL }>> = {
  'bundles.sql': { type: PLAIN, file: () => new URL('../../docs/bundles.sql', import.meta.url) },
  'docs.css': { type: CSS, file: () => new URL('assets/docs.css', import.meta.url) },
  'page.css': { type: CSS, file: () => new URL('../../console/style/page.css', import.meta.url) },
  'tokens.css': { type: CSS, file: () => new URL('../../console/style/tokens.css', import.meta.url) },
  'icon.svg': { type: SVG, file: () => new URL('assets/icon.svg', import.meta.url) },
  'theme.js': { type: SCRIPT, file: () => new URL('assets/theme.js', import.meta.url) },
  'docs.js': { type: SCRIPT, file: () => new URL('assets/docs.js', import.meta.url) },
  'search.js': { type: SCRIPT, file: () => new URL('assets/search.js', import.meta.url) },
  'minisearch.js': {
    type: SCRIPT,
    file: () => require.resolve('minisearch').replace('/cjs/index.cjs', '/es/index.js'),
  },
};

export function createDocsSite(facts: {
  readonly operations: readonly AnyOperation[];
  /** The URL callers use, without a trailing slash; '' where the deployment does not know it. */
  readonly publicUrl: string;
}): DocsSite {
  const { publicUrl } = facts;
  const base = publicUrl === '' ? '' : new URL(publicUrl).pathname.replace(/(?<!\/)\/+$/, '');
  const pictures = pictureFiles();
  const kept = new Map<string, ServedText>();
  const keep = (key: string, type: string, make: () => string | Buffer): ServedText => {
    const before = kept.get(key);
    if (before !== undefined) return before;
    const made = servedText(type, make());
    kept.set(key, made);
    return made;
  };
  const operations = operationPages(facts.operations);
  const textOf = (page: DocsPage): string => {
    const own = operations.find(({ slug }) => slug === page.slug)?.markdown;
    const text =
      own ??
      (page.slug === 'operations' ? overviewMarkdown(readPage(page), facts.operations) : readPage(page));
    return publicUrl === '' ? text : text.replace(DEPLOYMENT, publicUrl);
  };
  const rendered = new Map<DocsPage, RenderedPage>();
  const render = (page: DocsPage): RenderedPage => {
    const made = rendered.get(page) ?? renderPage(page, base, textOf(page));
    rendered.set(page, made);
    return made;
  };
  const alone = { page: null, operations, headings: [], base };
  const ifFound = (slug: string, make: (page: DocsPage) => ServedText): ServedText | undefined => {
    const page = [...DOCS_PAGES, ...operations].find((known) => known.slug === slug);
    return page === undefined ? undefined : make(page);
  };
  return {
    index: () =>
      keep('index', HTML, () =>
        shell({ ...alone, title: 'Settlement Index', description: INDEX_DESCRIPTION, body: indexPage(base) }),
      ),
    page: (slug) =>
      ifFound(slug, (page) =>
        keep(`page ${slug}`, HTML, () => shell({ ...alone, ...pageParts(page, render(page)) })),
      ),
    markdown: (slug) =>
      ifFound(slug, (page) =>
        keep(`markdown ${slug}`, MARKDOWN, () => pageMarkdown(page, publicUrl, { text: textOf(page) })),
      ),
    asset(name) {
      const picture = pictures.get(name);
      if (picture !== undefined)
        return keep(`asset ${name}`, PICTURES[name.split('.').at(-1) ?? ''] ?? PLAIN, () =>
          readFileSync(picture),
        );
      const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
      return asset && keep(`asset ${name}`, asset.type, () => readFileSync(asset.file(), 'utf8'));
    },
    search: () =>
      keep('search', JSON_TYPE, () =>
        JSON.stringify(
          searchData(
            DOCS_PAGES.map((page) => ({ page, rendered: render(page) })),
            operations,
            base,
          ),
        ),
      ),
    llms: () => keep('llms', PLAIN, () => llmsText(facts)),
    llmsFull: () => keep('llms-full', PLAIN, () => llmsFullText(facts)),
    missing: () =>
      keep('missing', HTML, () =>
        shell({
          ...alone,
          title: 'No such page',
          description: 'There is no such page.',
          body: missingPage(base),
        }),
      ),
    framed: (page) => servedText(HTML, shell({ ...alone, ...page })),
  };
}

/** The URL of the deployment where a page shows requests. Other ports of its host are settings of the operator, who fills them in. */
const DEPLOYMENT = /https:\/\/index\.example(?!:\d)/g;

function pageParts(page: DocsPage, { html, headings }: RenderedPage) {
  const { title, description } = page;
  return { title, description, body: html, page, headings };
}

export function servedText(type: string, body: string | Buffer): ServedText {
  return { type, body, etag: weakTag(body) };
}
