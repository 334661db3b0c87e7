import fc from 'fast-check';
import { afterAll, describe, expect } from 'vitest';
import { trustedText } from '../../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { address } from '../../../../core/domain/account.ts';
import { EVIDENCE_LADDER } from '../../../../core/domain/evidence.ts';
import { NO_CHANNEL, PAYMENT_SCHEMES, SETTLEMENT_KINDS } from '../../../../core/domain/settlement.ts';
import { rowKey, type TestApi, testApi, walk } from '../../../kit/api.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { IS_PUSH, lengthOf } from '../../../kit/lengths.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  POLYGON,
  reportChain,
  settlement,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';

let engine: TestEngine;
let api: TestApi;

const OF = wallet(0xa1);
const USDC_OF_BASE = address('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913');
const OTHER_TOKEN = wallet(0xc4);
const USD = [1n, 10_000n, 10_001n, 2_500_000n, 7_000_000_123n];

const CHANNEL = `0x${'a5'.repeat(32)}` as const;
const METHODS = ['facilitator_relay', 'builder_code', 'not_examined', 'not_examined'] as const;

/** Three months, several rows a second, two of everything that a filter names. */
const ALL: readonly Settlement[] = Array.from({ length: 240 }, (_, at) => {
  const second = Math.floor(at / 4);
  return settlement({
    chain: at % 3 === 0 ? POLYGON : BASE,
    blockTime: NOON - second * 7 - (second > 20 ? 40 * 86_400 : 0) - (second > 40 ? 50 * 86_400 : 0),
    blockNumber: 1_000 - second,
    logIndex: at % 4,
    payer: at % 5 === 0 ? wallet(0xb0 + (at % 3)) : OF,
    payee: at % 5 === 0 ? OF : wallet(0xb0 + (at % 3)),
    asset: at % 2 === 0 ? USDC_OF_BASE : OTHER_TOKEN,
    amountUsdMicros: USD[at % USD.length] ?? 0n,
    facilitator: at % 7 === 0 ? 'acme' : '',
    method: METHODS[at % METHODS.length] ?? 'not_examined',
    kind: SETTLEMENT_KINDS[at % SETTLEMENT_KINDS.length] ?? 'payment',
    scheme: PAYMENT_SCHEMES[at % PAYMENT_SCHEMES.length] ?? 'unknown',
    channel: at % 9 === 0 ? CHANNEL : NO_CHANNEL,
  });
});

test.beforeAll(async ({ ownEngine }) => {
  engine = ownEngine;
  api = await testApi(engine.reader);
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
  // Versions must stay apart: an older one must answer for none that is newer.
  for (const table of ['settlements', 'wallet_rows'])
    await engine.writer.run({
      name: 'test-stop-merges',
      sql: trustedText(`SYSTEM STOP MERGES ${table}`),
      maxSeconds: 10,
    });
  // Every row was first graded and priced otherwise, and each sixth one was taken back at the end.
  await insertSettlements(
    engine.writer,
    ALL.map((row) => ({ ...row, facilitator: 'old', method: 'self_relayed' as const })),
  );
  await insertSettlements(engine.writer, ALL);
  await tombstone(
    engine.writer,
    ALL.filter((_, at) => at % 6 === 5),
  );
});
afterAll(() => api?.close());

const LIVE = ALL.filter((_, at) => at % 6 !== 5);

interface Filters {
  readonly chain: string | undefined;
  readonly since: number | undefined;
  readonly until: number | undefined;
  readonly asset: string | undefined;
  readonly facilitator: string | undefined;
  readonly tier: string | undefined;
  readonly min_usd: number | undefined;
  readonly max_usd: number | undefined;
  readonly kind: string | undefined;
  readonly scheme: string | undefined;
  readonly channel: string | undefined;
  readonly role: 'payer' | 'payee' | undefined;
  readonly counterparty: string | undefined;
}

