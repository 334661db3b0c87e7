import GithubSlugger from 'github-slugger';
import type { HLJSApi, Language } from 'highlight.js';
import highlighter from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import ini from 'highlight.js/lib/languages/ini';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import { Marked, Renderer, type RendererObject, type Token, type Tokens } from 'marked';
import MiniSearch, { type AsPlainObject } from 'minisearch';
import { INDEX_OPTIONS } from './assets/search.js';
import { darkPicture, escapeHtml, linkTarget, readDrawing, readPage } from './markdown.ts';
import type { OperationPage } from './operations/page.ts';
import type { DocsPage } from './pages.ts';
import { SYNONYMS } from './synonyms.ts';
import { type TableCell, tableHtml } from './table.ts';

/** A page of Markdown as HTML, with its table of contents and its sections for the search. */
export interface RenderedPage {
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
}

export interface Heading {
  readonly depth: number;
  readonly name: string;
  readonly text: string;
}

/** The text between two headings. */
interface Section {
  /** Id of the heading; '' above the first one. */
  readonly name: string;
  readonly heading: string;
  readonly text: string;
}

/** Longer JSON examples are folded, which keeps the parameters close together. */
const JSON_OPEN_LINES_MAX = 16;

/** `base` is the path that the service is served under, without a trailing slash; `markdown` is the page, if it is not its file. */
export function renderPage(page: DocsPage, base: string, markdown = readPage(page)): RenderedPage {
  const marked = new Marked({ gfm: true });
  const tokens = marked.lexer(markdown);
  const slugger = new GithubSlugger();
  const names = new Map<Token, string>();
  for (const token of tokens) {
    // The title of a page needs no id: a link to the page leads there.
    if (token.type === 'heading' && token['depth'] > 1) names.set(token, slugger.slug(plainText([token])));
  }
  marked.use({ renderer: rendererOf(page, base, { names, opened: openedInConsole(page, tokens) }) });
  const headings = tokens
    .filter((token): token is Tokens.Heading => token.type === 'heading')
    .map((token) => ({ depth: token.depth, name: names.get(token) ?? '', text: plainText([token]) }));
  return { html: marked.parser(tokens), headings, sections: sectionsOf(tokens, names) };
}

/** Pages whose SQL is for another database: DuckDB over bundles, the operator's own client. */
const PAGES_OF_OTHER_SQL: ReadonlySet<string> = new Set(['bundles.md', 'operators.md']);
const QUERY = /^\s*(?:SELECT|WITH|FROM)\b/i;

/** The fragment with which the console opens each query, by its block; the JSON block below a query has the values of its placeholders. */
function openedInConsole(page: DocsPage, tokens: readonly Token[]): ReadonlyMap<string, string> {
  const opened = new Map<string, string>();
  if (PAGES_OF_OTHER_SQL.has(page.file)) return opened;
  const blocks = tokens.filter(({ type }) => type !== 'space');
  for (const [at, token] of blocks.entries()) {
    if (token.type !== 'code' || token['lang'] !== 'sql' || !QUERY.test(token['text'])) continue;
    const fields = new URLSearchParams({ q: token['text'] });
    const below = blocks[at + 1];
    if (below?.type === 'code' && below['lang'] === 'json')
      for (const [name, value] of Object.entries<unknown>(JSON.parse(below['text'])))
        fields.set(`p.${name}`, typeof value === 'string' ? value : JSON.stringify(value));
    opened.set(token['text'], `#${fields}`);
  }
  return opened;
}

/** What the renderer has to know of the whole page. */
interface PageFacts {
  /** Ids of the headings. */
  readonly names: ReadonlyMap<Token, string>;
  /** Fragments for the console by the text of the query. */
  readonly opened: ReadonlyMap<string, string>;
}

/** The marks around the same request in several languages, of which the reader chooses one. */
const LANGUAGES_MARK = /^\s*<!-- (\/?)languages -->\s*$/;
/** The marks around the result of a query: `<!-- result:7 -->` and `<!-- /result:7 -->`. */
const RESULT_MARK = /^\s*<!-- (\/?)result:\d+ -->\s*$/;

