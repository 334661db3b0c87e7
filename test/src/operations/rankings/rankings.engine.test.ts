import fc from 'fast-check';
import { describe, expect } from 'vitest';
import { sql, trustedText } from '../../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { type Address, address } from '../../../../core/domain/account.ts';
import { PASS_LIMITS } from '../../../../ingest/rings/edges.ts';
import { ringPass } from '../../../../ingest/rings/pass.ts';
import { type TestApi, testApi } from '../../../kit/api.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { IS_PUSH, lengthOf } from '../../../kit/lengths.ts';
import {
  type NaiveQuery,
  type NaiveRow,
  naiveFacilitators,
  naiveRanking,
} from '../../../kit/oracle/rankings.ts';
import { rankWallets } from '../../../kit/rank-wallets.ts';
import { rollUp } from '../../../kit/roll-up.ts';
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

/** Truth: every live settlement counted one by one (test/kit/oracle/rankings.ts). */

let engine: TestEngine;
let api: TestApi;

const DAY = 86_400;
const HOUR = 3_600;

test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
test.beforeEach(async ({ api: fresh }) => {
  api = fresh;
  await empty();
});

async function empty(): Promise<void> {
  await emptyTables(engine.writer);
  await reportChain(engine.writer, BASE);
  await reportChain(engine.writer, POLYGON);
}

/** With nothing cached. */
async function freshApi(): Promise<void> {
  await api.close();
  api = await testApi(engine.reader);
}

interface Row extends NaiveRow {
  readonly sparkline: readonly number[];
  readonly change: number | null;
  readonly name: string | null;
  readonly name_source: string | null;
}

async function walkRanking(query: string, limit = 100): Promise<Row[]> {
  const rows: Row[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const { status, body, text } = await api.get(`/v0/leaderboard?${query}&limit=${limit}&offset=${offset}`);
    if (status !== 200) throw new Error(`${status}: ${text}`);
    rows.push(...body.leaderboard);
    offset = body.next_offset;
  }
  return rows;
}

const recounted = (rows: readonly Row[]) =>
  rows.map(({ rank, previous_rank, wallet: of, value, previous_value, figures, data_quality }) => ({
    rank,
    previous_rank,
    wallet: of,
    value,
    previous_value,
    figures,
    data_quality,
  }));

const findRings = () => ringPass(engine.writer, { nowMs: NOON * 1_000, limits: PASS_LIMITS });

const WINDOW_SECONDS = { '24h': DAY, '7d': 7 * DAY, '30d': 30 * DAY, '90d': 90 * DAY, all: null } as const;
type AnyWindow = keyof typeof WINDOW_SECONDS;

/** Few wallets, so that self-payments, ways back and rings are common; ages on both sides of every border of a window. */
const AGES = [
  0,
  5 * HOUR,
  DAY - 1,
  DAY,
  DAY + HOUR,
  2 * DAY,
  6 * DAY,
  7 * DAY + 1,
  13 * DAY,
  20 * DAY,
  45 * DAY,
  80 * DAY,
  120 * DAY,
];
/** So that most of the indexes below are ranked in several ranges. */
const PAIRS_PER_RANGE = 8;
const payments = fc.array(
  fc.record({
    payer: fc.integer({ min: 0, max: 5 }),
    payee: fc.integer({ min: 3, max: 8 }),
    age: fc.constantFrom(...AGES),
    usd: fc.constantFrom(1n, 999_999n, 1_000_000n, 2_500_000n, 40_000_000n, 10n ** 18n - 1n),
    chain: fc.constantFrom(BASE, BASE, POLYGON),
    isProven: fc.boolean(),
    fate: fc.constantFrom('stands', 'stands', 'stands', 'taken_back', 'regraded', 'deposit'),
    times: fc.integer({ min: 1, max: 4 }),
  }),
  { minLength: 1, maxLength: 30 },
);
type Payment =
  typeof payments extends fc.Arbitrary<infer Many> ? (Many extends (infer One)[] ? One : never) : never;

/** Money that goes round through three wallets; each also deals with others. */
const RING: readonly Payment[] = [3, 4, 5].map((payer) => ({
  payer,
  payee: payer === 5 ? 3 : payer + 1,
  age: 2 * DAY,
  usd: 2_500_000n,
  chain: BASE,
  isProven: true,
  fate: 'stands',
  times: 2,
}));

/** Two facilitators prove; one of them relays some that are not proven as well. */
function relayedBy(payer: number, isProven: boolean, usd: bigint): string {
  if (isProven) return payer % 2 === 0 ? 'coinbase' : 'other';
  return usd === 1n ? 'coinbase' : '';
}

