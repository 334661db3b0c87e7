import { existsSync } from 'node:fs';
import { describe, expect } from 'vitest';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { complaints } from '../../kit/answer-schema.ts';
import { type TestApi, testApi } from '../../kit/api.ts';
import type { TestEngine } from '../../kit/engine.ts';
import { test } from '../../kit/fixtures.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  nameFacilitator,
  namePayee,
  reportChain,
  settlement,
  wallet,
} from '../../kit/rows.ts';

/** One test for each operation and status, over two rows and one chain that reports; Polygon is configured and silent. */

let engine: TestEngine;
let api: TestApi;

const proven = settlement({
  blockNumber: 1_200,
  blockTime: NOON - 10,
  logIndex: 4,
  payer: wallet(0xa1),
  payee: wallet(0xb2),
  facilitator: 'coinbase',
  method: 'facilitator_relay',
  amount: 2n ** 200n,
  amountUsdMicros: 1n,
});
const selfPayment = settlement({
  blockNumber: 1_900,
  blockTime: NOON - 5,
  payer: wallet(0xb2),
  payee: wallet(0xb2),
  amountUsdMicros: 2_500_000n,
});

test.beforeAll(async ({ engine: ofFile, fileApi }) => {
  engine = ofFile;
  api = fileApi;
  await insertSettlements(engine.writer, [proven, selfPayment]);
  await reportChain(engine.writer, BASE, {
    last_error: `'rate_limited'`,
    backfill_blocks_done: '5',
    backfill_blocks_total: '20',
  });
  await nameFacilitator(engine.writer, 'coinbase', 'Coinbase');
  await namePayee(engine.writer, wallet(0xb2), 'Weather by the call');
});

