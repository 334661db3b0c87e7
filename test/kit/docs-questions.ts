import { readFileSync } from 'node:fs';

/** The worked questions of docs/sql.md, as they stand there. */
export interface DocsQuestion {
  readonly number: number;
  readonly title: string;
  readonly sql: string;
  readonly params: Readonly<Record<string, string>>;
}

const QUESTION = /^### (\d+)\. (.+)\n\n```sql\n([\s\S]*?)```\n(?:\n```json\n([\s\S]*?)```\n)?/gm;

export function readDocsPage(): string {
  return readFileSync(new URL('../../docs/sql.md', import.meta.url), 'utf8');
}

export function docsQuestions(page = readDocsPage()): DocsQuestion[] {
  return [...page.matchAll(QUESTION)].map(([, number, title = '', sql = '', params = '{}']) => ({
    number: Number(number),
    title,
    sql,
    params: JSON.parse(params),
  }));
}
