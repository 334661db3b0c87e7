import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sql, text } from '../../../clickhouse/engine/sql.ts';
import { createClient } from '../../../client/index.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { GRAPH_DAYS_KEPT } from '../../../core/domain/payment-graph.ts';
import { graphPass } from '../../../ingest/graphs/pass.ts';
import { OPERATIONS } from '../../../src/operations/index.ts';
import { deriveAll, registerAgent } from '../../kit/agents.ts';
import { complaints } from '../../kit/answer-schema.ts';
import { ANONYMOUS } from '../../kit/api.ts';
import { listedItem } from '../../kit/bazaar.ts';
import { closeDays } from '../../kit/close-days.ts';
import { jobsOf } from '../../kit/jobs.ts';
import { testListings } from '../../kit/listings.ts';
import { call, connect } from '../../kit/mcp-speakers.ts';
import { rankWallets } from '../../kit/rank-wallets.ts';
import {
  BASE,
  hash,
  insertSettlements,
  NOON,
  nameFacilitator,
  ON_SOLANA,
  reportChain,
  SOLANA,
  settlement,
  solanaSettlement,
  wallet,
} from '../../kit/rows.ts';
import { savedOf } from '../../kit/saved.ts';
import { type Customer, readParquet, type SqlApi, sqlApi } from '../../kit/sql-api.ts';

/** A wallet of Solana on every surface that answers about wallets, beside one of an EVM chain. */

const { buyer: BUYER, seller: SELLER, feePayer: RELAYER, usdc: USDC, signature: SIGNATURE } = ON_SOLANA;

/** The same seller on the EVM chain. */
const ON_BASE = wallet(0xb2);
const RESOURCE = 'https://one.example/api';
const DAY_SECONDS = 86_400;
/** Longer than a graph is kept that was read while rows were written. */
const GRAPH_KEPT_SECONDS = 61;

let service: SqlApi;
let customer: Customer;

beforeAll(async () => {
  service = await sqlApi({ config: { chains: loadConfig({ env: { CHAINS: 'base,solana' } }).chains } });
  const { writer } = service.engine;
  await reportChain(writer, SOLANA);
  await reportChain(writer, BASE);
  await insertSettlements(writer, [
    solanaSettlement({ logIndex: 5_122, memo: 'Order 7, Ü' }),
    solanaSettlement({ blockNumber: 391_000_002, txHash: hash(1), payer: RELAYER, blockTime: NOON + 1 }),
    settlement({ payer: wallet(0xa1), payee: ON_BASE }),
  ]);
  await writer.run({
    name: 'test-payees',
    maxSeconds: 10,
    sql: sql`INSERT INTO catalogued_payees (chain, address, resource, source, ver)
      SELECT ${text(BASE)}, unhex(${text(ON_BASE.slice(2))}), ${text(RESOURCE)}, 'configured', 1
      UNION ALL SELECT ${text(SOLANA)}, tryBase58Decode(${text(SELLER)}), ${text(RESOURCE)}, 'configured', 1`,
  });
  await nameFacilitator(writer, 'payai', 'PayAI', RELAYER, SOLANA);
  const named = { version: '', skills: [], domains: [], name: 'agentWallet' };
  const services = [{ ...named, endpoint: `${SOLANA}:${SELLER}` }];
  await registerAgent(writer, { owner: ON_BASE, card: { name: 'One seller', services } });
  await deriveAll(writer);
  await closeDays(writer, [NOON]);
  customer = await service.customer();
});
afterAll(() => service.close());

const get = (path: string) => service.api.get(path);

describe('a seller that is paid on an EVM chain and on Solana', () => {
  test.each([
    [ON_BASE, { chain: SOLANA, wallet: SELLER, settlement_count: 2 }],
    [SELLER, { chain: BASE, wallet: ON_BASE, settlement_count: 1 }],
  ])('has one page with both: %s', async (of, other) => {
    const { body } = await get(`/v0/merchants/${of}`);
    const said = { basis: 'catalogue', by: RESOURCE, last_seen: expect.stringMatching(/^20/) };
    expect(body.linked_wallets).toEqual([{ ...other, ...said, usd: expect.any(Number) }]);
    // The card of its agent names both; only the wallet that the registry has gets the agent's name.
    expect(body.erc8004_agents).toMatchObject([{ name: 'One seller', wallet: ON_BASE }]);
    expect([body.erc8004_agents_total, body.name]).toEqual(of === ON_BASE ? [1, 'One seller'] : [0, null]);
  });

  test('is not said of a wallet that nobody names with another', async () => {
    expect((await get(`/v0/merchants/${BUYER}`)).body.linked_wallets).toEqual([]);
  });
});

