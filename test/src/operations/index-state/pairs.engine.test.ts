import { beforeEach, describe, expect } from 'vitest';
import { sql } from '../../../../clickhouse/engine/sql.ts';
import type { TimeRange } from '../../../../clickhouse/tables/coverage.ts';
import type { Settlement } from '../../../../clickhouse/tables/settlements.ts';
import { retractAbove } from '../../../../ingest/write/retract.ts';
import {
  PAIR_SETTINGS,
  type PairFilter,
  pairsBetween,
} from '../../../../src/operations/index-state/pairs.ts';
import { readCoverage } from '../../../../src/operations/index-state/rollups.ts';
import { closeDays, closeHours } from '../../../kit/close-days.ts';
import { emptyTables } from '../../../kit/empty-tables.ts';
import type { TestEngine } from '../../../kit/engine.ts';
import { test } from '../../../kit/fixtures.ts';
import {
  BASE,
  insertSettlements,
  NOON,
  nextVer,
  POLYGON,
  settlement,
  tombstone,
  wallet,
} from '../../../kit/rows.ts';

const DAY = 86_400;
const HOUR = 3_600;
const MIDNIGHT = NOON - DAY / 2;
const versions = { next: nextVer, raise: () => undefined };

let engine: TestEngine;
test.beforeAll(async ({ engine: ofFile }) => {
  engine = ofFile;
});
beforeEach(async () => {
  await emptyTables(engine.writer);
});

/** Five days before today's midnight and half of today; few wallets, both chains, every kind of row. */
function history(count = 160): Settlement[] {
  return Array.from({ length: count }, (_, at) =>
    settlement({
      chain: at % 3 === 0 ? POLYGON : BASE,
      blockNumber: 10_000 + at,
      blockTime: MIDNIGHT - 5 * DAY + Math.floor((at * 5.5 * DAY) / count),
      payer: wallet(1 + (at % 5)),
      payee: wallet(3 + (at % 4)),
      amountUsdMicros: BigInt(1_000 + at * 77),
      method: methodOf(at),
    }),
  );
}

function methodOf(at: number): Settlement['method'] {
  if (at % 7 === 6) return 'channel_move';
  return at % 2 === 0 ? 'facilitator_relay' : 'self_relayed';
}

interface Sum {
  readonly count: number;
  readonly usd: bigint;
  readonly proven: number;
  readonly provenUsd: bigint;
  readonly days: ReadonlySet<number>;
  readonly first: number;
  readonly last: number;
}

function counts(row: Settlement, { from, to }: TimeRange, filter: PairFilter): boolean {
  const isIn = row.blockTime >= from && (to === null || row.blockTime < to);
  const fields = ['payer', 'payee', 'chain'] as const;
  const isWanted = fields.every((field) => filter[field] === undefined || filter[field] === row[field]);
  return isIn && isWanted && row.kind === 'payment';
}

/** The same question, answered row by row. */
function recount(rows: readonly Settlement[], span: TimeRange, filter: PairFilter): string[] {
  const sums = new Map<string, Sum>();
  for (const row of rows.filter((one) => counts(one, span, filter))) {
    const { payer, payee, method, blockTime: at, amountUsdMicros: usd } = row;
    const isProven = method === 'facilitator_relay';
    const known = sums.get(`${payer} ${payee}`);
    sums.set(`${payer} ${payee}`, {
      count: (known?.count ?? 0) + 1,
      usd: (known?.usd ?? 0n) + usd,
      proven: (known?.proven ?? 0) + Number(isProven),
      provenUsd: (known?.provenUsd ?? 0n) + (isProven ? usd : 0n),
      days: new Set([...(known?.days ?? []), Math.floor(at / DAY)]),
      first: Math.min(known?.first ?? at, at),
      last: Math.max(known?.last ?? at, at),
    });
  }
  return [...sums]
    .map(([pair, { count, usd, proven, provenUsd, days, first, last }]) =>
      [pair, count, usd, proven, provenUsd, days.size, first, last].join(' '),
    )
    .sort();
}

async function answer(span: TimeRange, filter: PairFilter): Promise<string[]> {
  const pairs = pairsBetween(span, filter, await readCoverage(engine.reader));
  const { rows } = await engine.reader.rows({
    name: 'test-pairs',
    sql: sql`SELECT concat('0x', lower(hex(payer))), concat('0x', lower(hex(payee))), sum(settlement_count),
      toInt64(sum(settled_usd) * 1000000), sum(proven_count), toInt64(sum(proven_usd) * 1000000), uniqExact(day),
      toUnixTimestamp(min(first_time)), toUnixTimestamp(max(last_time)) FROM ${pairs} GROUP BY payer, payee`,
    maxSeconds: 10,
    maxRows: 1_000,
    settings: PAIR_SETTINGS,
  });
  return rows.map((row) => row.join(' ')).sort();
}

