import { escapeHtml } from './markdown.ts';
import type { OperationPage } from './operations/page.ts';
import { DOCS_PAGES, type DocsPage, pagesOf, READER_IDS, READERS } from './pages.ts';
import type { Heading } from './render-page.ts';

/** The frame of every page, without inline scripts or styles. */

interface ShellParts {
  readonly title: string;
  readonly description: string;
  /** HTML of the page. */
  readonly body: string;
  /** The page in the navigation; null for pages outside of it. */
  readonly page: DocsPage | null;
  /** The pages of operations, which are in the navigation below their index. */
  readonly operations: readonly OperationPage[];
  readonly headings: readonly Heading[];
  /** The path that the service is served under, without a trailing slash. */
  readonly base: string;
}

/** Headings in the table of contents next to a page. */
const CONTENTS_DEPTH_MAX = 3;
const CONTENTS_ENTRIES_MIN = 2;

export function shell({ title, description, body, page, operations, headings, base }: ShellParts): string {
  const name = title === 'Settlement Index' ? title : `${title} · Settlement Index`;
  const markdown =
    page === null ? '' : `\n<link rel="alternate" type="text/markdown" href="${base}/docs/${page.slug}.md">`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(name)}</title>
<meta name="description" content="${escapeHtml(description)}">${markdown}
<link rel="icon" href="${base}/docs/assets/icon.svg" type="image/svg+xml">
<script src="${base}/docs/assets/theme.js"></script>
<link rel="stylesheet" href="${base}/docs/assets/tokens.css">
<link rel="stylesheet" href="${base}/docs/assets/page.css">
<link rel="stylesheet" href="${base}/docs/assets/docs.css">
<script type="module" src="${base}/docs/assets/docs.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
${header(base)}
<div class="layout">
${navigation(page, operations, base)}
<main id="content" tabindex="-1">
<article>
${body}</article>
${page === null ? '' : turnPages(page, operations, base)}</main>
${contents(headings)}
</div>
</body>
</html>
`;
}

/** The logo, as in the console. */
const MARK =
  '<svg viewBox="0 0 24 24" width="22" height="22" aria-hidden="true"><path d="M3 7h9a5 5 0 0 1 0 10H3" fill="none" stroke="currentColor" stroke-width="2.4"/><circle cx="20" cy="12" r="2.6" fill="currentColor"/></svg>';

function header(base: string): string {
  return `<header class="top">
<button class="menu" type="button" popovertarget="pages" aria-label="Pages">☰</button>
<a class="brand" href="${base}/docs">${MARK} Settlement Index <span>docs</span></a>
<form class="search scripted" role="search">
<input id="search" type="search" placeholder="Search the docs" aria-label="Search the docs" aria-keyshortcuts="/" autocomplete="off" spellcheck="false">
<div id="results" class="results" hidden></div>
<p id="found" class="visually-hidden" role="status"></p>
</form>
<nav class="interfaces" aria-label="Other interfaces"><a href="${base}/console">Console</a> <a href="${base}/openapi.json">OpenAPI</a> <a href="${base}/llms.txt">llms.txt</a></nav>
<label class="theme scripted"><span class="visually-hidden">Colours</span><select id="theme"><option value="system">System</option><option value="light">Light</option><option value="dark">Dark</option></select></label>
</header>`;
}

function navigation(current: DocsPage | null, operations: readonly OperationPage[], base: string): string {
  const linkTo = (page: DocsPage, inner = ''): string => {
    const here = page === current ? ' aria-current="page"' : '';
    return `<li><a href="${base}/docs/${page.slug}"${here}>${escapeHtml(page.title)}</a>${inner}</li>`;
  };
  const isOpen = current !== null && /^operations(?:$|\/)/.test(current.slug);
  const groups = READER_IDS.map((reader) => {
    const links = pagesOf(reader).map((page) =>
      linkTo(page, isOpen && page.slug === 'operations' ? operationLinks(operations, linkTo) : ''),
    );
    return `<h2>${READERS[reader].title}</h2><ul>${links.join('')}</ul>`;
  });
  return `<nav id="pages" class="pages" aria-label="Documentation" popover>${groups.join('\n')}</nav>`;
}

/** By group, in the order of the document. */
function operationLinks(operations: readonly OperationPage[], linkTo: (page: DocsPage) => string): string {
  const groups = [...new Set(operations.map(({ group }) => group))];
  const lists = groups.map((group) => {
    const links = operations.filter((page) => page.group === group).map((page) => linkTo(page));
    return `<li><h3>${escapeHtml(group)}</h3><ul>${links.join('')}</ul></li>`;
  });
  return `<ul class="operations">${lists.join('')}</ul>`;
}

function turnPages(page: DocsPage, operations: readonly OperationPage[], base: string): string {
  const pages = DOCS_PAGES.includes(page) ? DOCS_PAGES : operations;
  const at = pages.findIndex(({ slug }) => slug === page.slug);
  const link = (to: DocsPage | undefined, rel: 'prev' | 'next', label: string): string =>
    to === undefined
      ? ''
      : `<a rel="${rel}" href="${base}/docs/${to.slug}"><small>${label}</small>${escapeHtml(to.title)}</a>`;
  const links = link(pages[at - 1], 'prev', 'Previous') + link(pages[at + 1], 'next', 'Next');
  return `<nav class="turn" aria-label="Previous and next page">${links}</nav>\n`;
}

function contents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ depth }) => depth > 1 && depth <= CONTENTS_DEPTH_MAX);
  if (shown.length < CONTENTS_ENTRIES_MIN) return '';
  const links = shown.map(
    ({ depth, name, text }) => `<li class="depth-${depth}"><a href="#${name}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${links.join('')}</ul></nav>`;
}

export const INDEX_DESCRIPTION =
  'A public index of agent payments: x402 settlements and ERC-8004 agent identities, as JSON, MCP tools and SQL.';

/** /docs: the pages by reader. */
export function indexPage(base: string): string {
  const groups = READER_IDS.map((reader) => {
    const { title, summary } = READERS[reader];
    return `<section aria-labelledby="${reader}"><h2 id="${reader}">${title}</h2><p>${escapeHtml(summary)}</p><ul>${pageLinks(reader, base)}</ul></section>`;
  });
  return `<h1>Settlement Index</h1>
<p class="lead">An index of agent payments: x402 settlements and ERC-8004 agent identities on EVM chains, each payment graded by how certain it is that it was x402. Query it over REST, as MCP tools or in SQL. Every row carries its evidence, and every answer says how fresh it is.</p>
<p>New here? <a href="${base}/docs/quickstart">Make your first call in five minutes</a>, or copy a query from the <a href="${base}/docs/cookbook">SQL cookbook</a>. For programs there are <a href="${base}/openapi.json">openapi.json</a>, <a href="${base}/llms.txt">llms.txt</a>, and <a href="${base}/llms-full.txt">llms-full.txt</a> with all pages but the design. Add <code>.md</code> to the address of a page to get it as Markdown.</p>
<div class="readers">${groups.join('\n')}</div>
`;
}

function pageLinks(reader: (typeof READER_IDS)[number], base: string): string {
  return pagesOf(reader)
    .map(
      ({ slug, title, description }) =>
        `<li><a href="${base}/docs/${slug}">${escapeHtml(title)}</a> ${escapeHtml(description)}</li>`,
    )
    .join('');
}

export function missingPage(base: string): string {
  return `<h1>There is no such page</h1>
<p>All pages are in the navigation and <a href="${base}/docs">on the front page</a>; the routes of the API are in <a href="${base}/docs/operations">the reference</a>.</p>
`;
}
