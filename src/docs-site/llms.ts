import type { AnyOperation } from '../operations/define.ts';
import { priceInShort } from '../operations/prices.ts';
import { markdownOf, type PageParts } from './markdown.ts';
import { DOCS_PAGES, type DocsPage, pagesOf, READER_IDS, READERS } from './pages.ts';

/** The documentation for language models: a list of pages and operations, and all pages in one text. Source: llmstxt.org. */

/** Small enough to read before every task; a token is about four bytes. */
export const LLMS_MAX_BYTES = 12_000;
/** 135,000 tokens: fits into a context window of 200,000 with a third of it left to work in. */
export const LLMS_FULL_MAX_BYTES = 548_000;

interface LlmsFacts {
  readonly operations: readonly AnyOperation[];
  /** The URL callers use, without a trailing slash; '' for links relative to the host. */
  readonly publicUrl: string;
}

/** `/llms.txt`: title, summary, and a line for each page and each operation that is a tool. */
export function llmsText(facts: LlmsFacts): string {
  const pages = READER_IDS.map((reader) =>
    section(
      READERS[reader].title,
      pagesOf(reader).map((page) => link(page.title, pageUrl(page, facts.publicUrl), page.description)),
    ),
  );
  return [introduction(facts), ...pages, operationSection(facts), optionalSection(facts)].join('\n');
}

function introduction({ publicUrl }: LlmsFacts): string {
  return `# Settlement Index

> An index of agent payments: x402 settlements and ERC-8004 agent identities, read from EVM chains, graded by evidence, served as JSON, as MCP tools and to SQL.

- Routes are under \`${publicUrl}/v0\`; most operations are MCP tools too, at \`${publicUrl}/mcp\`. \`GET ${publicUrl}/v0\` lists the operations as JSON.
- \`GET /v0/account\` needs no key and describes your account, what you may call and what it costs.
- Send a key as \`X-API-Key\` or \`Authorization: Bearer\`. Without one, priced routes answer 402 with an x402 offer where the deployment sells calls.
- SQL: \`POST /v0/sql\` runs a ClickHouse SELECT. \`GET /v0/sql/schema\` names the tables, \`?table=settlements\` has one with its columns and an example, \`?functions=date\` finds functions.
- An empty list is an answer; a failure is \`application/problem+json\` with a \`code\`. Lists go on with \`next_before\` as \`before\`.
`;
}

function operationSection({ operations, publicUrl }: LlmsFacts): string {
  return section(
    'Operations',
    // The others are for people: models read no dashboards.
    operations
      .filter(({ tool }) => tool !== null)
      .map((operation) =>
        link(
          `${operation.method} /v0${operation.path}`,
          `${publicUrl}/docs/operations/${operation.id}.md`,
          `${operation.summary}. ${priceInShort(operation.price)}`,
        ),
      ),
  );
}

function optionalSection({ publicUrl }: LlmsFacts): string {
  return section('Optional', [
    link('openapi.json', `${publicUrl}/openapi.json`, 'OpenAPI 3.1.'),
    link('llms-full.txt', `${publicUrl}/llms-full.txt`, 'All pages but those for people.'),
  ]);
}

function section(title: string, lines: readonly string[]): string {
  return `## ${title}\n\n${lines.join('')}`;
}

function link(title: string, url: string, description: string): string {
  return `- [${title}](${url}): ${description}\n`;
}

function pageUrl({ slug }: Pick<DocsPage, 'slug'>, publicUrl: string): string {
  return `${publicUrl}/docs/${slug}.md`;
}

/** `/llms-full.txt`: all pages but those about the design, which are for readers of the code, and about the console, which no model uses. */
export function llmsFullText(facts: LlmsFacts): string {
  const unread = new Set(facts.operations.filter(({ tool }) => tool === null).map(({ id }) => id));
  const pages = DOCS_PAGES.filter(({ reader, slug }) => reader !== 'design' && slug !== 'console').map(
    (page) =>
      `<!-- ${pageUrl(page, facts.publicUrl)} -->\n\n${compactJson(withoutLinks(withoutSections(pageMarkdown(page, '', { hasResults: false }), unread)))}`,
  );
  return withoutRepeatedRows([introduction(facts), ...pages].join('\n'));
}

/** A page as Markdown, with absolute links where the deployment knows its URL. */
export function pageMarkdown(page: DocsPage, publicUrl: string, parts: PageParts = {}): string {
  return markdownOf(
    page,
    (target) =>
      'page' in target
        ? `${pageUrl(target.page, publicUrl)}${target.fragment}`
        : `${publicUrl}${target.path}`,
    parts,
  );
}

/** Without what is said of operations that are no tools: they are for people. */
function withoutSections(markdown: string, titles: ReadonlySet<string>): string {
  const mark = '\n## ';
  return markdown
    .split(mark)
    .filter((section) => !titles.has(section.split('\n', 1)[0] ?? ''))
    .join(mark);
}

/** Links between pages become their text: all pages are in one document. */
function withoutLinks(markdown: string): string {
  return markdown.replace(/\[([^[\]]+)\]\(([^()\s]+)\)/g, (all, words: string, href: string) =>
    /^https?:/.test(href) ? all : words,
  );
}

/** A last cell that is shorter than this is repeated: a reference to it would be no shorter. */
const CELL_KEPT_CHARS = 20;

/**
 * Many operations have the same parameters, and many tables the same columns: the first row is whole, its copies refer to it. Cells stand
 * without the spaces around them, which are a fiftieth of the text.
 */
function withoutRepeatedRows(markdown: string): string {
  const seen = new Set<string>();
  const rowOf = (line: string): string => {
    if (line.startsWith('|-')) return line.replaceAll('---', '-');
    if (!line.startsWith('| ')) return line;
    const row = line.replaceAll(' | ', '|').replace(/^\| /, '|').replace(/ \|$/, '|');
    if (!seen.has(line)) {
      seen.add(line);
      return row;
    }
    const last = row.lastIndexOf('|', row.length - 2);
    return row.length - last < CELL_KEPT_CHARS ? row : `${row.slice(0, last)}|as above|`;
  };
  return markdown.split('\n').map(rowOf).join('\n');
}

/** JSON examples without white space, which is a third of the reference. */
function compactJson(markdown: string): string {
  return markdown.replace(/```json\n((?:[^\n]|\n(?!```))*)(?:\n```|$)/g, (_all, code: string) => {
    const example: unknown = JSON.parse(code); // the tests parse every block
    return `\`\`\`json\n${JSON.stringify(example)}\n\`\`\``;
  });
}
