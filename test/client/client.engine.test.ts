import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sql } from '../../clickhouse/engine/sql.ts';
import { type Client, createClient, type Operations, SettlementIndexError } from '../../client/index.ts';
import { OPERATIONS } from '../../src/operations/index.ts';
import { complaints } from '../kit/answer-schema.ts';
import { BASE, insertSettlements, NOON, reportChain, settlement, wallet } from '../kit/rows.ts';
import { type Customer, readParquet, type SqlApi, sqlApi } from '../kit/sql-api.ts';
import { waitUntil } from '../kit/wait-until.ts';

/** The client of `@settlement-index/client` against the real application, over real connections. */

const ROWS = 130;
/** Half a minute of one core at the least, in small steps. */
const LONG = 'SELECT sum(cityHash64(number, number, number)) AS s FROM numbers(1000000000)';

let world: SqlApi;
let customer: Customer;
let url: string;
let client: Client;
/** Paths and queries that the client asked for. */
let asked: string[] = [];

beforeAll(async () => {
  world = await sqlApi();
  const { writer } = world.engine;
  await reportChain(writer, BASE);
  await insertSettlements(
    writer,
    Array.from({ length: ROWS }, (_, logIndex) =>
      settlement({ logIndex, blockTime: NOON - logIndex, relayer: wallet(0xd0 + (logIndex % 3)) }),
    ),
  );
  customer = await world.customer();
  const { app } = world.api;
  await app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  client = clientWith(customer.headers['x-api-key']);
});
afterAll(() => world?.close());
beforeEach(() => {
  asked = [];
});

function clientWith(key: string | undefined): Client {
  const counting: typeof fetch = (input, init) => {
    asked.push(String(input).slice(url.length));
    return fetch(input, init);
  };
  return createClient({ url, key, fetch: counting });
}

async function failureOf(work: PromiseLike<unknown>): Promise<SettlementIndexError> {
  const error = await Promise.resolve(work).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof SettlementIndexError) return error;
  throw new Error(`not an error of the client: ${String(error)}`);
}

