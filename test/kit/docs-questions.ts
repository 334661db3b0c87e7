import { readFileSync } from 'node:fs';

/** The worked questions of docs/cookbook.md, as they stand there. */
export interface DocsQuestion {
  readonly number: number;
  readonly title: string;
  readonly sql: string;
  readonly params: Readonly<Record<string, string>>;
}

const QUESTION = /^## (\d+)\. (.+)\n\n```sql\n([\s\S]*?)```\n(?:\n```json\n([\s\S]*?)```\n)?/gm;

export function readCookbook(): string {
  return readFileSync(new URL('../../docs/cookbook.md', import.meta.url), 'utf8');
}

export function docsQuestions(page = readCookbook()): DocsQuestion[] {
  return [...page.matchAll(QUESTION)].map(([, number, title = '', sql = '', params = '{}']) => ({
    number: Number(number),
    title,
    sql,
    params: JSON.parse(params),
  }));
}
