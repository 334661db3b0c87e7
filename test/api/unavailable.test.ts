import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Reader } from '../../clickhouse/engine.ts';
import { createReader } from '../../clickhouse/http-engine.ts';
import { sql } from '../../clickhouse/sql.ts';
import { type TestApi, testApi } from '../support/api.ts';
import { freshDatabase, type TestEngine, testEngine } from '../support/engine.ts';
import { type PausableProxy, pausableProxy } from '../support/pausable-proxy.ts';
import { BASE, insertSettlements, reportChain, settlement, wallet } from '../support/rows.ts';
import { waitUntil } from '../support/wait-until.ts';

/** The engine is real; a proxy in front of it is switched off and on, which is what a stopped engine looks like from here. */

let engine: TestEngine;
let proxy: PausableProxy;
let reader: Reader;
let api: TestApi;

beforeAll(async () => {
  engine = await testEngine();
  await insertSettlements(engine.writer, [settlement()]);
  await reportChain(engine.writer, BASE);
  proxy = await pausableProxy(engine.access.url);
  reader = createReader({ ...engine.access, url: proxy.url });
  api = await testApi(reader);
});
afterAll(async () => {
  await api?.close();
  await reader?.close();
  await proxy?.stop();
  await engine?.close();
});

/** Of a profile, which asks for all of these at once. */
const PROFILE =
  /^(wallet profile|payment rings|catalogues|index status|rollups|agents|activity of wallets|display names)$/;

/** With every resource that a route asks for: which of them is the first to fail is a matter of chance. */
const ROUTES: readonly (readonly [string, RegExp])[] = [
  ['/v0/flows', /^(settlements|display names|index status)$/],
  // An empty page tells how many settlements there are, which the rollups know.
  ['/v0/flows?chain=eip155:137', /^(settlements|rollups|display names|index status)$/],
  ['/v0/transactions', /^(settlements|display names|index status)$/],
  [`/v0/entities/${wallet(0xa1)}/settlements`, /^(wallet settlements|display names|index status)$/],
  [`/v0/merchants/${wallet(0xb2)}`, PROFILE],
  [`/v0/agents/${wallet(0xa1)}`, PROFILE],
  ['/v0/wallets', /^(wallets|rollups|display names|index status)$/],
  ['/v0/facilitators', /^(relayers|rollups|display names|index status)$/],
  ['/v0/telemetry', /^(engine|identities|index status|rollups|endpoints)$/],
  ['/readyz', /^index$/],
];

describe.each(ROUTES)('%s with a stopped engine', (path, resource) => {
  test('is 503 naming the resource, and 200 again by itself', async () => {
    expect((await api.get(path)).status).toBe(200);
    await proxy.stop();
    // Facts kept for a second must not hide that the engine is gone.
    api.clock.advanceSeconds(3_600);
    const down = await api.get(path);
    await proxy.start();
    expect({ status: down.status, code: down.body.code }).toEqual({
      status: 503,
      code: 'upstream_unavailable',
    });
    expect(down.body.resource).toMatch(resource);
    expect(down.body.retry_after).toBe(Number(down.headers['retry-after']));
    expect(down.headers['content-type']).toContain('application/problem+json');
    expect(down.headers['cache-control']).toBe('no-store');
    expect(down.text).not.toMatch(/127\.0\.0\.1|ECONN|ClickHouse|test_/);
    // A load that was under way when the engine came back may still fail once.
    await waitUntil('the route recovers', async () => (await api.get(path)).status === 200);
  });
});

test('the process lives and the price list is served while the engine is stopped', async () => {
  await proxy.stop();
  const [health, account] = [await api.get('/healthz'), await api.get('/v0/account')];
  await proxy.start();
  expect([health.status, account.status]).toEqual([200, 200]);
});

test('before the migrations every list is 503, never an empty 200', async () => {
  const bare = await freshDatabase();
  const unmigrated = createReader(bare);
  const app = await testApi(unmigrated);
  const answers = await Promise.all(ROUTES.map(([path]) => app.get(path)));
  await app.close();
  await unmigrated.close();
  expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
    ROUTES.map(() => [503, 'upstream_unavailable']),
  );
});

test('a caller who leaves stops the query in the engine', async () => {
  const slow = await testApi({
    ...engine.reader,
    // The same engine, with one statement that takes longer than the test may.
    rows: (statement, signal) =>
      engine.reader.rows(
        statement.name === 'feed-window'
          ? { ...statement, maxRows: 20, maxSeconds: 20, sql: SLOW }
          : statement,
        signal,
      ),
  });
  const url = await slow.app.listen({ host: '127.0.0.1', port: 0 });
  const leaving = new AbortController();
  const asked = fetch(`${url}/v0/transactions`, { headers: slow.keyed, signal: leaving.signal });
  const left = asked.then(
    () => 'answered',
    () => 'left',
  );
  await waitUntil('the query runs', async () => (await running()) > 0);
  leaving.abort();
  expect(await left).toBe('left');
  await waitUntil('the query is gone', async () => (await running()) === 0, SLOW_MS / 2);
  await slow.close();
});

/** Of the statement below, a second for each row. */
const SLOW_MS = 20_000;
const SLOW = sql`SELECT sleepEachRow(1) FROM numbers(20) SETTINGS max_block_size = 1`;

/** How many of this test's slow statements run in the engine. */
async function running(): Promise<number> {
  const { rows } = await engine.writer.rows({
    name: 'test-running',
    maxSeconds: 5,
    maxRows: 1,
    sql: sql`SELECT count() FROM system.processes
      WHERE query LIKE '%sleepEachRow(1) FROM numbers(20)%' AND query NOT LIKE '%system.processes%'`,
  });
  return Number(rows[0]?.[0]);
}