async function queriesOfGuest(): Promise<number> {
  const { rows } = await world.engine.writer.rows({
    name: 'queries-of-guest',
    sql: sql`SELECT count() FROM system.processes WHERE user = 'guest' AND query LIKE 'SELECT sum(%'`,
    maxSeconds: 5,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}

const WALLET = wallet(0xb2);
const PAYER = wallet(0xa1);
const TX_HASH = settlement().txHash;
const JOB = '2f1e6c1a-7d3b-4a51-9a39-0d8a4c7be111';
const RESULT = '5f'.repeat(32);
const SHARE = 'a'.repeat(43);
/** A call of each operation and where it leads; an operation that is missing here does not compile. */
const CALLS: { readonly [Id in keyof Operations]: readonly [Parameters<Operations[Id]>, string] } = {
  getAccount: [[], '/account'],
  getAccountUsage: [[{ group: 'day,lane' }], '/account/usage?group=day%2Clane'],
  listAccountQueries: [[{ limit: 5 }], '/account/queries?limit=5'],
  listAccountKeys: [[], '/account/keys'],
  listFlows: [[{ limit: 2 }], '/flows?limit=2'],
  listTransactions: [
    [{ exclude_self_payments: true, min_probability: 0.2 }],
    '/transactions?exclude_self_payments=true&min_probability=0.2',
  ],
  getTransaction: [[{ tx_hash: TX_HASH }], `/transactions/${TX_HASH}`],
  listEntitySettlements: [[{ wallet: WALLET, role: 'payee' }], `/entities/${WALLET}/settlements?role=payee`],
  getEntitySummary: [[{ wallet: WALLET, chain: 'all' }], `/entities/${WALLET}/summary?chain=all`],
  listCounterparties: [
    [{ wallet: WALLET, window: '7d', order: 'count' }],
    `/entities/${WALLET}/counterparties?window=7d&order=count`,
  ],
  listEntityChannels: [[{ wallet: WALLET, role: 'payee' }], `/entities/${WALLET}/channels?role=payee`],
  getChannel: [[{ channel: TX_HASH }], `/channels/${TX_HASH}`],
  getPair: [[{ payer: PAYER, payee: WALLET }], `/pairs/${PAYER}/${WALLET}`],
  listWallets: [[{ role: 'payer' }], '/wallets?role=payer'],
  listFacilitators: [[], '/facilitators'],
  listMerchants: [[{ window: '7d', include_flagged: true }], '/merchants?window=7d&include_flagged=true'],
  getMerchant: [[{ address: WALLET }], `/merchants/${WALLET}`],
  getAgent: [[{ wallet: WALLET, chain: undefined }], `/agents/${WALLET}`],
  listAgents: [[{ q: 'weather & wind' }], '/agents?q=weather+%26+wind'],
  getLeaderboard: [[], '/leaderboard'],
  listAttestations: [[], '/attestations'],
  getGraph: [[{ window: 10 }], '/graph?window=10'],
  listCapabilities: [[], '/capabilities'],
  getCapability: [[{ slug: 'weather' }], '/capabilities/weather'],
  listEndpoints: [[], '/endpoints'],
  listBundles: [
    [{ table: 'settlements', since: '2026-11-01' }],
    '/bundles?table=settlements&since=2026-11-01',
  ],
  getBundleFile: [
    [{ chain: 'eip155:8453', table: 'settlements', file: 'manifest.json', describe: true }],
    '/bundles/eip155%3A8453/settlements/manifest.json?describe=true',
  ],
  getTelemetry: [[], '/telemetry'],
  getCoverage: [[{ days: 7, chain: 'eip155:8453' }], '/coverage?days=7&chain=eip155%3A8453'],
  getSqlSchema: [[], '/sql/schema'],
  getRunningQuery: [[{ id: JOB }], `/sql/running/${JOB}`],
  listSqlJobs: [[{ limit: 2 }], '/sql/jobs?limit=2'],
  getSqlJob: [[{ job: JOB }], `/sql/jobs/${JOB}`],
  getResult: [[{ result: RESULT, limit: 2 }], `/results/${RESULT}?limit=2`],
  listResultShares: [[{ result: RESULT }], `/results/${RESULT}/shares`],
  getSharedResult: [[{ token: SHARE }], `/shared/${SHARE}`],
  listTables: [[], '/tables'],
  getTable: [[{ name: 'labels' }], '/tables/labels'],
  listSavedQueries: [[{ limit: 2 }], '/queries?limit=2'],
  getSavedQuery: [[{ slug: 'top-payees' }], '/queries/top-payees'],
  listQueryVersions: [[{ slug: 'top-payees' }], '/queries/top-payees/versions'],
  listQueryRefreshes: [[{ slug: 'top-payees' }], '/queries/top-payees/refreshes'],
  listPublicQueries: [[{ limit: 2 }], '/q?limit=2'],
  callSavedQuery: [[{ owner: 'acme', slug: 'top-payees', limit: 2 }], '/q/acme/top-payees?limit=2'],
  getPublicQuery: [[{ owner: 'acme', slug: 'top-payees' }], '/q/acme/top-payees/about'],
  getOwnerOpenApi: [[{ owner: 'acme' }], '/q/acme/openapi.json'],
  listDashboards: [[], '/dashboards'],
  getDashboard: [[{ owner: 'index', slug: 'home', period: '24h' }], '/dashboards/index/home?period=24h'],
  getDashboardPanel: [
    [{ owner: 'index', slug: 'home', panel: 'figures' }],
    '/dashboards/index/home/panels/figures',
  ],
  mintTrialKey: [[], '/test/x402'],
};

describe('operations', () => {
  test('every one that reads is a method; a query has methods of its own', () => {
    const declared = OPERATIONS.filter(({ method }) => method === 'GET').map(({ id }) => id);
    expect(Object.keys(CALLS).sort()).toEqual(declared.sort());
  });

  // Jobs and results are made by test/src/jobs, files by `bundle` (test/src/operations/bundles), queries by test/src/operations/saved, panels by test/src/operations/dashboards, channels by test/src/operations/channels.
  const made = [
    'getSqlJob',
    'getResult',
    'listResultShares',
    'getSharedResult',
    'getBundleFile',
    'getSavedQuery',
    'getTable',
    'listQueryVersions',
    'listQueryRefreshes',
    'callSavedQuery',
    'getPublicQuery',
    'getOwnerOpenApi',
    'getDashboardPanel',
    'getChannel',
  ];
  const served = OPERATIONS.filter(
    ({ id, method, price }) => method === 'GET' && price.class !== 'sold' && !made.includes(id),
  );
  test.each(served.map((operation) => [operation.id, operation] as const))(
    '%s answers what the document says',
    async (id, operation) => {
      const [given, path] = CALLS[id as keyof Operations];
      const method = client[id as keyof Operations] as (...given: unknown[]) => PromiseLike<unknown>;
      expect(complaints(operation.output, await method(...given))).toEqual([]);
      expect(asked).toEqual([`/v0${path}`]);
    },
  );

  test('a call that is awaited twice is sent once, and one that is not awaited never', async () => {
    const call = client.listFlows({ limit: 1 });
    expect(asked).toEqual([]);
    expect(await call).toEqual(await call);
    const { requestId, status, receipt } = await call.withReply();
    expect({ status, receipt }).toEqual({ status: 200, receipt: null });
    expect(requestId).toMatch(/./);
    expect(asked).toHaveLength(1);
  });

  test('a base path and a slash at the end of the URL change nothing', async () => {
    for (const at of ['/', '/v0', '/v0/', '/api/v0']) {
      const { flows } = await createClient({
        url: `${url}${at}`,
        key: customer.headers['x-api-key'],
      }).listFlows();
      expect(flows, at).toHaveLength(50);
    }
    expect(() => createClient({ url: 'index.example' })).toThrow(/https:\/\/index\.example/);
  });
});

describe('lists', () => {
  const indexes = (rows: readonly { readonly log_index: number }[]) => rows.map((row) => row.log_index);
  const ALL = Array.from({ length: ROWS }, (_, index) => index);

  test('pages together hold every row once, in order', async () => {
    const seen: number[] = [];
    let pages = 0;
    for await (const { transactions } of client.listTransactions({ limit: 47 }).pages()) {
      pages += 1;
      seen.push(...indexes(transactions));
    }
    expect([seen, pages]).toEqual([ALL, 3]);
  });

  test('items walk to the end in the fewest requests', async () => {
    const rows = [];
    for await (const row of client.listFlows().items()) rows.push(row);
    expect(indexes(rows)).toEqual(ALL);
    expect(asked).toHaveLength(2);
  });

  test('items walk lists of offsets', async () => {
    const relayers = [];
    for await (const { address } of client.listFacilitators({ limit: 1 }).items()) relayers.push(address);
    expect(relayers.toSorted()).toEqual([wallet(0xd0), wallet(0xd1), wallet(0xd2)]);
    expect(asked).toContain('/v0/facilitators?limit=1&offset=1');
  });

  test('leaving the loop asks for no more, and a walk can begin in the middle', async () => {
    const { next_before: before } = await client.listFlows({ limit: 20 });
    for await (const row of client.listFlows({ limit: 10, before: before ?? '' }).items()) {
      expect(row.log_index).toBe(20);
      break;
    }
    expect(asked).toHaveLength(2);
  });

  test('an abort ends the walk between pages', async () => {
    const leaving = new AbortController();
    const walk = (async () => {
      for await (const _page of client.listFlows({ limit: 10 }, { signal: leaving.signal }).pages())
        leaving.abort(new Error('enough'));
    })();
    await expect(walk).rejects.toThrow('enough');
  });
});

describe('failures', () => {
  test('are errors with the facts of the service', async () => {
    const error = await failureOf(client.listFlows({ chain: 'eip155:1' }, { requestId: 'mine-1' }));
    expect(error).toMatchObject({ code: 'invalid_parameter', status: 400, requestId: 'mine-1' });
    expect(error.problem?.parameter).toBe('chain');
    const stranger = clientWith('six_live_unknown');
    expect(await failureOf(stranger.listFlows())).toMatchObject({ code: 'invalid_api_key', status: 401 });
  });

  test('of a query say where the error is and what to write', async () => {
    const mistyped = await failureOf(client.sql('SELECT payeer FROM settlements'));
    expect(mistyped.problem).toMatchObject({ hint: expect.stringContaining('Did you mean payer?') });
    const refused = await failureOf(client.sql('SELECT * FROM system.tables'));
    expect(refused).toMatchObject({ code: 'invalid_query', problem: { position: { line: 1, column: 15 } } });
    expect(await failureOf(clientWith(undefined).sql('SELECT 1'))).toMatchObject({ status: 401 });
  });
});

describe('queries', () => {
  const SERIES = 'SELECT number AS n FROM numbers({rows:UInt32}) ORDER BY n';

  test('answer rows with the types of their columns, exact', async () => {
    const { rows, columns, truncated, usage } = await client.sql<{ big: string; at: string }>(
      'SELECT toUInt256({big:String}) AS big, max(block_time) AS at FROM settlements',
      { params: { big: '9'.repeat(70) }, maxRows: 5 },
    );
    expect(rows).toEqual([{ big: '9'.repeat(70), at: '2026-11-20T12:00:00Z' }]);
    expect(columns.map(({ name }) => name)).toEqual(['big', 'at']);
    expect(columns[0]?.type).toBe('UInt256');
    expect([truncated, usage.units_charged]).toEqual([false, 1]);
    const native = await client.sql('SELECT toUInt64(7) AS n', { numbers: 'native' });
    expect(native.rows).toEqual([{ n: 7 }]);
    const small = await client.sql('SELECT 1 AS a', { maxQu: 2 });
    expect(small.usage).toMatchObject({ units_held: 2, units_charged: 1 });
    const compact = await client.sql('SELECT 1 AS a, 2 AS b', { format: 'json_compact' });
    expect(compact.rows).toEqual([[1, 2]]);
  });

  test('are explained without a key', async () => {
    const estimate = await clientWith(undefined).explain('SELECT uniq(payer) FROM settlements');
    expect(estimate).toMatchObject({ tables: ['settlements'], advised_tier: 'standard' });
  });

  test('with an Idempotency-Key are charged once', async () => {
    const one = await world.customer();
    const its = clientWith(one.headers['x-api-key']);
    const before = await one.units();
    const first = await its.sql('SELECT now64() AS t', { idempotencyKey: 'once' });
    expect((await its.sql('SELECT now64() AS t', { idempotencyKey: 'once' })).rows).toEqual(first.rows);
    expect(before.balance - (await one.units()).balance).toBe(1);
  });

  test('stream every row, short of a cap and at it', async () => {
    for (const [rows, maxRows, given, truncated] of [
      [1_000, undefined, 1_000, false],
      [1_000, 1_000, 1_000, false],
      [1_000, 999, 999, true],
      [100_000, undefined, 100_000, false],
      [100_000, 99_999, 99_999, true],
    ] as const) {
      const stream = client.sqlRows<{ n: string }>(SERIES, { params: { rows }, maxRows });
      let sum = 0;
      for await (const { n } of stream) sum += Number(n);
      expect([stream.rowCount, stream.truncated, sum]).toEqual([given, truncated, (given * (given - 1)) / 2]);
      expect(stream.facts).toMatchObject({ unitsCharged: 1, queryTier: 'standard' });
    }
  });

  test('leaving the loop closes the connection', async () => {
    const wide = "SELECT number AS n, repeat('x', 1000 + number % 2) AS text FROM numbers(60000)";
    const ends: boolean[] = [];
    const listen = (_request: unknown, response: ServerResponse) =>
      response.once('close', () => ends.push(response.writableFinished));
    world.api.app.server.on('request', listen);
    const stream = client.sqlRows(wide);
    for await (const _row of stream) break;
    await waitUntil('the answer has ended', () => ends.length === 1);
    world.api.app.server.off('request', listen);
    expect([ends, stream.rowCount, stream.truncated]).toEqual([[false], 1, null]);
    await expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow('once');
  });

  test('an abort stops the query in the engine', async () => {
    const leaving = new AbortController();
    const running = client.sqlRows(LONG, { signal: leaving.signal })[Symbol.asyncIterator]().next();
    running.catch(() => undefined);
    await waitUntil('the query runs', async () => (await queriesOfGuest()) > 0);
    leaving.abort();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    await waitUntil('the query is gone', async () => (await queriesOfGuest()) === 0, 2_000);
  });

  test('are files that hold the same rows', async () => {
    const csv = await client.sqlFile(SERIES, { params: { rows: 3 }, format: 'csv' });
    expect(csv.mediaType).toContain('text/csv');
    expect(csv.facts).toMatchObject({ rowCount: 3, truncated: false, unitsCharged: 1 });
    expect(await csv.text()).toBe('"n"\n0\n1\n2\n');
    const parquet = await client.sqlFile(SERIES, { params: { rows: 3 }, format: 'parquet' });
    const rows = await readParquet(world.engine, Buffer.from(await parquet.bytes()), 'n UInt64');
    expect(rows).toEqual([{ n: '0' }, { n: '1' }, { n: '2' }]);
    const arrow = await client.sqlFile(SERIES, { params: { rows: 3 }, format: 'arrow' });
    let bytes = 0;
    for await (const chunk of arrow.stream()) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(100);
  });
});

describe('jobs', () => {
  const TEXT = 'SELECT log_index, payer FROM settlements ORDER BY log_index';

  test('are started, waited for, and give their result in pages and as files without another charge', async () => {
    const started = await client.startJob(TEXT, { maxQu: 2, idempotencyKey: 'a job of the client' });
    expect(await client.startJob(TEXT, { maxQu: 2, idempotencyKey: 'a job of the client' })).toMatchObject({
      job: started.job,
    });
    const seen: string[] = [];
    const job = await client.jobEnded(started.job, { onProgress: ({ state }) => void seen.push(state) });
    expect([job.state, job.usage, seen.at(-1)]).toEqual([
      'succeeded',
      expect.objectContaining({ units_held: 2, units_charged: 1 }),
      'succeeded',
    ]);
    const result = job.result?.id ?? '';
    const page = await client.getResult({ result, limit: 2 });
    expect(page).toMatchObject({ result: { row_count: ROWS }, next_offset: 2 });
    const file = await client.resultFile(result, { format: 'csv' });
    expect((await file.text()).trim().split('\n')).toHaveLength(ROWS + 1);
    const { spent } = await customer.units();
    expect((await client.resultFile(result, { format: 'parquet' })).mediaType).toContain('parquet');
    expect((await customer.units()).spent).toBe(spent);
  });

  test('are cancelled, and an abort of the wait leaves them alone', async () => {
    const { job } = await client.startJob(LONG, { maxQu: 3 });
    const abort = new AbortController();
    const waiting = client.jobEnded(job, { signal: abort.signal, onProgress: () => abort.abort('enough') });
    await expect(waiting).rejects.toBe('enough');
    expect(['queued', 'running']).toContain((await client.getSqlJob({ job })).state);
    await client.cancelJob(job);
    expect((await client.jobEnded(job)).state).toBe('cancelled');
  });

  test('that are refused are errors, and so is a job of another organization', async () => {
    expect((await failureOf(client.startJob('SELECT payeer FROM settlements'))).code).toBe('invalid_query');
    expect((await failureOf(client.cancelJob(JOB))).code).toBe('job_not_found');
    expect((await failureOf(client.resultFile(RESULT, { format: 'csv' }))).status).toBe(404);
  });
});
