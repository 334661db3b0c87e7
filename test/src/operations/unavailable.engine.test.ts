import { afterAll, describe, expect } from 'vitest';
import { EngineError, type Reader } from '../../../clickhouse/engine/engine.ts';
import { createReader } from '../../../clickhouse/engine/http-engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { RESOURCE_NAMES, type Resource } from '../../../core/domain/resources.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { ANONYMOUS, type ApiAnswer, type TestApi, testApi } from '../../kit/api.ts';
import { freshDatabase, type TestEngine } from '../../kit/engine.ts';
import { test } from '../../kit/fixtures.ts';
import { type PausableProxy, pausableProxy } from '../../kit/pausable-proxy.ts';
import { BASE, hash, insertSettlements, reportChain, settlement, wallet } from '../../kit/rows.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** The engine is real; a proxy in front of it is switched off and on, which is what a stopped engine looks like from here. */

const CHANNEL = hash(0xc1);

let engine: TestEngine;
let proxy: PausableProxy;
let reader: Reader;
let api: TestApi;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
  await insertSettlements(engine.writer, [
    settlement(),
    settlement({ logIndex: 1, kind: 'deposit', scheme: 'batch-settlement', channel: CHANNEL }),
  ]);
  await reportChain(engine.writer, BASE);
  proxy = await pausableProxy(engine.access.url);
  reader = createReader({ ...engine.access, url: proxy.url });
  api = await testApi(reader);
});
afterAll(async () => {
  await api?.close();
  await reader?.close();
  await proxy?.stop();
});

/** What every answer about the index asks besides its rows. */
const COMMON: readonly Resource[] = ['chains', 'names'];

/** With every resource that a route asks for: which of them is the first to fail is a matter of chance. */
const ROUTES: readonly (readonly [string, readonly Resource[]])[] = [
  ['/v0/flows', ['settlements']],
  // An empty page tells how many settlements there are, which the rollups know.
  ['/v0/flows?chain=eip155:137', ['settlements']],
  ['/v0/transactions', ['settlements']],
  [`/v0/transactions/${settlement().txHash}`, ['settlements']],
  [`/v0/entities/${wallet(0xa1)}/settlements`, ['settlements']],
  [`/v0/entities/${wallet(0xa1)}/channels`, ['settlements']],
  [`/v0/channels/${CHANNEL}`, ['settlements']],
  [`/v0/entities/${wallet(0xb2)}/summary`, ['wallets', 'settlements', 'agents', 'endpoints']],
  [`/v0/entities/${wallet(0xb2)}/counterparties`, ['wallets', 'settlements']],
  [`/v0/pairs/${wallet(0xa1)}/${wallet(0xb2)}`, ['wallets', 'settlements']],
  [`/v0/merchants/${wallet(0xb2)}`, ['wallets', 'settlements', 'agents']],
  [`/v0/agents/${wallet(0xa1)}`, ['wallets', 'settlements', 'agents']],
  ['/v0/agents', ['agents', 'attestations', 'wallets', 'settlements']],
  ['/v0/leaderboard', ['agents', 'attestations', 'wallets', 'settlements']],
  ['/v0/leaderboard?of=payers&by=growth', ['wallets', 'settlements']],
  ['/v0/leaderboard?of=facilitators', ['facilitators', 'settlements']],
  ['/v0/leaderboard?of=endpoints', ['endpoints', 'settlements']],
  ['/v0/merchants', ['wallets', 'settlements']],
  ['/v0/attestations', ['attestations', 'agents', 'settlements']],
  ['/v0/wallets', ['wallets', 'settlements']],
  ['/v0/facilitators', ['facilitators', 'settlements']],
  ['/v0/graph?days=1', ['graph', 'settlements']],
  ['/v0/endpoints', ['endpoints', 'settlements']],
  ['/v0/capabilities', ['capabilities', 'endpoints', 'settlements']],
  ['/v0/coverage', ['chains']],
  ['/v0/sql/schema', ['sql']],
  ['/readyz', ['index']],
];

