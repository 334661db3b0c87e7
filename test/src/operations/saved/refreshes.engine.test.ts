import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { test } from '../../../kit/fixtures.ts';
import { BASE, reportChain } from '../../../kit/rows.ts';
import { type SavedCalls, savedOf } from '../../../kit/saved.ts';
import type { SqlApi } from '../../../kit/sql-api.ts';

/** Results that are kept warm, over the real application, engine, control store, jobs and refresher. */

let sql: SqlApi;

test.beforeAll(async ({ sqlService }) => {
  sql = sqlService;
  await reportChain(sql.engine.writer, BASE);
});

const ownText = (): string => `SELECT {x:UInt8} AS x, 'mark ${randomUUID()}' AS mark`;
const HOURLY = { parameters: { x: { default: 1 } }, refresh_seconds: 3_600 };

const runsOf = async (author: SavedCalls, slug: string) =>
  (await author.send('GET', `/v0/queries/${slug}/refreshes`)).body.refreshes;

const untilRuns = async (author: SavedCalls, slug: string, count: number) => {
  await expect
    .poll(
      async () => {
        // The clock of the test stands still, and pauses between looks at a job are by it.
        sql.api.clock.advanceSeconds(3);
        return (await runsOf(author, slug)).length;
      },
      { timeout: 60_000, interval: 500 },
    )
    .toBe(count);
  return runsOf(author, slug);
};

test('a query is run when it is saved and again when it is due, at the cost of its owner, and calls find the result', async () => {
  const author = await savedOf(sql);
  const text = ownText();
  const { query } = await author.saved('warm', { sql: text, ...HOURLY });
  expect([query.refresh_seconds, query.freshness_seconds]).toEqual([3_600, 7_200]);
  const [first] = await untilRuns(author, 'warm', 1);
  expect(first).toMatchObject({ state: 'succeeded', version: 1, units: 1, code: null });
  expect(Date.parse(first.next_at) - Date.parse(first.at)).toBe(3_600_000);
  expect(sql.runsOf(text.slice(-60))).toBe(1);
  const answer = await author.call('warm');
  expect([answer.status, answer.body.rows[0].x]).toEqual([200, 1]);
  expect(sql.runsOf(text.slice(-60))).toBe(1);
  expect((await author.customer.units()).spent).toBe(1);
  sql.api.clock.advanceSeconds(3_601);
  const runs = await untilRuns(author, 'warm', 2);
  expect(new Set(runs.map(({ job }: { job: string }) => job)).size).toBe(2);
  expect(sql.runsOf(text.slice(-60))).toBe(2);
  expect((await author.customer.units()).spent).toBe(2);
  await author.saved('warm', { sql: text, parameters: { x: { default: 1 } } });
  sql.api.clock.advanceSeconds(7_200);
  expect((await author.send('GET', '/v0/queries/warm')).body.query.next_refresh_at).toBeNull();
});

test('a run that fails waits twice as long each time, and a new version begins anew', async () => {
  const author = await savedOf(sql);
  const failing = {
    sql: `SELECT toUInt8(concat(toString(number), {x:String})) AS x, '${randomUUID()}' AS mark FROM numbers(1)`,
    refresh_seconds: 900,
  };
  // Planning does not evaluate it; the run meets the value.
  await author.saved('failing', { ...failing, parameters: { x: { default: 'x' } } });
  const [first] = await untilRuns(author, 'failing', 1);
  expect(first).toMatchObject({ state: 'failed', code: 'query_failed' });
  expect(Date.parse(first.next_at) - Date.parse(first.at)).toBe(1_800_000);
  sql.api.clock.advanceSeconds(1_801);
  const [second] = await untilRuns(author, 'failing', 2);
  expect(Date.parse(second.next_at) - Date.parse(second.at)).toBe(3_600_000);
  await author.saved('failing', { ...failing, parameters: { x: { default: '7' } } });
  const [third] = await untilRuns(author, 'failing', 3);
  expect(third).toMatchObject({ state: 'succeeded', version: 2 });
  expect(Date.parse(third.next_at) - Date.parse(third.at)).toBe(900_000);
  await author.send('DELETE', '/v0/queries/failing');
  expect((await author.send('GET', '/v0/queries/failing/refreshes')).status).toBe(404);
});

test('an owner without units gets a failed run that cost nothing', async () => {
  const author = await savedOf(sql, { units: 1 });
  await author.saved('poor', { sql: ownText(), ...HOURLY, max_qu: 3 });
  const [run] = await untilRuns(author, 'poor', 1);
  expect(run).toMatchObject({ state: 'failed', code: 'insufficient_qu', units: 0, job: null });
  expect(await author.customer.units()).toMatchObject({ balance: 1, held: 0, spent: 0 });
  await author.send('DELETE', '/v0/queries/poor');
});