function rendererOf(page: DocsPage, base: string, { names, opened }: PageFacts): RendererObject {
  return {
    heading(token) {
      const name = names.get(token) ?? '';
      const text = this.parser.parseInline(token.tokens);
      const tag = `h${token.depth}`;
      if (token.depth === 1) return `<h1>${text}</h1>\n`;
      return `<${tag} id="${name}">${text} <a class="anchor" href="#${name}" aria-label="Link to this section">#</a></${tag}>\n`;
    },
    link(token) {
      const href = hrefOf(token.href, page, base);
      return `<a href="${escapeHtml(href)}">${this.parser.parseInline(token.tokens)}</a>`;
    },
    image: ({ href, text }) =>
      href.endsWith('.svg')
        ? drawing(readDrawing(href, page), text)
        : picture(hrefOf(href, page, base), text),
    codespan(token) {
      const whole = Renderer.prototype.codespan.call(this, token);
      return token.text.length > CODE_UNBROKEN_CHARS ? breakable(whole) : whole;
    },
    code: ({ text, lang }) => {
      const fragment = opened.get(text);
      const opensAt = fragment === undefined ? null : `${base}/console/sql${fragment}`;
      // What an operation answers is what its page is for.
      return codeBlock(text, lang ?? '', { opensAt, isFolded: !page.slug.startsWith('operations/') });
    },
    table(token) {
      const cell = ({ tokens }: Tokens.TableCell): TableCell => ({
        html: this.parser.parseInline(tokens),
        text: plainText(tokens),
      });
      return tableHtml(
        token.header.map(cell),
        token.rows.map((row) => row.map(cell)),
      );
    },
    // Comments of the generator are removed; other HTML is shown as text.
    html: ({ text }) => {
      const [, closes] = RESULT_MARK.exec(text) ?? [];
      if (closes === '') return '<div class="result"><p class="result-title">Result</p>\n';
      if (closes === '/') return '</div>\n';
      const [, ends] = LANGUAGES_MARK.exec(text) ?? [];
      if (ends !== undefined) return ends === '' ? '<div class="languages">\n' : '</div>\n';
      return /^\s*<!--[\s\S]*-->\s*$/.test(text) ? '' : escapeHtml(text);
    },
  };
}

/** Longer code in a sentence or a cell may go on in the next line after a comma or a slash: one long value would push the next column out of sight. */
const CODE_UNBROKEN_CHARS = 24;

function breakable(code: string): string {
  return code.replace(/(?<!<)[,/](?=[^<\s])/g, '$&<wbr>');
}

/**
 * Inline, so that the drawing has the colours of docs.css and follows the theme of the page. Its own style sheet is for the file on its
 * own.
 */
function drawing(svg: string, title: string): string {
  const shown = svg
    .replace(/<title>(?:[^<]|<(?!\/title>))*(?:<\/title>\s*|$)/g, '')
    .replace(/<style>(?:[^<]|<(?!\/style>))*(?:<\/style>\s*|$)/g, '')
    .replace('<svg ', '<svg aria-hidden="true" ');
  return `<span class="drawing" role="img" tabindex="0" aria-label="${escapeHtml(title)}">${shown.trim()}</span>`;
}

/** In light and in dark colours where there are both: the theme shows one of them: the choice of colours is not always that of the system. */
function picture(src: string, title: string): string {
  const image = (source: string, theme: string): string =>
    `<img class="${theme}" src="${escapeHtml(source)}" alt="${escapeHtml(title)}" width="1280" height="800" loading="lazy">`;
  const dark = darkPicture(src);
  const images = dark === null ? image(src, 'in-both') : image(src, 'in-light') + image(dark, 'in-dark');
  return `<span class="picture">${images}</span>`;
}

function hrefOf(href: string, from: DocsPage, base: string): string {
  const target = linkTarget(href, from);
  if ('href' in target) return target.href.startsWith('/') ? `${base}${target.href}` : target.href;
  if ('path' in target) return `${base}${target.path}`;
  return target.page === from && target.fragment !== ''
    ? target.fragment
    : `${base}/docs/${target.page.slug}${target.fragment}`;
}

interface BlockFacts {
  /** The address at which the console opens the query; null for other code. */
  readonly opensAt: string | null;
  /** Whether a long example is folded. */
  readonly isFolded: boolean;
}

function codeBlock(code: string, language: string, { opensAt, isFolded }: BlockFacts): string {
  const open = opensAt === null ? '' : `<a class="open" href="${escapeHtml(opensAt)}">Open in console</a>`;
  const block = `<div class="code">${open}<pre tabindex="0"><code class="language-${escapeHtml(language)}">${highlighted(code, language)}</code></pre></div>\n`;
  const lines = code.split('\n').length;
  if (!isFolded || language !== 'json' || lines <= JSON_OPEN_LINES_MAX) return block;
  return `<details class="example"><summary>Example, ${lines} lines of JSON</summary>${block}</details>\n`;
}