describe('a wallet of Solana', () => {
  test('has its settlements, as both parties and by its transaction', async () => {
    const { body } = await get(`/v0/entities/${SELLER}/settlements?counterparty=${BUYER}`);
    expect(body.settlements).toMatchObject([
      { chain: SOLANA, tx_hash: SIGNATURE, payer: BUYER, payee: SELLER, asset: USDC, relayer: RELAYER },
    ]);
    expect((await get(`/v0/transactions/${SIGNATURE}`)).body).toMatchObject({
      memo: 'Order 7, Ü',
      settlements: [{ payer: BUYER }],
    });
    expect((await get(`/v0/flows?chain=${SOLANA}&asset=${USDC}`)).body.flows).toHaveLength(2);
    expect((await get('/v0/flows')).body.flows).toHaveLength(3);
  });

  const PAGES: readonly (readonly [operation: string, path: string, says: string])[] = [
    ['getMerchant', `/merchants/${SELLER}`, SELLER],
    ['getAgent', `/agents/${SELLER}`, SELLER],
    ['getEntitySummary', `/entities/${SELLER}/summary`, SELLER],
    ['listCounterparties', `/entities/${SELLER}/counterparties`, BUYER],
    ['listEntityChannels', `/entities/${SELLER}/channels`, 'channels'],
    ['listEntitySettlements', `/entities/${SELLER}/settlements?role=payee`, SIGNATURE],
    ['getPair', `/pairs/${BUYER}/${SELLER}`, BUYER],
    ['getGraph', `/graph?window=10&wallet=${BUYER}`, SELLER],
    ['getGraph', `/graph?window=10&chain=${SOLANA}`, '"name":"PayAI","name_source":"facilitator"'],
    ['listWallets', '/wallets', BUYER],
    ['listTransactions', `/transactions?chain=${SOLANA}`, SIGNATURE],
    ['getTransaction', `/transactions/${SIGNATURE}`, BUYER],
    ['listFacilitators', `/facilitators?chain=${SOLANA}&facilitator=payai`, RELAYER],
    ['listAgents', '/agents', `${SOLANA}:${SELLER}`],
    ['getCoverage', `/coverage?chain=${SOLANA}`, '"gasless_authorization":2'],
    ['getTelemetry', '/telemetry', SOLANA],
  ];

  test.each(PAGES)('is in the answer of %s as it is documented: %s', async (operation, path, says) => {
    const { status, body, text: answer } = await get(`/v0${path}`);
    expect(status, answer).toBe(200);
    expect(answer).toContain(says);
    const { output } = OPERATIONS.find(({ id }) => id === operation) ?? {};
    expect(complaints(output ?? {}, body)).toEqual([]);
  });

  test('is met once by a walk over all wallets, whose order is that of the texts, and has a picture', async () => {
    const met: string[] = [];
    for (let query = ''; ; ) {
      const { body } = await get(`/v0/wallets?limit=1${query}`);
      met.push(...body.wallets.map(({ wallet: one }: { wallet: string }) => one));
      if (body.next_before === null) break;
      query = `&before=${encodeURIComponent(body.next_before)}`;
    }
    expect(met).toEqual([BUYER, SELLER, RELAYER, wallet(0xa1), ON_BASE].toSorted().toReversed());
    expect((await get(`/og/wallets/${SELLER}.png`)).status).toBe(200);
  });

  test('is told from texts that are none', async () => {
    const refusals: readonly (readonly [string, RegExp])[] = [
      [SELLER.slice(0, -1), /base58/],
      [SELLER.replace('2', '0'), /"0" is no base58 digit/],
      [`${SELLER}AA`, /base58/],
      [SIGNATURE, /base58/],
      [wallet(0xa1).slice(0, -1), /39 hex digits, not 40/],
    ];
    for (const [text, message] of refusals) {
      const { status, body } = await get(`/v0/entities/${text}/settlements`);
      expect([status, body.detail]).toEqual([400, expect.stringMatching(message)]);
    }
  });
});

