import { escapeHtml } from './html.ts';
import { pagesOf, READER_IDS, READERS } from './pages.ts';

export const INDEX_DESCRIPTION =
  'A public index of agent payments: x402 settlements and ERC-8004 agent identities, as JSON, MCP tools and SQL.';

/** /docs itself: who reads what. */
export function indexPage(base: string): string {
  const groups = READER_IDS.map((reader) => {
    const { title, summary } = READERS[reader];
    return `<section aria-labelledby="${reader}"><h2 id="${reader}">${title}</h2><p>${escapeHtml(summary)}</p><ul>${pageLinks(reader, base)}</ul></section>`;
  });
  return `<h1>Settlement Index</h1>
<p class="lead">An index of agent payments. It reads x402 settlements and ERC-8004 agent identities from EVM chains, grades how sure it is that each payment is what it seems, and serves all of it as JSON, as MCP tools and to your SQL. Every row carries its evidence, every answer its freshness.</p>
<p>In a hurry: <a href="${base}/docs/quickstart">first call in five minutes</a>. For programs: <a href="${base}/openapi.json">openapi.json</a>, and <a href="${base}/llms.txt">llms.txt</a> or all of these pages but the design in one text, <a href="${base}/llms-full.txt">llms-full.txt</a>. Every page is also Markdown: add <code>.md</code> to its address.</p>
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
<p>The address leads nowhere. All pages are in the navigation and <a href="${base}/docs">on one page</a>; the routes of the API are in <a href="${base}/docs/operations">the reference</a>.</p>
`;
}