function sectionsOf(tokens: readonly Token[], names: ReadonlyMap<Token, string>): Section[] {
  const sections: { name: string; heading: string; texts: string[] }[] = [];
  for (const token of tokens) {
    if (token.type === 'heading' || sections.length === 0)
      sections.push({ name: names.get(token) ?? '', heading: plainText([token]), texts: [] });
    if (token.type !== 'heading') sections.at(-1)?.texts.push(searchableText(token));
  }
  return sections.map(({ name, heading, texts }) => ({
    name,
    heading,
    text: texts.filter((text) => text !== '').join('\n'),
  }));
}

/** JSON examples are left out: they contain every field, and would hide the sections that explain it. */
function searchableText(token: Token): string {
  return token.type === 'code' && token['lang'] === 'json' ? '' : plainText([token]);
}

/** The text of tokens without markup. */
function plainText(tokens: readonly Token[]): string {
  return tokens.map(textOf).join('');
}

function textOf(token: Token): string {
  if (token.type === 'html') return '';
  if (token.type === 'space' || token.type === 'br') return '\n';
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table; // by its `type`; the union also has a member for extensions
    return [header, ...rows].map((row) => row.map((cell) => plainText(cell.tokens)).join(' ')).join('\n');
  }
  if (token.type === 'list')
    return (token as Tokens.List).items.map((item) => plainText(item.tokens)).join('\n');
  if ('tokens' in token && token.tokens !== undefined) return plainText(token.tokens);
  return 'text' in token ? unescaped(String(token.text)) : '';
}

/** The lexer may have escaped the text. */
function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}

/** Keywords of ClickHouse that the library’s standard SQL lacks. */
const MORE_KEYWORDS = [
  'limit',
  'final',
  'sample',
  'settings',
  'prewhere',
  'qualify',
  'asof',
  'anti',
  'semi',
  'profile',
  'identified',
];
/** A lower-case name before a parenthesis: the pages write keywords in capitals. */
const FUNCTION_CALL = { scope: 'built_in', begin: /\b[a-z]\w*(?=\()/, relevance: 0 };

function clickhouse(api: HLJSApi): Language {
  const standard = sql(api);
  const keywords = standard.keywords as unknown as { readonly keyword: readonly string[] }; // as in sql.js of the library
  return {
    ...standard,
    keywords: { ...keywords, keyword: [...keywords.keyword, ...MORE_KEYWORDS] },
    contains: [...standard.contains, FUNCTION_CALL],
  };
}

/** The languages of code blocks, by the name on their fence. */
const LANGUAGES = { sh: bash, conf: ini, json, python, sql: clickhouse, ts: typescript };

for (const [name, language] of Object.entries(LANGUAGES)) highlighter.registerLanguage(name, language);

/** Code as HTML with the classes of the highlighter. */
function highlighted(code: string, language: string): string {
  if (!(language in LANGUAGES)) return escapeHtml(code);
  return highlighter.highlight(code, { language }).value;
}

/** All sections of all pages in an index, as it is sent to the browser. */
export interface SearchData {
  readonly synonyms: typeof SYNONYMS;
  /** A MiniSearch index by the options of assets/search.js. */
  readonly index: AsPlainObject;
}

/** The factor of a section's score: a guide is shown before a reference page, and the design last. */
const WEIGHTS = { operators: 0.7, reference: 0.7, design: 0.3 } as const satisfies Partial<
  Record<DocsPage['reader'], number>
>;
/** Lists of many names, which would be shown before the guides to each of them. */
const LISTS: readonly string[] = ['cookbook', 'compatibility'];
const LIST_WEIGHT = 0.4;

function weightOf({ reader, slug }: DocsPage): number {
  if (LISTS.includes(slug)) return LIST_WEIGHT;
  return Object.hasOwn(WEIGHTS, reader) ? WEIGHTS[reader as keyof typeof WEIGHTS] : 1; // has it, by the line before
}

export function searchData(
  pages: readonly { readonly page: DocsPage; readonly rendered: RenderedPage }[],
  operations: readonly OperationPage[],
  base: string,
): SearchData {
  const index = new MiniSearch(INDEX_OPTIONS);
  const sections = pages.flatMap(({ page, rendered }) =>
    rendered.sections.map(({ name, heading, text }) => ({
      url: `${base}/docs/${page.slug}${name === '' ? '' : `#${name}`}`,
      page: page.title,
      heading: heading === '' ? page.title : heading,
      text: text.replace(/\s+/g, ' '),
      weight: weightOf(page),
    })),
  );
  const ofOperations = operations.map(({ slug, title, words }) => ({
    url: `${base}/docs/${slug}`,
    page: 'API operations',
    heading: title,
    text: words.replace(/\s+/g, ' '),
    weight: WEIGHTS.reference,
  }));
  index.addAll([...sections, ...ofOperations].map((section, id) => ({ id, ...section })));
  return { synonyms: SYNONYMS, index: index.toJSON() };
}