describe('in SQL', () => {
  const rows = async (sql: string, params: Readonly<Record<string, unknown>> = {}) =>
    (await customer.ask({ sql, params })).body;

  test.each([
    ['a literal', `SELECT tx_hash FROM settlements WHERE payer = '${BUYER}'`, {}],
    ['a parameter', 'SELECT tx_hash FROM settlements WHERE payer = {who:String}', { who: BUYER }],
    ['a list', `SELECT tx_hash FROM settlements WHERE payer IN ('${BUYER}', '${wallet(9)}')`, {}],
    ['a wallet', `SELECT tx_hash FROM wallet_settlements WHERE wallet = '${BUYER}'`, {}],
    ['a transaction', `SELECT tx_hash FROM settlements WHERE tx_hash = '${SIGNATURE}'`, {}],
    ['a memo', "SELECT tx_hash FROM settlements WHERE memo = 'Order 7, Ü'", {}],
  ])('%s finds its rows, without a warning', async (_, sql, params) => {
    expect(await rows(sql, params)).toMatchObject({ rows: [{ tx_hash: SIGNATURE }] });
    expect((await rows(sql, params)).meta.warnings ?? []).toEqual([]);
  });

  test.each([
    ['in lower case', `SELECT count() AS n FROM settlements WHERE payer = lower('${BUYER}')`],
    [
      'as a literal in lower case',
      `SELECT count() AS n FROM settlements WHERE payer = '${BUYER.toLowerCase()}'`,
    ],
  ])('an address %s matches nothing, and a warning says why', async (_, sql) => {
    const answer = await rows(sql);
    expect(JSON.stringify(answer)).toContain('the case counts');
  });

  test('addresses of both kinds are counted and joined alike', async () => {
    const { rows: found } = await rows(
      `SELECT payee, count() AS n, any(w.address = s.payee) AS is_wallet
       FROM settlements AS s LEFT JOIN wallets AS w ON w.address = s.payee GROUP BY payee ORDER BY n DESC, payee`,
    );
    expect(found).toMatchObject([
      { payee: SELLER, is_wallet: 1 },
      { payee: wallet(0xb2), is_wallet: 1 },
    ]);
  });
});

const ROWS = `SELECT payer, payee, tx_hash FROM settlements WHERE payee = '${SELLER}' ORDER BY block_number`;