const SPANS: readonly TimeRange[] = [
  { from: 0, to: null },
  { from: MIDNIGHT - 3 * DAY, to: MIDNIGHT },
  { from: MIDNIGHT - 3 * DAY - 5 * HOUR, to: MIDNIGHT - DAY + 7_777 },
  { from: MIDNIGHT - 2 * DAY + 60, to: MIDNIGHT - 2 * DAY + 50_000 },
  { from: NOON - DAY, to: null },
];
const FILTERS: readonly PairFilter[] = [
  {},
  { payer: wallet(2) },
  { payee: wallet(3) },
  { payer: wallet(3), payee: wallet(3) },
  { payer: wallet(4), payee: wallet(5), chain: BASE },
  { chain: POLYGON },
];

async function expectExact(rows: readonly Settlement[]): Promise<void> {
  for (const span of SPANS)
    for (const filter of FILTERS)
      expect(await answer(span, filter), JSON.stringify([span, filter])).toEqual(recount(rows, span, filter));
}

const times = (rows: readonly Settlement[]): number[] => rows.map(({ blockTime }) => blockTime);
const olderThan =
  (time: number) =>
  ({ blockTime }: Settlement): boolean =>
    blockTime < time;

describe('sums of pairs between two times equal a recount', () => {
  test('while nothing is rolled up, while some days are, and when all are', async () => {
    const rows = history();
    await insertSettlements(engine.writer, rows);
    await expectExact(rows);
    await closeDays(engine.writer, times(rows.filter(olderThan(MIDNIGHT - 2 * DAY))));
    await expectExact(rows);
    await closeDays(engine.writer, times(rows));
    await expectExact(rows);
  });

  test('over a day that is closed by hours', async () => {
    const rows = history();
    await insertSettlements(engine.writer, rows);
    await closeDays(engine.writer, times(rows.filter(olderThan(MIDNIGHT - 2 * DAY))));
    await closeHours(
      engine.writer,
      rows.filter(({ blockTime }) => blockTime >= MIDNIGHT - 2 * DAY),
    );
    await expectExact(rows);
  });

  test('after tombstones, a regrade and a reorg that put other parties in place, before and after rolling up again', async () => {
    const rows = history();
    await insertSettlements(engine.writer, rows);
    await closeDays(engine.writer, times(rows));
    await tombstone(engine.writer, rows.slice(20, 45));
    const regraded = rows.slice(60, 90).map((row) => ({ ...row, method: 'self_relayed' as const }));
    await insertSettlements(engine.writer, regraded);
    const fork = { number: 10_129, time: rows[129]?.blockTime ?? 0 };
    for (const chain of [BASE, POLYGON]) await retractAbove(engine.writer, versions, chain, fork);
    const replaced = rows
      .slice(130)
      .map((row) => ({ ...row, payer: wallet(21), payee: wallet(22), method: 'facilitator_relay' as const }));
    await insertSettlements(engine.writer, replaced);
    const now = [
      ...rows.slice(0, 20),
      ...rows.slice(45, 60),
      ...regraded,
      ...rows.slice(90, 130),
      ...replaced,
    ];
    await expectExact(now);
    await closeDays(engine.writer, times(rows));
    await expectExact(now);
    await engine.writer.run({
      name: 'merge',
      kind: 'other',
      sql: sql`OPTIMIZE TABLE pair_day FINAL`,
      maxSeconds: 10,
    });
    await expectExact(now);
  });
});

test('a slice that an older release computed is read from the rows until it is computed again', async () => {
  const rows = history();
  await insertSettlements(engine.writer, rows);
  await closeDays(engine.writer, times(rows));
  const openRanges = async () => (await readCoverage(engine.reader)).open.length;
  expect(await openRanges()).toBe(1);
  const name = 'older-release';
  await engine.writer.run({ name, kind: 'other', sql: sql`TRUNCATE TABLE pair_day`, maxSeconds: 10 });
  await engine.writer.run({
    name,
    sql: sql`INSERT INTO rollup_state (day, hour, ver, writes, gen, figures)
      SELECT day, hour, ver, writes, gen + 1, 0 FROM rollup_state FINAL`,
    maxSeconds: 10,
  });
  await expectExact(rows);
  await closeDays(engine.writer, times(rows));
  expect(await openRanges()).toBe(1);
  await expectExact(rows);
});