/** Spread over all addresses, because a pass ranks them range by range. */
function party(number: number): Address {
  const first = (number * 7_001 + 3_000).toString(16).padStart(4, '0');
  return address(`0x${first}${number.toString(16).padStart(36, '0')}`);
}

function rowsOf(given: readonly Payment[]): { readonly row: Settlement; readonly fate: Payment['fate'] }[] {
  return given.flatMap(({ payer, payee, age, usd, chain, isProven, fate, times }, slot) =>
    Array.from({ length: times }, (_, time) => ({
      fate,
      row: settlement({
        chain,
        payer: party(payer),
        payee: party(payee),
        blockTime: NOON - age,
        blockNumber: 20_000_000 - age,
        logIndex: slot * 10 + time,
        amountUsdMicros: usd,
        method: isProven ? 'facilitator_relay' : 'gasless_authorization',
        facilitator: relayedBy(payer, isProven, usd),
      }),
    })),
  );
}

async function live(given: readonly Payment[]): Promise<Settlement[]> {
  const rows = rowsOf(given);
  await insertSettlements(
    engine.writer,
    rows.map(({ row }) => row),
  );
  await rollUp(engine.writer, { below: NOON - (NOON % DAY) });
  const fated = (fate: Payment['fate']) => rows.filter((one) => one.fate === fate).map(({ row }) => row);
  const regraded = fated('regraded').map(
    (row): Settlement => ({ ...row, method: 'facilitator_relay', facilitator: 'coinbase' }),
  );
  const deposits = fated('deposit').map(
    (row): Settlement => ({ ...row, method: 'channel_move', kind: 'deposit', facilitator: '' }),
  );
  await tombstone(engine.writer, fated('taken_back'));
  await insertSettlements(engine.writer, [...regraded, ...deposits]);
  return [...fated('stands'), ...regraded];
}

async function ringsNow(): Promise<Address[][]> {
  const { rows } = await engine.writer.rows({
    name: 'test-rings',
    sql: trustedText(
      'SELECT DISTINCT members FROM wallet_rings WHERE gen = (SELECT max(gen) FROM ring_passes)',
    ),
    maxSeconds: 10,
    maxRows: 100_000,
  });
  return rows.map(([members]) => members as Address[]);
}

/** All of time has no growth. */
const possible = (by: NaiveQuery['by'], window: AnyWindow): NaiveQuery['by'] =>
  window === 'all' && by === 'growth' ? 'organic_usd' : by;

async function facilitatorsBy(query: string) {
  const { status, body, text } = await api.get(`/v0/leaderboard?${query}`);
  if (status !== 200) throw new Error(text);
  const { leaderboard } = body as { leaderboard: ReturnType<typeof naiveFacilitators> };
  return leaderboard.map(({ rank, previous_rank, facilitator, value, previous_value, figures }) => ({
    rank,
    previous_rank,
    facilitator,
    value,
    previous_value,
    figures,
  }));
}

/** Of wallets and of facilitators, on one chain and on all. */
async function expectRecounted(
  window: AnyWindow,
  rows: readonly Settlement[],
  rings: readonly Address[][],
  asked: Omit<NaiveQuery, 'chains'>,
): Promise<void> {
  const { side, by, minCounterparties, includeFlagged } = asked;
  const of = side === 'payee' ? 'merchants' : 'payers';
  const flags = `min_counterparties=${minCounterparties}&include_flagged=${includeFlagged}`;
  for (const chain of [BASE, 'all'] as const) {
    const chains = chain === 'all' ? [BASE, POLYGON] : [chain];
    const shown = await walkRanking(`of=${of}&by=${by}&window=${window}&chain=${chain}&${flags}`, 3);
    expect(recounted(shown)).toEqual(naiveRanking(rows, rings, { ...asked, chains }));
    const query = `of=facilitators&by=${by}&window=${window}&chain=${chain}&min_counterparties=${minCounterparties}`;
    expect(await facilitatorsBy(query)).toEqual(naiveFacilitators(rows, rings, { ...asked, chains }));
  }
}