/** What a list must show, newest first, by the plain reading of each filter. */
function expected(rows: readonly Settlement[], filters: Partial<Filters>): string[] {
  const wanted = (row: Settlement): boolean =>
    (filters.chain === undefined || row.chain === filters.chain) &&
    (filters.since === undefined || row.blockTime >= filters.since) &&
    (filters.until === undefined || row.blockTime < filters.until) &&
    (filters.asset === undefined || row.asset === filters.asset) &&
    (filters.facilitator === undefined || row.facilitator === filters.facilitator) &&
    (filters.tier === undefined || EVIDENCE_LADDER[row.method].tier === filters.tier) &&
    (filters.min_usd === undefined || row.amountUsdMicros >= BigInt(Math.round(filters.min_usd * 1e6))) &&
    (filters.max_usd === undefined || row.amountUsdMicros <= BigInt(Math.round(filters.max_usd * 1e6))) &&
    (filters.kind === undefined || row.kind === filters.kind) &&
    (filters.scheme === undefined || row.scheme === filters.scheme) &&
    (filters.channel === undefined || row.channel === filters.channel.toLowerCase()) &&
    (filters.role === undefined || row[filters.role] === OF) &&
    (filters.counterparty === undefined ||
      (row.payer === OF ? row.payee : row.payer) === filters.counterparty);
  return rows
    .filter(wanted)
    .sort(
      (a, b) =>
        b.blockTime - a.blockTime ||
        (a.chain < b.chain ? 1 : 0) - (a.chain > b.chain ? 1 : 0) ||
        b.blockNumber - a.blockNumber ||
        b.logIndex - a.logIndex,
    )
    .map((row) => `${row.chain}/${row.blockNumber}/${row.logIndex}/${row.txHash}`);
}

const queryOf = (filters: Partial<Filters>): string =>
  Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `&${name}=${value}`)
    .join('');

const maybe = <T>(...values: T[]) => fc.option(fc.constantFrom(...values), { nil: undefined, freq: 2 });
const times = [NOON + 100, NOON, NOON - 7, NOON - 70, NOON - 40 * 86_400 - 150, NOON - 90 * 86_400 - 350];
const usd = [0, 0.000001, 0.01, 0.010001, 2.5, 7000.000123];
const feedFilters = fc
  .record({
    chain: maybe(BASE, POLYGON),
    since: maybe(...times),
    until: maybe(...times),
    asset: maybe(USDC_OF_BASE, OTHER_TOKEN),
    facilitator: maybe('acme', 'old'),
    tier: maybe('proven', 'probable', 'ungraded'),
    min_usd: maybe(...usd),
    max_usd: maybe(...usd),
    kind: maybe('payment', 'refund'),
    scheme: maybe('exact', 'upto'),
  })
  .filter(
    ({ since, until, min_usd, max_usd }) =>
      (since ?? 0) < (until ?? Number.POSITIVE_INFINITY) && (min_usd ?? 0) <= (max_usd ?? 1e12),
  );
const walletFilters = fc
  .tuple(
    feedFilters,
    fc.record({
      role: maybe<'payer' | 'payee'>('payer', 'payee'),
      counterparty: maybe(wallet(0xb0), wallet(0xb2)),
    }),
  )
  .map(([feed, own]) => ({ ...feed, ...own }));

const ONE_BY_ONE: readonly Partial<Filters>[] = [
  {},
  ...[BASE, POLYGON].map((chain) => ({ chain })),
  ...times.flatMap((time) => [{ since: time }, { until: time }]),
  { since: NOON - 70, until: NOON - 7 },
  { since: NOON - 40 * 86_400 - 150, until: NOON - 70 },
  ...[USDC_OF_BASE, OTHER_TOKEN].map((asset) => ({ asset })),
  ...['acme', 'old'].map((facilitator) => ({ facilitator })),
  ...['proven', 'probable', 'ungraded'].map((tier) => ({ tier })),
  ...SETTLEMENT_KINDS.map((kind) => ({ kind })),
  ...PAYMENT_SCHEMES.map((scheme) => ({ scheme })),
  ...[CHANNEL, `0x${CHANNEL.slice(2).toUpperCase()}`, '0x00'].map((channel) => ({ channel })),
  ...usd.flatMap((dollars) => [{ min_usd: dollars }, { max_usd: dollars }]),
];
const OF_A_WALLET: readonly Partial<Filters>[] = [
  { role: 'payer' },
  { role: 'payee' },
  { counterparty: wallet(0xb0) },
  { role: 'payee', counterparty: wallet(0xb1) },
];

test.each([
  ['/v0/flows', ONE_BY_ONE],
  ['/v0/transactions', ONE_BY_ONE],
  [`/v0/entities/${OF}/settlements`, [...ONE_BY_ONE, ...OF_A_WALLET]],
])('each filter by itself selects what it names: %s', async (path, cases) => {
  for (const filters of cases) {
    const { rows } = await walk(api, path, { limit: 100, query: queryOf(filters) });
    expect([filters, rows.map(rowKey)]).toEqual([filters, expected(LIVE, filters)]);
  }
});

