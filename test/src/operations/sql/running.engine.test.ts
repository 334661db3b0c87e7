import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeEach, expect } from 'vitest';
import { type Door, openDoor } from '../../../kit/clickhouse-door.ts';
import { test } from '../../../kit/fixtures.ts';
import { jobsOf } from '../../../kit/jobs.ts';
import { type Customer, type SqlApi, sqlApi } from '../../../kit/sql-api.ts';

/** Who sees how far a running query is, who stops it, and what a stopped one costs: over two API processes on one engine and one control store. */

let sql: SqlApi;
let other: SqlApi;
let door: Door;
let owner: Customer;

test.beforeAll(async ({ sqlService }) => {
  sql = sqlService;
  other = await sqlApi({ engine: sql.engine });
  door = await openDoor(sql);
});
afterAll(async () => {
  await door?.close();
  await other?.close();
});
beforeEach(async () => {
  owner = await sql.customer({ plan: 'pro' });
});

/** Runs until it is stopped. */
const ENDLESS =
  'SELECT sum(cityHash64(a.number, b.number)) FROM numbers(1000000) AS a CROSS JOIN numbers(1000000) AS b';

const running = (id: string, { headers } = owner, method: 'GET' | 'DELETE' = 'GET', api = sql.api) =>
  jobsOf(api, { headers }).send(method, `/v0/sql/running/${id}`);

/** Its progress once it runs. */
async function begun(id: string, api = sql.api) {
  for (;;) {
    const { status, body } = await running(id, owner, 'GET', api);
    expect(status).toBe(200);
    if (body.progress !== null && body.progress.rows_read > 0) return body.progress;
    await sleep(50);
  }
}

/** The newest run in the list of the organization. */
async function lastRun() {
  const runs = async () => (await jobsOf(sql.api, owner).send('GET', '/v0/account/queries')).body.queries;
  await expect.poll(async () => (await runs()).length, { timeout: 20_000 }).toBeGreaterThan(0);
  return (await runs())[0];
}

test('is seen by its organization in every process, and by nobody else', async () => {
  const id = randomUUID();
  const answer = owner.ask(ENDLESS, { 'x-request-id': id });
  const first = await begun(id);
  const later = await begun(id, other.api);
  expect(later.rows_read).toBeGreaterThanOrEqual(first.rows_read);
  expect(later).toMatchObject({ seconds: expect.any(Number), memory_bytes: expect.any(Number) });
  expect(later.rows_estimate).toBeGreaterThanOrEqual(later.rows_read);
  expect(later.percent).toBeLessThan(100);
  const stranger = await sql.customer();
  const strangers = [stranger, { ...stranger, headers: {} }];
  for (const one of strangers)
    for (const method of ['GET', 'DELETE'] as const)
      expect((await running(id, one, method)).body).toEqual({ id, progress: null });
  expect((await running('another-id')).body).toEqual({ id: 'another-id', progress: null });
  expect((await running('no%20id')).body.code).toBe('invalid_parameter');

  // By another process than the one that runs it.
  const stopped = await running(id, owner, 'DELETE', other.api);
  expect(stopped.body.progress.rows_read).toBeGreaterThan(0);
  const { status, body } = await answer;
  expect([status, body.code, body.reason]).toEqual([400, 'query_failed', 'cancelled']);
  expect(body.usage.units_charged).toBeGreaterThan(0);
  const { held, spent } = await owner.units();
  expect([held, spent]).toEqual([0, body.usage.units_charged]);
  expect(await lastRun()).toMatchObject({ status: 'cancelled', units_charged: spent, rows: null });
  expect((await running(id)).body.progress).toBeNull();
});

test('of a client of ClickHouse is found by its query_id, and a stopped one has its code', async () => {
  owner = door.customer();
  const id = `dbt:${randomUUID()}`;
  const answer = door.ask(ENDLESS, { query_id: id });
  await begun(id);
  await running(id, owner, 'DELETE');
  const { headers, text } = await answer;
  expect([headers.get('x-clickhouse-exception-code'), Number(headers.get('x-units-charged'))]).toEqual([
    '394',
    expect.any(Number),
  ]);
  expect(text).toMatch(/^Code: 394\. DB::Exception: .*was cancelled.*\(QUERY_WAS_CANCELLED\)/);
  expect(await lastRun()).toMatchObject({ status: 'cancelled', surface: 'clickhouse' });
});

test('whose client leaves is charged for what it used, and its run says that it was cancelled', async () => {
  owner = await door.renew();
  const id = randomUUID();
  const leaving = new AbortController();
  const answer = door.ask(ENDLESS, { query_id: id }, { signal: leaving.signal }).catch(() => 'left');
  await begun(id);
  leaving.abort();
  expect(await answer).toBe('left');
  const run = await lastRun();
  expect(run).toMatchObject({ status: 'cancelled', rows: null });
  expect(run.units_charged).toBeGreaterThan(0);
  expect((await owner.units()).spent).toBe(run.units_charged);
});
