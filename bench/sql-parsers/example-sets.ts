import { readFileSync } from 'node:fs';
import type { QueryParameters } from '../../sandbox/judge/parser.ts';
import { docsQuestions } from '../../test/kit/docs-questions.ts';

/** Questions that must be answered, in three kinds. */
export interface Example {
  readonly sql: string;
  readonly params: QueryParameters;
}

export interface ExampleSet {
  readonly name: string;
  /** Whether it uses what only ClickHouse has. */
  readonly isOfClickHouse: boolean;
  readonly examples: readonly Example[];
}

const fixture = (name: string): Example[] =>
  readFileSync(new URL(`../../test/fixtures/sql/${name}.jsonl`, import.meta.url), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
    .map(({ sql, params = {} }) => ({ sql, params }))
    .filter(isAboutTheText);

/** FORMAT and the escapes of values belong to the request; the tree of a text shows neither. */
function isAboutTheText({ sql, params }: Example): boolean {
  return !/\bFORMAT \w+$/.test(sql) && !Object.values(params).some((value) => value.includes('\\'));
}

export function exampleSets(): ExampleSet[] {
  return [
    {
      name: 'legit',
      isOfClickHouse: true,
      examples: [...fixture('sql-legit-examples'), ...fixture('legit-more')],
    },
    { name: 'questions', isOfClickHouse: true, examples: docsQuestions() },
    { name: 'clickbench', isOfClickHouse: false, examples: fixture('clickbench-shaped') },
  ];
}