describe('rankings of wallets', () => {
  test('equal a naive recount with self-payments, rings and ways back, after a reorg and a regrade', async () => {
    await fc.assert(
      fc.asyncProperty(
        payments,
        fc.constantFrom<AnyWindow>('24h', '7d', '30d', '90d', 'all'),
        fc.constantFrom<NaiveQuery['by']>(
          'organic_usd',
          'proven_usd',
          'settlements',
          'counterparties',
          'growth',
        ),
        fc.constantFrom<NaiveQuery['side']>('payee', 'payer'),
        fc.constantFrom(0, 2),
        fc.boolean(),
        fc.boolean(),
        async (some, window, order, side, minCounterparties, includeFlagged, isRinged) => {
          const given = [...some, ...RING.filter(() => isRinged)];
          const by = possible(order, window);
          await empty();
          const rows = await live(given);
          await findRings();
          const rings = await ringsNow();
          expect(rings.length > 0 || !isRinged).toBe(true);
          for (const isRolledUp of IS_PUSH ? [true] : [false, true]) {
            if (isRolledUp) await rollUp(engine.writer, {});
            await rankWallets(engine.writer, { windows: [window], pairsPerRange: PAIRS_PER_RANGE });
            await freshApi();
            await expectRecounted(window, rows, rings, {
              side,
              by,
              windowSeconds: WINDOW_SECONDS[window],
              nowSeconds: NOON,
              minCounterparties,
              includeFlagged,
            });
          }
        },
      ),
      { numRuns: lengthOf('engineProperties'), endOnFailure: true },
    );
  }, 240_000);
});

const sale = (fields: Partial<Settlement> & { readonly age?: number }): Settlement => {
  nextBlock += 1;
  return settlement({ blockNumber: nextBlock, blockTime: NOON - (fields.age ?? HOUR), ...fields });
};
let nextBlock = 50_000;

describe('a row', () => {
  test('leaves out payments between members of a ring whose other payments lie before the window', async () => {
    const [buyer, ring] = [wallet(0x301), [wallet(0x311), wallet(0x312), wallet(0x313)] as const];
    const paid = ([payer, payee]: readonly [Address, Address], age: number) =>
      sale({ payer, payee, age, amountUsdMicros: 40_000_000n });
    await insertSettlements(engine.writer, [
      // Rings are looked for in whole days before today, among pairs with two payments.
      ...[20 * HOUR, 3 * DAY].map((age) => paid([ring[0], ring[1]], age)),
      ...[3 * DAY, 3 * DAY].map((age) => paid([ring[1], ring[2]], age)),
      ...[4 * DAY, 4 * DAY].map((age) => paid([ring[2], ring[0]], age)),
      sale({ payer: buyer, payee: ring[1], amountUsdMicros: 1_000_000n }),
    ]);
    await findRings();
    expect(await ringsNow()).toHaveLength(1);
    await rankWallets(engine.writer, { windows: ['24h'] });
    const rows = await walkRanking('of=merchants&window=24h&include_flagged=true');
    expect(rows.map((row) => [row.wallet, row.figures['organic_usd']])).toEqual([[ring[1], 1]]);
  });

  test.skipIf(IS_PUSH)('has its rank of the window before, the change, and the window in parts', async () => {
    const [first, second] = [wallet(0x301), wallet(0x302)];
    await insertSettlements(engine.writer, [
      ...[0, 1, 2].map((days) =>
        sale({ payee: first, payer: wallet(0x401), age: days * DAY + HOUR, amountUsdMicros: 2_000_000n }),
      ),
      sale({ payee: second, payer: wallet(0x401), age: 5 * DAY, amountUsdMicros: 4_000_000n }),
      sale({ payee: second, payer: wallet(0x402), age: 9 * DAY, amountUsdMicros: 8_000_000n }),
      sale({ payee: first, payer: wallet(0x402), age: 10 * DAY, amountUsdMicros: 4_000_000n }),
    ]);
    await rollUp(engine.writer, {});
    await rankWallets(engine.writer, { windows: ['24h', '7d', 'all'] });
    const { body } = await api.get('/v0/merchants?window=7d');
    expect(body.meta).toMatchObject({
      of: 'merchants',
      by: 'organic_usd',
      window: '7d',
      ranked_at: '2026-11-20T12:00:00Z',
      sparkline: { from: '2026-11-14T00:00:00Z', step_seconds: DAY },
    });
    const shown = body.merchants.map((row: Row) => [
      row.wallet,
      row.rank,
      row.previous_rank,
      row.change,
      row.sparkline,
    ]);
    expect(shown).toEqual([
      [first, 1, 2, 0.5, [0, 0, 0, 0, 2, 2, 2]],
      [second, 2, 1, -0.5, [0, 4, 0, 0, 0, 0, 0]],
    ]);
    const hours = await api.get('/v0/merchants?window=24h&by=settlements');
    expect(hours.body.merchants[0].sparkline).toEqual([...Array(23).fill(0), 1]);
    const all = await api.get('/v0/merchants?window=all');
    expect(all.body.merchants[0]).toMatchObject({
      wallet: second,
      value: 12,
      previous_rank: null,
      change: null,
    });
    expect(all.body.merchants[0].sparkline.reduce((sum: number, one: number) => sum + one, 0)).toBe(12);
  });

  test('adds up in its sparkline to what ranks, on days that are rolled up and on those that are not', async () => {
    const [shop, friend] = [wallet(0x311), wallet(0x312)];
    const dollar = {
      amountUsdMicros: 1_000_000n,
      method: 'facilitator_relay',
      facilitator: 'coinbase',
    } as const;
    await insertSettlements(engine.writer, [
      ...[2 * DAY, HOUR].flatMap((age) => [
        sale({ ...dollar, payee: shop, payer: wallet(0x411), age, amountUsdMicros: 3_000_000n }),
        sale({ ...dollar, payee: shop, payer: friend, age }),
        sale({ ...dollar, payee: shop, payer: shop, age }),
      ]),
      sale({ ...dollar, payee: friend, payer: shop, age: 3 * DAY }),
    ]);
    await rollUp(engine.writer, { below: NOON - (NOON % DAY) });
    await rankWallets(engine.writer, { windows: ['7d'] });
    for (const [of, by, line] of [
      ['merchants', 'organic_usd', [0, 0, 0, 0, 3, 0, 3]],
      ['merchants', 'proven_usd', [0, 0, 0, 0, 3, 0, 3]],
      ['merchants', 'settlements', [0, 0, 0, 0, 1, 0, 1]],
      ['payers', 'organic_usd', [0, 0, 0, 0, 3, 0, 3]],
    ] as const) {
      for (const chain of [BASE, 'all']) {
        const [row] = await walkRanking(`of=${of}&by=${by}&window=7d&chain=${chain}&include_flagged=true`);
        expect([of, by, chain, row?.sparkline]).toEqual([of, by, chain, line]);
      }
    }
  });

  test.skipIf(IS_PUSH)('names its wallet with the source of the name', async () => {
    const payee = wallet(0x303);
    await insertSettlements(engine.writer, [sale({ payee })]);
    await rankWallets(engine.writer);
    await engine.writer.run({
      name: 'test-name',
      sql: sql`INSERT INTO catalogued_payees (chain, address, name, resource, source, ver, del)
        SELECT ${trustedText(`'${BASE}', unhex('${payee.slice(2)}')`)}, 'Weather', 'https://weather.example', 'config', 1, 0`,
      maxSeconds: 10,
    });
    await freshApi();
    const [row] = await walkRanking('of=merchants');
    expect(row).toMatchObject({ wallet: payee, name: 'Weather', name_source: 'operator_catalogue' });
  });
});

