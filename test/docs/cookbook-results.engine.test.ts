import { expect } from 'vitest';
import { keepResult, keptResult, resultTable } from '../kit/cookbook-results.ts';
import { docsQuestions } from '../kit/docs-questions.ts';
import { test } from '../kit/fixtures.ts';
import { fillSampleData, SAMPLE_NOW } from '../kit/sample-data.ts';

/**
 * Each result in docs/cookbook.md is what its query answers over the sample data, asked through `POST /v0/sql`. With `WRITE_RESULTS=1` the
 * test writes the results instead of comparing them: `npm run gen -- results`.
 */

const WRITES = process.env['WRITE_RESULTS'] === '1';
const UNITS = 100;
/** Bursts of payments, which the sample data has none of. */
const WITHOUT_ROWS: ReadonlySet<number> = new Set([30]);
const day = new Date(SAMPLE_NOW * 1_000).toISOString().slice(0, 10);

/** The query on the day of the sample data. */
const onTheDay = (sql: string): string =>
  sql.replaceAll('now()', `toDateTime('${day} 00:00:00', 'UTC')`).replaceAll('today()', `toDate('${day}')`);

test.beforeAll(({ sandbox }) => fillSampleData(sandbox.writer), 600_000);

test.for(docsQuestions().map((question) => [`${question.number}. ${question.title}`, question] as const))(
  '%s has the result that is shown',
  async ([, { number, sql, params }], { sqlService }) => {
    // One for each query: a tier allows few requests a minute.
    const customer = await sqlService.customer({ units: UNITS, plan: 'enterprise' });
    const { status, body } = await customer.ask({
      sql: onTheDay(sql),
      params,
      format: 'json_compact',
      tier: 'extended',
    });
    expect({ status, body: status === 200 ? '' : body }).toEqual({ status: 200, body: '' });
    const table = resultTable(body);
    if (WRITES) keepResult(number, table);
    else expect(keptResult(number)).toBe(table);
    expect(body.rows.length > 0).toBe(!WITHOUT_ROWS.has(number));
    // A column that is empty in every row would show that the rows are not those that the question is about.
    const isEmpty = (at: number) => body.rows.every((row: unknown[]) => row[at] === null || row[at] === '');
    const columns = body.columns.map(({ name }: { name: string }) => name);
    if (!WITHOUT_ROWS.has(number)) expect(columns.filter((_: string, at: number) => isEmpty(at))).toEqual([]);
  },
);