test('every operation that reads the index without a body is among the routes below', () => {
  const asked = new Set(
    ROUTES.map(([path]) => path.replace(/^\/v0|\?.*$/g, '').replace(/0x[0-9a-f]+/g, '{}')),
  );
  // Accounts, bundles, jobs, running queries, results, own tables, saved queries and dashboards do not read the index. What a panel answers then is in
  // dashboards/dashboards.engine.test.ts.
  const elsewhere =
    /^\/(account|telemetry|test\/x402|capabilities\/\{\}|bundles|sql\/(jobs|running)|results|shared|tables|queries|q|dashboards)(\/|$)/;
  const missing = OPERATIONS.filter(({ method }) => method === 'GET')
    .map(({ path }) => path.replace(/\{\w+\}/g, '{}'))
    .filter((path) => !asked.has(path) && !elsewhere.test(path));
  expect(missing).toEqual([]);
});

describe.each(ROUTES)('%s with a stopped engine', (path, resources) => {
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
    expect([...resources, ...COMMON]).toContain(down.body.resource);
    expect(RESOURCE_NAMES).toContain(down.body.resource);
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

describe('/v0/telemetry', () => {
  const asked = async (app: TestApi) => await app.get('/v0/telemetry', ANONYMOUS);

  test('is 200 while the engine is stopped, with what was read of it last, and says so', async () => {
    const before = await asked(api);
    expect(before.body.engine).toMatchObject({ status: 'ok', answered_at: before.body.as_of });
    await proxy.stop();
    api.clock.advanceSeconds(3_600);
    const down = await asked(api);
    await proxy.start();
    expect(down.status).toBe(200);
    expect(down.body).toMatchObject({
      status: 'degraded',
      version: '9.9.9',
      engine: { status: 'unreachable', uptime_seconds: null, answered_at: before.body.as_of },
      rollups: before.body.rollups,
      identities: { counted_at: before.body.identities.counted_at },
    });
    const blocks = ({ body }: ApiAnswer) =>
      body.chains.map(({ chain, indexed_block, reported_at }: Record<string, unknown>) => [
        chain,
        indexed_block,
        reported_at,
      ]);
    expect(blocks(down)).toEqual(blocks(before));
    // The age of the last known state goes on counting.
    expect(down.body.chains[0].lag_seconds).toBe(before.body.chains[0].lag_seconds + 3_600);
    await waitUntil('it answers again', async () => (await asked(api)).body.engine.status === 'ok');
  });

  test('is 200 from a process whose engine has never answered, and claims nothing about the index', async () => {
    await proxy.stop();
    const fresh = await testApi(reader);
    const { status, body } = await asked(fresh);
    await proxy.start();
    await fresh.close();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'degraded',
      engine: { status: 'starting', uptime_seconds: null, answered_at: null },
      chains: [],
      rollups: null,
      identities: null,
      warnings: [],
    });
  });

  test('is 200 before the migrations', async () => {
    const unmigrated = createReader(await freshDatabase());
    const app = await testApi(unmigrated);
    const { status, body } = await asked(app);
    await app.close();
    await unmigrated.close();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'degraded',
      engine: { status: 'starting', uptime_seconds: null, answered_at: null },
      chains: [],
    });
  });

  test('tells an engine that refuses part of it from one that is away, and a bug from both', async () => {
    let refusal: Error | null = null;
    const app = await testApi({
      ...engine.reader,
      rows: (statement, signal) =>
        refusal !== null && statement.name === 'rollup-state'
          ? Promise.reject(refusal)
          : engine.reader.rows(statement, signal),
    });
    const { body: before } = await asked(app);
    refusal = new EngineError('memory', 'rollup-state', null, new Error('too large'));
    const { status, body } = await asked(app);
    refusal = new TypeError('a bug');
    const broken = await asked(app);
    await app.close();
    expect([before.engine.status, status, body.status]).toEqual(['ok', 200, 'degraded']);
    expect(body.engine).toMatchObject({ status: 'overloaded', uptime_seconds: expect.any(Number) });
    expect(body.rollups).toEqual(before.rollups);
    expect(broken.body.code).toBe('internal_error');
  });
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
  const asked = fetch(`${url}/v0/transactions?min_usd=0`, { headers: slow.keyed, signal: leaving.signal });
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