describe('a kept ranking', () => {
  const query = '/v0/leaderboard?of=merchants&window=7d&limit=2';

  test.skipIf(IS_PUSH)(
    'gives pages that fit together, and the same tag to every caller, while a new pass is published',
    async () => {
      const merchants = [1, 2, 3, 4].map((at) => wallet(0x500 + at));
      await insertSettlements(
        engine.writer,
        merchants.map((payee, at) =>
          sale({ payee, payer: wallet(0x600 + at), amountUsdMicros: BigInt(9 - at) * 1_000_000n }),
        ),
      );
      await rankWallets(engine.writer, { windows: ['7d'] });
      const first = await api.get(query);
      await insertSettlements(engine.writer, [
        sale({ payee: merchants[3] ?? wallet(0), payer: wallet(0x700), amountUsdMicros: 50_000_000n }),
      ]);
      await rankWallets(engine.writer, { windows: ['7d'], nowMs: (NOON + 9) * 1_000 });
      api.clock.advanceSeconds(9);
      const second = await api.get(`${query}&offset=2`);
      expect(
        [...first.body.leaderboard, ...second.body.leaderboard].map(({ wallet: of }: Row) => of),
      ).toEqual(merchants);
      expect(second.body.meta.ranked_at).toBe(first.body.meta.ranked_at);
      const again = await api.get(query, { 'if-none-match': String(first.headers['etag']) });
      expect(again.status).toBe(304);
      api.clock.advanceSeconds(11);
      const renewed = await api.get(query, { 'if-none-match': String(first.headers['etag']) });
      expect([renewed.status, renewed.body.leaderboard[0].wallet]).toEqual([200, merchants[3]]);
      expect(renewed.body.meta.ranked_at).toBe('2026-11-20T12:00:09Z');
    },
  );

  test('is read once for many requests at the same time, its sparklines too, and not again until the next pass', async () => {
    await insertSettlements(engine.writer, [sale({})]);
    await rankWallets(engine.writer, { windows: ['7d'] });
    const asked: string[] = [];
    const counting = await testApi({
      ...engine.reader,
      rows: (statement, signal) => {
        if (statement.name.startsWith('ranking-')) asked.push(statement.name);
        return engine.reader.rows(statement, signal);
      },
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => counting.get(query)));
    expect(answers.map(({ body }) => body.leaderboard.length)).toEqual(Array(20).fill(1));
    const once = ['ranking-pass 7d', 'ranking-merchants', 'ranking-merchants-sparklines'];
    expect(asked).toEqual(once);
    counting.clock.advanceSeconds(60);
    await counting.get(query);
    expect(asked).toEqual([...once, 'ranking-pass 7d']);
    await counting.close();
  });

  test.skipIf(IS_PUSH)('is empty and says so until the first pass has ended', async () => {
    await insertSettlements(engine.writer, [sale({})]);
    const { status, body } = await api.get('/v0/merchants');
    expect({ status, rows: body.merchants, warnings: body.meta.warnings }).toEqual({
      status: 200,
      rows: [],
      warnings: ['rankings_not_computed'],
    });
    await rankWallets(engine.writer);
    api.clock.advanceSeconds(20);
    const ranked = await api.get('/v0/merchants');
    expect([ranked.body.merchants.length, ranked.body.meta.warnings]).toEqual([1, undefined]);
  });
});