const PATHS: Readonly<Record<string, string>> = {
  getAccount: '/v0/account',
  listFlows: '/v0/flows',
  listTransactions: '/v0/transactions',
  getTransaction: `/v0/transactions/${proven.txHash}`,
  listEntitySettlements: `/v0/entities/${wallet(0xb2)}/settlements`,
  getEntitySummary: `/v0/entities/${wallet(0xb2)}/summary`,
  listCounterparties: `/v0/entities/${wallet(0xb2)}/counterparties`,
  listEntityChannels: `/v0/entities/${wallet(0xb2)}/channels`,
  getPair: `/v0/pairs/${wallet(0xa1)}/${wallet(0xb2)}`,
  listWallets: '/v0/wallets',
  listFacilitators: '/v0/facilitators',
  listMerchants: '/v0/merchants',
  getMerchant: `/v0/merchants/${wallet(0xb2)}`,
  getAgent: `/v0/agents/${wallet(0xa1)}`,
  listAgents: '/v0/agents',
  getLeaderboard: '/v0/leaderboard?include_spam=1',
  listAttestations: '/v0/attestations',
  getGraph: '/v0/graph?days=1',
  listEndpoints: '/v0/endpoints',
  listCapabilities: '/v0/capabilities',
  getCapability: '/v0/capabilities/web-search',
  listBundles: '/v0/bundles',
  getBundleFile: `/v0/bundles/${BASE}/settlements/manifest.json`,
  listPublicQueries: '/v0/q',
  listDashboards: '/v0/dashboards',
  getDashboard: '/v0/dashboards/index/home',
  getTelemetry: '/v0/telemetry',
  getCoverage: '/v0/coverage',
  getSqlSchema: '/v0/sql/schema',
  runSql: '/v0/sql',
  mintTrialKey: '/v0/test/x402',
};
/** Operations that need more than an address, and the tests that call them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  getAccountUsage: 'account/own-account.engine.test.ts',
  listAccountQueries: 'account/own-account.engine.test.ts',
  forgetAccountQueries: 'account/own-account.engine.test.ts',
  listAccountKeys: 'account/own-account.engine.test.ts',
  makeAccountKey: 'account/own-account.engine.test.ts',
  changeAccountKey: 'account/own-account.engine.test.ts',
  revokeAccountKey: 'account/own-account.engine.test.ts',
  getRunningQuery: 'sql/running.engine.test.ts',
  cancelRunningQuery: 'sql/running.engine.test.ts',
  createSqlJob: '../jobs/jobs.engine.test.ts',
  listSqlJobs: '../jobs/jobs.engine.test.ts',
  getSqlJob: '../jobs/jobs.engine.test.ts',
  cancelSqlJob: '../jobs/jobs.engine.test.ts',
  getResult: '../jobs/jobs.engine.test.ts',
  shareResult: 'sql/shares.engine.test.ts',
  listResultShares: 'sql/shares.engine.test.ts',
  revokeResultShare: 'sql/shares.engine.test.ts',
  getSharedResult: 'sql/shares.engine.test.ts',
  putTable: 'tables/own-tables.engine.test.ts',
  listTables: 'tables/own-tables.engine.test.ts',
  getTable: 'tables/own-tables.engine.test.ts',
  deleteTable: 'tables/own-tables.engine.test.ts',
  claimHandle: 'saved/saved-queries.engine.test.ts',
  saveQuery: 'saved/saved-queries.engine.test.ts',
  listSavedQueries: 'saved/saved-queries.engine.test.ts',
  getSavedQuery: 'saved/saved-queries.engine.test.ts',
  deleteSavedQuery: 'saved/saved-queries.engine.test.ts',
  listQueryVersions: 'saved/saved-queries.engine.test.ts',
  callSavedQuery: 'saved/saved-queries.engine.test.ts',
  getPublicQuery: 'saved/saved-queries.engine.test.ts',
  getOwnerOpenApi: 'saved/saved-queries.engine.test.ts',
  listQueryRefreshes: 'saved/refreshes.engine.test.ts',
  getDashboardPanel: 'dashboards/dashboards.engine.test.ts',
  saveDashboard: 'dashboards/own-dashboards.engine.test.ts',
  deleteDashboard: 'dashboards/own-dashboards.engine.test.ts',
  getChannel: 'channels/channels.engine.test.ts',
};
// Calls that only a payment buys are answered in trial-key.test.ts, posted ones in run-sql.test.ts, files in bundles.engine.test.ts.
const CASES = OPERATIONS.filter(
  ({ id, price, method }) =>
    price.class !== 'sold' && method === 'GET' && id !== 'getBundleFile' && !Object.hasOwn(ELSEWHERE, id),
).map((operation) => [operation.id, PATHS[operation.id] ?? '', operation] as const);

test('every operation is in this matrix, or called by the test named here', () => {
  const named = [...Object.keys(PATHS), ...Object.keys(ELSEWHERE)];
  expect(named.sort()).toEqual(OPERATIONS.map(({ id }) => id).sort());
  const missing = Object.values(ELSEWHERE).filter((file) => !existsSync(new URL(file, import.meta.url)));
  expect(missing).toEqual([]);
});

describe.each(CASES)('%s', (_id, path, operation) => {
  test('200: the answer is what the schema declares, and nothing else', async () => {
    const { status, body } = await api.get(path);
    expect(status).toBe(200);
    expect(complaints(operation.output, body)).toEqual([]);
  });

  test('200: the same answer under /api/v0', async () => {
    const [one, other] = [await api.get(path), await api.get(`/api${path}`)];
    const { uptime_seconds: _one, engine: _engine, ...first } = one.body;
    expect(other.status).toBe(200);
    expect(other.body).toMatchObject(first);
  });

  test('200: the example of the documentation fits the schema', () => {
    expect(complaints(operation.output, operation.example)).toEqual([]);
  });

  test('400: an unknown parameter is named', async () => {
    const { status, body } = await api.get(`${path}${path.includes('?') ? '&' : '?'}colour=red`);
    expect({ status, code: body.code, parameter: body.parameter }).toEqual({
      status: 400,
      code: 'invalid_parameter',
      parameter: 'colour',
    });
  });

  test('401: an unknown key is refused, except by /account', async () => {
    for (const headers of [
      { authorization: 'Bearer six_live_unknown' },
      { 'x-api-key': 'six_live_unknown' },
    ]) {
      const answer = await api.get(path, headers);
      if (operation.acceptsUnknownKey) {
        expect(answer.status).toBe(200);
      } else {
        expect({ status: answer.status, code: answer.body.code }).toEqual({
          status: 401,
          code: 'invalid_api_key',
        });
        expect(answer.headers['www-authenticate']).toContain('Bearer');
        expect(answer.text).not.toContain('six_live_unknown');
      }
    }
  });

  test('405: another method is refused with Allow', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      const answer = await api.app.inject({
        method,
        url: path,
        payload: 'x',
        headers: { 'content-type': 'text/x' },
      });
      expect(answer.statusCode).toBe(405);
      expect(answer.headers.allow).toBe('GET, HEAD, OPTIONS');
      expect(answer.json().code).toBe('method_not_allowed');
    }
  });

  test('429: over the quota, with the seconds to wait', async () => {
    const strict = await testApi(engine.reader, { http: { requestsPerMinute: 1 } });
    expect((await strict.get(path)).status).toBe(200);
    const { status, headers, body } = await strict.get(path);
    await strict.close();
    expect({ status, code: body.code, retry: body.retry_after, header: headers['retry-after'] }).toEqual({
      status: 429,
      code: 'rate_limited',
      retry: 60,
      header: '60',
    });
    expect(headers['ratelimit']).toBe('"default";r=0;t=60');
  });

  test('500: a bug of ours says nothing about its inside', async () => {
    const broken = await testApi({
      ...engine.reader,
      rows: () => Promise.reject(new TypeError('secret inside at file.ts:1')),
    });
    const { status, body, text } = await broken.get(path);
    await broken.close();
    if (
      ['getAccount', 'listBundles', 'listPublicQueries', 'listDashboards', 'getDashboard'].includes(
        operation.id,
      )
    ) {
      expect(status).toBe(200); // reads nothing of the engine
    } else {
      expect({ status, code: body.code }).toEqual({ status: 500, code: 'internal_error' });
      expect(text).not.toMatch(/secret|TypeError|\.ts/);
    }
  });
});

describe('the settlement row', () => {
  test('carries every documented field, exact amounts and display names', async () => {
    const { body } = await api.get('/v0/flows');
    expect(body.flows[1]).toEqual({
      chain: 'eip155:8453',
      block_number: 1_200,
      block_time: '2026-11-20T11:59:50Z',
      tx_hash: proven.txHash,
      log_index: 4,
      payer: '0x00000000000000000000000000000000000000a1',
      payee: '0x00000000000000000000000000000000000000b2',
      asset: '0x00000000000000000000000000000000000000c3',
      asset_symbol: 'USDC',
      decimals: null,
      amount: '1606938044258990275541962092341162602522202993782792835301376',
      amount_usd: 0.000001,
      relayer: '0x00000000000000000000000000000000000000d4',
      facilitator: 'coinbase',
      is_self_payment: false,
      kind: 'payment',
      scheme: 'exact',
      channel: null,
      fee_amount: null,
      finality: 'finalized',
      evidence: {
        verified: true,
        method: 'facilitator_relay',
        probability: 1,
        tier: 'proven',
        reasons: ['authorization_used', 'third_party_relay'],
      },
      payer_name: null,
      payer_name_source: null,
      payee_name: 'Weather by the call',
      payee_name_source: 'operator_catalogue',
      facilitator_name: 'Coinbase',
    });
    expect(body.flows[0]).toMatchObject({
      is_self_payment: true,
      finality: 'head',
      facilitator: null,
      facilitator_name: null,
      evidence: { verified: null, tier: 'unproven', probability: 0.3 },
    });
  });
});

describe('meta', () => {
  test('of a page with rows has figures of that page', async () => {
    const { body } = await api.get('/v0/transactions');
    expect(body.meta).toEqual({
      chain: null,
      as_of: '2026-11-20T12:00:00Z',
      freshness: {
        chains: [
          {
            chain: 'eip155:8453',
            indexed_block: 2_000,
            indexed_at: '2026-11-20T12:00:00Z',
            head_block: 2_000,
            finalized_block: 1_500,
            lag_seconds: 0,
          },
          {
            chain: 'eip155:137',
            indexed_block: null,
            indexed_at: null,
            head_block: null,
            finalized_block: null,
            lag_seconds: null,
          },
        ],
      },
      page_self_payments: 1,
      page_self_payment_usd: 2.5,
      page_gross_usd: 2.500001,
      page_organic_usd: 0.000001,
      snapshot: null,
      warnings: ['index_not_started', 'backfill_in_progress'],
    });
  });

  test('of an empty page has facts about the dataset instead', async () => {
    const { body } = await api.get('/v0/flows?chain=eip155:137');
    expect(body).toMatchObject({ flows: [], next_before: null });
    expect(body.meta).toMatchObject({
      chain: 'eip155:137',
      dataset_last_written_at: null,
      dataset_row_count: 0,
      warnings: ['index_not_started', 'other_chains_left_out'],
    });
    expect(Object.keys(body.meta)).not.toContain('page_gross_usd');
  });

  test('of a filtered page says that self-payments were excluded', async () => {
    const { body } = await api.get('/v0/transactions?exclude_self_payments=true');
    expect(body.transactions).toHaveLength(1);
    expect(body.meta).toMatchObject({ self_payments_excluded: true, page_self_payments: 0 });
    expect((await api.get('/v0/transactions')).body.meta).not.toHaveProperty('self_payments_excluded');
  });

  test('says that the index lags once the tip was not seen for two minutes', async () => {
    const late = await testApi(engine.reader);
    late.clock.advanceSeconds(121);
    const { body } = await late.get('/v0/flows?chain=eip155:8453');
    await late.close();
    expect(body.meta.freshness.chains[0].lag_seconds).toBe(121);
    expect(body.meta.warnings).toContain('index_lagging');
  });
});

describe('getTelemetry', () => {
  test('tells what each chain does, and is degraded while one has not started', async () => {
    const { body } = await api.get('/v0/telemetry');
    expect(body).toMatchObject({ status: 'degraded', version: '9.9.9', engine: { status: 'ok' } });
    expect(body.chains[0]).toMatchObject({
      chain: 'eip155:8453',
      state: 'following',
      provider: 'answers',
      backfill: { blocks_done: 5, blocks_total: 20, percent: 25, eta_seconds: 30 },
      rows_per_second: 1.5,
      last_error: 'rate_limited',
    });
    expect(body.chains[1]).toMatchObject({ state: 'not_started', lag_seconds: null, last_error: null });
    expect(body.rollups).toEqual({
      open_slices: 1,
      oldest_open_at: '2026-11-20T00:00:00Z',
      last_closed_at: null,
    });
  });
});
