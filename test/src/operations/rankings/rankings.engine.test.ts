import fc from 'fast-check';
import { describe, expect } from 'vitest';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import type { Address } from '../../../../core/domain/address.ts';
import { PASS_LIMITS } from '../../../../ingest/rings/edges.ts';
import { ringPass } from '../../../../ingest/rings/pass.ts';
import { type TestApi, testApi } from '../../../kit/api.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import { lengthOf } from '../../../kit/lengths.ts';
import { type NaiveQuery, type NaiveRow, naiveRanking } from '../../../kit/oracle/rankings.ts';
import { rollUp } from '../../../kit/roll-up.ts';
import { BASE, insertSettlements, NOON, POLYGON, reportChain, settlement, tombstone, wallet } from '../../../kit/rows.ts';

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
const AGES = [0, 5 * HOUR, DAY - 1, DAY, DAY + HOUR, 2 * DAY, 6 * DAY, 7 * DAY + 1, 13 * DAY, 20 * DAY, 45 * DAY, 80 * DAY, 120 * DAY];
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
type Payment = typeof payments extends fc.Arbitrary<infer Many> ? (Many extends (infer One)[] ? One : never) : never;

/** Money that goes round through three wallets, each of which also deals with others. */
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

function rowsOf(given: readonly Payment[]): { readonly row: Settlement; readonly fate: Payment['fate'] }[] {
  return given.flatMap(({ payer, payee, age, usd, chain, isProven, fate, times }, slot) =>
    Array.from({ length: times }, (_, time) => ({
      fate,
      row: settlement({
        chain,
        payer: wallet(0x100 + payer),
        payee: wallet(0x100 + payee),
        blockTime: NOON - age,
        blockNumber: 20_000_000 - age,
        logIndex: slot * 10 + time,
        amountUsdMicros: usd,
        method: isProven ? 'facilitator_relay' : 'gasless_authorization',
        facilitator: isProven ? 'coinbase' : '',
      }),
    })),
  );
}

async function live(given: readonly Payment[]): Promise<Settlement[]> {
  const rows = rowsOf(given);
  await insertSettlements(engine.writer, rows.map(({ row }) => row));
  await rollUp(engine.writer, { below: NOON - (NOON % DAY) });
  const fated = (fate: Payment['fate']) => rows.filter((one) => one.fate === fate).map(({ row }) => row);
  const regraded = fated('regraded').map((row): Settlement => ({ ...row, method: 'facilitator_relay', facilitator: 'coinbase' }));
  const deposits = fated('deposit').map((row): Settlement => ({ ...row, method: 'channel_deposit', facilitator: '' }));
  await tombstone(engine.writer, fated('taken_back'));
  await insertSettlements(engine.writer, [...regraded, ...deposits]);
  return [...fated('stands'), ...regraded];
}

async function ringsNow(): Promise<Address[][]> {
  const { trustedText } = await import('../../../../clickhouse/engine/sql.ts');
  const { rows } = await engine.writer.rows({
    name: 'test-rings',
    sql: trustedText('SELECT DISTINCT members FROM wallet_rings WHERE gen = (SELECT max(gen) FROM ring_passes)'),
    maxSeconds: 10,
    maxRows: 100_000,
  });
  return rows.map(([members]) => members as Address[]);
}

describe('rankings of wallets', () => {
  test('equal a naive recount with self-payments, rings and ways back, after a reorg and a regrade', async () => {
    await fc.assert(
      fc.asyncProperty(
        payments,
        fc.constantFrom<AnyWindow>('24h', '7d', '30d', '90d', 'all'),
        fc.constantFrom<NaiveQuery['by']>('organic_usd', 'proven_usd', 'settlements', 'counterparties', 'growth'),
        fc.constantFrom<NaiveQuery['side']>('payee', 'payer'),
        fc.constantFrom(0, 2),
        fc.boolean(),
        fc.boolean(),
        async (some, window, order, side, minCounterparties, includeFlagged, isRinged) => {
          const given = isRinged ? [...some, ...RING] : some;
          const by = window === 'all' && order === 'growth' ? 'organic_usd' : order;
          await empty();
          const rows = await live(given);
          await findRings();
          const rings = await ringsNow();
          expect(rings.length > 0 || !isRinged).toBe(true);
          const of = side === 'payee' ? 'merchants' : 'payers';
          const flags = `min_counterparties=${minCounterparties}&include_flagged=${includeFlagged}`;
          for (const isRolledUp of [false, true]) {
            if (isRolledUp) await rollUp(engine.writer, {});
            await freshApi();
            for (const chain of [BASE, 'all'] as const) {
              const truth = naiveRanking(rows, rings, {
                side,
                by,
                windowSeconds: WINDOW_SECONDS[window],
                nowSeconds: NOON,
                chains: chain === 'all' ? [BASE, POLYGON] : [chain],
                minCounterparties,
                includeFlagged,
              });
              const shown = await walkRanking(`of=${of}&by=${by}&window=${window}&chain=${chain}&${flags}`, 3);
              expect(recounted(shown)).toEqual(truth);
            }
          }
        },
      ),
      { numRuns: lengthOf('engineProperties'), endOnFailure: true },
    );
  }, 240_000);
});
