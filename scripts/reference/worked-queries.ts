import { readdirSync, readFileSync } from 'node:fs';

/** The worked questions of the documentation, for the examples of the console. */

interface WorkedQuery {
  readonly number: number;
  readonly question: string;
  readonly sql: string;
  readonly params: Readonly<Record<string, string>>;
  /** What the page says below the query, as plain text. */
  readonly about: string;
}

const QUESTION =
  /^##+ (\d+)\. (.+)\n\n```sql\n([\s\S]*?)```\n(?:\n```json\n([\s\S]*?)```\n)?(?:\n((?!#|```)[\s\S]*?)(?=\n\n|\n#|$(?!\n)))?/gm;

/** From whichever pages of docs/ have them, in the order of their numbers. */
export function workedQueries(): string {
  const docs = new URL('../../docs/', import.meta.url);
  const pages = readdirSync(docs).filter((name) => name.endsWith('.md'));
  const found = pages.flatMap((name) => questionsOf(readFileSync(new URL(name, docs), 'utf8')));
  if (found.length === 0)
    throw new Error('no page of docs/ has a worked question: ## 1. …, and ```sql below');
  return `${JSON.stringify(
    found.toSorted((a, b) => a.number - b.number),
    null,
    2,
  )}\n`;
}

function questionsOf(page: string): WorkedQuery[] {
  return [...page.matchAll(QUESTION)].map(
    ([, number, question = '', sql = '', params = '{}', about = '']) => ({
      number: Number(number),
      question,
      sql: sql.trimEnd(),
      params: JSON.parse(params) as WorkedQuery['params'], // our own pages, whose blocks the tests carry out
      about: plainText(about),
    }),
  );
}

function plainText(markdown: string): string {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}