describe('a list shows exactly the live rows that match every filter, for any limit', () => {
  test.each(['/v0/flows', '/v0/transactions'])('%s', async (path) => {
    await fc.assert(
      fc.asyncProperty(feedFilters, fc.constantFrom(1, 7, 100), async (filters, limit) => {
        const { rows } = await walk(api, path, { limit, query: queryOf(filters) });
        expect(rows.map(rowKey)).toEqual(expected(LIVE, filters));
      }),
      { numRuns: 2 * lengthOf('engineProperties'), endOnFailure: true },
    );
  });

  test('the settlements of a wallet', async () => {
    await fc.assert(
      fc.asyncProperty(walletFilters, fc.constantFrom(1, 7, 100), async (filters, limit) => {
        const { rows } = await walk(api, `/v0/entities/${OF}/settlements`, {
          limit,
          query: queryOf(filters),
        });
        expect(rows.map(rowKey)).toEqual(expected(LIVE, filters));
      }),
      { numRuns: 2 * lengthOf('engineProperties'), endOnFailure: true },
    );
  });
});

test.skipIf(IS_PUSH)(
  'a filter that matches one row of a long log finds it, and a page reads a bounded part of the log',
  async () => {
    const busy = wallet(0x77);
    await engine.writer.run({
      name: 'test-busy-wallet',
      maxSeconds: 60,
      sql: trustedText(`INSERT INTO settlements (chain, block_number, block_time, log_index, payer, payee, asset, asset_symbol,
        amount_usd, method, ver, del)
      SELECT '${BASE}', number, toDateTime(${NOON} - 100 * 86400 - intDiv(number, 3), 'UTC'), number % 3, unhex('${busy.slice(2)}'),
        unhex('${wallet(0xb2).slice(2)}'), unhex('${wallet(0xc3).slice(2)}'), 'USDC',
        if(number = 499990, 5, 1), 'not_examined', 1, 0
      FROM numbers(600000)`),
    });
    const pages: { readonly rows: readonly unknown[]; readonly next_before: string | null }[] = [];
    const readRows: number[] = [];
    const counting = await testApi({
      ...engine.reader,
      rows: async (statement) => {
        const answer = await engine.reader.rows(statement);
        if (statement.name.startsWith('wallet-')) readRows.push(answer.readRows);
        return answer;
      },
    });
    for (
      let cursor = '';
      pages.at(-1)?.next_before !== null;
      cursor = `&before=${pages.at(-1)?.next_before}`
    ) {
      readRows.length = 0;
      const { body } = await counting.get(`/v0/entities/${busy}/settlements?min_usd=2${cursor}`);
      pages.push({ rows: body.settlements, next_before: body.next_before });
      expect(readRows.reduce((sum, rows) => sum + rows, 0)).toBeLessThan(1_000_000);
    }
    await counting.close();
    expect(pages.flatMap(({ rows }) => rows)).toMatchObject([{ block_number: 499_990, amount_usd: 5 }]);
    expect(pages.length).toBeGreaterThan(1);
  },
);

test.each([
  ['/v0/flows?role=payer', 'role'],
  [`/v0/flows?counterparty=${OF}`, 'counterparty'],
  ['/v0/transactions?role=payer', 'role'],
  [`/v0/transactions?counterparty=${OF}`, 'counterparty'],
  [`/v0/entities/${OF}/settlements?min_probability=0.5`, 'min_probability'],
  ['/v0/flows?since=2026-11-21&until=2026-11-20', 'until'],
  ['/v0/flows?since=2026-11-20&until=2026-11-20', 'until'],
  ['/v0/transactions?min_usd=2&max_usd=1', 'max_usd'],
  [`/v0/entities/${OF}/settlements?min_usd=2&max_usd=1`, 'max_usd'],
])('%s: 400 naming %s', async (url, parameter) => {
  const { status, body } = await api.get(url);
  expect({ status, code: body.code, parameter: body.parameter }).toEqual({
    status: 400,
    code: 'invalid_parameter',
    parameter,
  });
});

test('rows carry the decimals of their token; of an unknown token null', async () => {
  const { body } = await api.get('/v0/transactions?limit=100&chain=eip155:8453');
  const decimals = new Map(
    body.transactions.map((row: { asset: string; decimals: unknown }) => [row.asset, row.decimals]),
  );
  expect(decimals).toEqual(
    new Map([
      [USDC_OF_BASE, 6],
      [OTHER_TOKEN, null],
    ]),
  );
});