test.skipIf(IS_PUSH)(
  'facilitators are ranked by the organic payments that they relayed, in parts of the window',
  async () => {
    const by = (facilitator: string, fields: Partial<Settlement> & { readonly age?: number } = {}) =>
      sale({ facilitator, method: 'facilitator_relay', amountUsdMicros: 1_000_000n, ...fields });
    await insertSettlements(engine.writer, [
      ...[1, 2, 3].map((at) => by('busy', { payee: wallet(0x800 + at) })),
      by('rich', { amountUsdMicros: 90_000_000n }),
      by('rich', { amountUsdMicros: 80_000_000n, age: 8 * DAY }),
      ...[1, 2, 3, 4].map(() => by('selfish', { payer: wallet(0x900), payee: wallet(0x900) })),
      sale({}),
    ]);
    await rankWallets(engine.writer);
    const ids = async (query: string) => {
      const { body, text, status } = await api.get(`/v0/leaderboard?of=facilitators&${query}`);
      if (status !== 200) throw new Error(text);
      return body.leaderboard.map((row: { facilitator: string; value: number }) => [
        row.facilitator,
        row.value,
      ]);
    };
    expect(await ids('window=7d')).toEqual([
      ['busy', 3],
      ['rich', 1],
    ]);
    expect(await ids('window=7d&by=growth')).toEqual([
      ['rich', 10],
      ['busy', 3],
    ]);
    expect(await ids('window=all')).toEqual([
      ['busy', 3],
      ['rich', 2],
    ]);
    const { body } = await api.get('/v0/leaderboard?of=facilitators&window=7d');
    expect(body.leaderboard[0]).toMatchObject({
      previous_rank: null,
      sparkline: [0, 0, 0, 0, 0, 0, 3],
    });
    expect(body.leaderboard[1]).toMatchObject({ previous_rank: 1, previous_value: 1, change: 0 });
  },
);

describe('a combination that has no meaning is refused with those that have', () => {
  test.each([
    ['by=growth&window=all&of=payers', 'window', 'possible: 24h, 7d, 30d, 90d.'],
    [
      'by=score&of=merchants',
      'by',
      'possible: organic_usd, proven_usd, settlements, counterparties, growth.',
    ],
    [
      'by=score&of=facilitators',
      'by',
      'possible: settlements, organic_usd, proven_usd, counterparties, growth.',
    ],
    ['of=endpoints&by=growth', 'by', 'possible: settlements, counterparties.'],
    ['window=7d', 'window', 'possible: all.'],
    ['of=payers&capability=web-search', 'capability', 'possible: agents, merchants, endpoints.'],
    ['of=merchants&include_spam=1', 'include_spam', 'by=score, paid_score'],
    ['of=merchants&offset=10001', 'offset', 'reaches to 10000'],
    ['of=everyone', 'of', 'agents, merchants, payers, facilitators, endpoints, capabilities'],
    ['of=merchants&window=1h', 'window', '24h, 7d, 30d, 90d, all'],
    ['of=merchants&min_counterparties=-1', 'min_counterparties', '0 to 1000000'],
  ])('%s', async (query, parameter, possible) => {
    const { status, body } = await api.get(`/v0/leaderboard?${query}`);
    expect({ status, parameter: body.parameter }).toEqual({ status: 400, parameter });
    expect(body.detail).toContain(possible);
  });
});
