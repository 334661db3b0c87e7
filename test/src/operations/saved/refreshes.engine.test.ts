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

/** A key of the author's that may schedule, within so many units a day. */
const schedulerOf = async (author: SavedCalls, over: object = {}) => {
  const limits = { label: 'agent', units_per_day: 1, rights: ['changes', 'schedules'], ...over };
  const made = await author.send('POST', '/v0/account/keys', limits);
  expect([made.status, made.text]).toEqual([201, made.text]);
  return { id: String(made.body.key.id), headers: { 'x-api-key': String(made.body.api_key) } };
};

const savedBy = async (author: SavedCalls, headers: Record<string, string>, slug: string, text: string) =>
  author.send('PUT', `/v0/queries/${slug}`, { sql: text, ...HOURLY, max_qu: 1 }, headers);

test('a refresh is charged to the key that scheduled it, waits for its day, and ends with it', async () => {
  const author = await savedOf(sql);
  const key = await schedulerOf(author);
  expect((await savedBy(author, key.headers, 'mine', ownText())).status).toBe(200);
  const [first] = await untilRuns(author, 'mine', 1);
  expect(first).toMatchObject({ state: 'succeeded', units: 1 });
  const keyNow = async () =>
    (await author.send('GET', '/v0/account/keys')).body.keys.find(({ id }: { id: string }) => id === key.id);
  expect((await keyNow()).units_used_today).toBe(1);
  // A new version is due at once, and has no budget left.
  expect((await savedBy(author, key.headers, 'mine', ownText())).status).toBe(200);
  const [second] = await untilRuns(author, 'mine', 2);
  expect(second).toMatchObject({ state: 'failed', code: 'key_budget_exhausted', units: 0, job: null });
  expect(second.next_at).toBe('2026-11-21T00:00:00Z');
  const query = async () => (await author.send('GET', '/v0/queries/mine')).body.query;
  expect(await query()).toMatchObject({
    scheduled_by: key.id,
    refresh_state: 'scheduled',
    refresh_failure: { code: 'key_budget_exhausted' },
  });
  expect((await author.customer.units()).spent).toBe(1);
  await author.send('DELETE', `/v0/account/keys/${key.id}`);
  sql.api.clock.advanceSeconds(86_400);
  const [third] = await untilRuns(author, 'mine', 3);
  expect(third).toMatchObject({ state: 'failed', code: 'invalid_api_key', next_at: null });
  expect(await query()).toMatchObject({
    refresh_state: 'stopped',
    next_refresh_at: null,
    refresh_failure: { code: 'invalid_api_key', detail: expect.stringContaining('revoked') },
  });
  expect(await author.customer.units()).toMatchObject({ held: 0, spent: 1 });
  // Saved by another key it is that key's.
  const text = (await query()).sql;
  const again = await savedBy(author, { ...author.customer.headers }, 'mine', text);
  expect(again.body).toMatchObject({ outcome: 'changed', query: { refresh_state: 'scheduled' } });
  await author.send('DELETE', '/v0/queries/mine');
});

test('a key without rights saves, publishes, prices, schedules and removes nothing', async () => {
  const author = await savedOf(sql);
  const { headers } = await schedulerOf(author, { rights: [] });
  const expiring = await schedulerOf(author, {
    units_per_day: undefined,
    rights: undefined,
    expires_at: '2026-12-31T00:00:00Z',
  });
  const text = ownText();
  await author.saved('kept', { sql: text, parameters: { x: { default: 1 } } });
  for (const by of [headers, expiring.headers]) {
    for (const more of [{}, { visibility: 'public' }, { price_qu: 5 }, { refresh_seconds: 900 }]) {
      const body = { sql: text, parameters: { x: { default: 1 } }, ...more };
      const answer = await author.send('PUT', '/v0/queries/kept', body, by);
      expect([answer.status, answer.body.code]).toEqual([403, 'key_restricted']);
    }
    expect((await author.send('DELETE', '/v0/queries/kept', undefined, by)).status).toBe(403);
    expect((await author.send('GET', '/v0/queries/kept', undefined, by)).status).toBe(200);
  }
  expect((await author.send('GET', '/v0/queries/kept')).body.query).toMatchObject({
    version: 1,
    visibility: 'private',
    price_qu: 0,
  });
});