describe('over every other surface its settlements have its accounts as the chain writes them', () => {
  const listen = async () => {
    const { app } = service.api;
    if (app.server.address() === null) await app.listen({ host: '127.0.0.1', port: 0 });
    return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`; // of a server that listens on a port
  };
  const key = () => customer.headers['x-api-key'] ?? '';
  const SURFACES: Readonly<Record<string, () => Promise<unknown>>> = {
    async MCP() {
      const client = await connect(`${await listen()}/mcp`, customer.headers);
      const { said } = await call(client, 'list_entity_settlements', { wallet: SELLER });
      await client.close();
      return said;
    },
    'the client package': async () =>
      createClient({ url: await listen(), key: key() }).listEntitySettlements({ wallet: SELLER }),
    'the ClickHouse interface': async () => {
      const headers = { 'x-clickhouse-key': key() };
      return (await fetch(`${await listen()}/clickhouse`, { method: 'POST', body: ROWS, headers })).text();
    },
    CSV: async () => (await customer.ask({ sql: ROWS, format: 'csv' })).text,
    async Parquet() {
      const { bytes } = await customer.ask({ sql: ROWS, format: 'parquet' });
      return readParquet(service.engine, bytes, 'payer String, payee String, tx_hash String');
    },
    'a job': async () => {
      const jobs = jobsOf(service.api, customer);
      return (await jobs.result((await jobs.succeeded({ sql: ROWS })).result.id, {})).body;
    },
    async 'a table of the organization'() {
      const [url, headers] = ['/v0/tables/sellers', { ...customer.headers, 'content-type': 'text/csv' }];
      await service.api.app.inject({ method: 'PUT', url, headers, payload: `seller\n${SELLER}\n` });
      const joined = ROWS.replace('WHERE', 'JOIN my.sellers AS own ON own.seller = payee WHERE');
      return (await customer.ask({ sql: joined })).body;
    },
    async 'a saved query'() {
      const author = await savedOf(service);
      await author.saved('paid-to', {
        sql: 'SELECT payer, payee, tx_hash FROM settlements WHERE payee = {who:String}',
        parameters: { who: { description: 'Who is paid.', default: BUYER } },
      });
      return (await author.call('paid-to', { who: SELLER })).body;
    },
  };

  test.each(Object.keys(SURFACES))('%s', async (surface) => {
    const text = JSON.stringify(await SURFACES[surface]?.());
    for (const account of [BUYER, SELLER, RELAYER, SIGNATURE]) expect(text).toContain(account);
  });
});

test('a listing with an offer on Solana has what was paid for it, in the directory, in SQL and in rankings, and is counted anew', async () => {
  const { writer } = service.engine;
  const listings = testListings(writer);
  const resource = 'https://sun.example/';
  const terms = { scheme: 'exact', network: SOLANA, asset: USDC, payTo: SELLER, amount: '99' };
  await listings.list('bazaar:one', [listedItem(resource, { item: { accepts: [terms] } })], NOON - 60);
  for (let paid = 1; paid <= 2; paid++) {
    const fields = {
      method: 'facilitator_relay',
      amount: 99n,
      amountUsdMicros: 99n,
      logIndex: paid,
    } as const;
    await insertSettlements(writer, [solanaSettlement(fields)]);
    await listings.derive();
    service.api.clock.advanceSeconds(2);
    const observed = { settlement_count_30d: paid, unique_payers_30d: 1, settled_usd_30d: (99 * paid) / 1e6 };
    const { endpoints } = (await get(`/v0/endpoints?pay_to=${SELLER}`)).body;
    expect(endpoints).toMatchObject([{ resource, price_usd: 0.000_099, observed }]);
    const sql = `SELECT chain, settlement_count_30d AS n FROM endpoints WHERE pay_to = '${SELLER}' AND 0 < ${paid}`;
    expect((await customer.ask({ sql })).body.rows).toEqual([{ chain: SOLANA, n: String(paid) }]);
  }
  await rankWallets(writer, { windows: ['30d'], chains: [BASE, SOLANA] });
  expect((await get('/v0/leaderboard?of=endpoints')).body.leaderboard).toMatchObject([
    { resource, pay_to: SELLER, value: 2 },
  ]);
});

test.each([
  ['merchants', SELLER],
  ['payers', BUYER],
])('rankings of %s have wallets of both kinds', async (of, wanted) => {
  await rankWallets(service.engine.writer, { windows: ['30d'], chains: [BASE, SOLANA] });
  const { status, text } = await get(`/v0/leaderboard?of=${of}`);
  expect(status, text).toBe(200);
  expect(text).toContain(of === 'merchants' ? wallet(0xb2) : wallet(0xa1));
  expect(text).toContain(wanted);
});

test.each(GRAPH_DAYS_KEPT)(
  'graphs of %s whole days, added up before or when they are asked for, have both kinds',
  async (days) => {
    const { clock } = service.api;
    const { writer } = service.engine;
    if (days === GRAPH_DAYS_KEPT[0]) {
      await closeDays(writer, [NOON]);
      clock.advanceSeconds(DAY_SECONDS);
    }
    const graph = async (query: string) => {
      const { body } = await get(`/v0/graph?days=${days}${query}`);
      return body.edges
        .map(({ payer, payee }: { payer: string; payee: string }) => `${payer} ${payee}`)
        .toSorted();
    };
    const around = [`${BUYER} ${SELLER}`, `${RELAYER} ${SELLER}`].toSorted();
    const all = [...around, `${wallet(0xa1)} ${ON_BASE}`].toSorted();
    const asked = async () => [
      await graph(''),
      await graph(`&wallet=${SELLER}`),
      await graph(`&chain=${SOLANA}`),
    ];
    expect(await asked()).toEqual([all, around, around]);
    expect(await graphPass({ writer, chains: [BASE, SOLANA], clock }, days)).toBe('done');
    clock.advanceSeconds(GRAPH_KEPT_SECONDS);
    expect(await asked()).toEqual([all, around, around]);
  },
);

describe('on a dashboard', () => {
  beforeAll(async () => {
    // The engine reads its own clock for the days of a panel, so the test counts payments of a wallet that no other row pays.
    const blockTime = Math.floor(Date.now() / 1_000) - 60;
    await insertSettlements(service.engine.writer, [
      solanaSettlement({ blockTime, payee: RELAYER, logIndex: 3 }),
    ]);
  });

  test.each([
    ['seller/panels/figures', `&wallet=${RELAYER}`, '"0.01", "0", "1", "0", "1", "0"'],
    ['seller/panels/volume', `&wallet=${RELAYER}`, '0.01'],
    ['seller/panels/payers', `&wallet=${RELAYER}`, BUYER],
    ['seller/panels/prices', `&wallet=${RELAYER}`, '$0.01'],
    ['home/panels/sellers', '', RELAYER],
    ['home/panels/payments', '', RELAYER],
  ])('%s shows what a seller on Solana was paid', async (panel, query, says) => {
    const path = `/v0/dashboards/index/${panel}?period=24h&chain=${SOLANA}${query}`;
    const { status, text: answer } = await service.api.get(path, ANONYMOUS);
    expect(status, answer).toBe(200);
    expect(answer).toContain(says);
  });
});
