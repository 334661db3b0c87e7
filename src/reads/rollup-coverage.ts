import type { Reader } from '../../clickhouse/engine.ts';
import { dateTime, type Sql, sql, texts } from '../../clickhouse/sql.ts';
import type { Clock } from '../clock.ts';
import { ask } from './ask.ts';
import { cached } from './cached.ts';
import { integerField, textField } from './decode.ts';

/**
 * Which part of time the rollups answer for. A slice (a day, or an hour of a busy day) that is dirty or was never computed is
 * open: its figures come from the rows themselves. So every answer is exact whatever the rollup worker has or has not done
 * (design.md 3 rule 5).
 */

/** Unix seconds, from included, to excluded; null: no end. */
export interface TimeRange {
  readonly from: number;
  readonly to: number | null;
}

export interface RollupCoverage {
  /** Ascending, disjoint, never empty; the last one has no end. Everything else is closed. */
  readonly open: readonly TimeRange[];
  /** Days (YYYY-MM-DD) whose rollup rows are those of their hours. */
  readonly splitDays: readonly string[];
}

export interface Rollups {
  /** At most a second old. */
  coverage(): Promise<RollupCoverage>;
}

export const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3_600;
const RESOURCE = 'rollups';
const MAX_AGE_MS = 1_000;
const MAX_SECONDS = 5;
/** Forty years of days, or more hours than a backfill can leave open. */
const SLICES_MAX = 20_000;
/** More conditions than this cost more than reading some closed slices live. */
const OPEN_RANGES_MAX = 32;

export function createRollups(deps: { readonly reader: Reader; readonly clock: Clock }): Rollups {
  return {
    coverage: cached({ clock: deps.clock, maxAgeMs: MAX_AGE_MS, load: () => readCoverage(deps.reader) }),
  };
}

export async function readCoverage(reader: Reader): Promise<RollupCoverage> {
  const [dirty, facts] = await Promise.all([readDirty(reader), readFacts(reader)]);
  const tail: TimeRange = { from: facts.end, to: null };
  return { open: joinRanges([...dirty, tail], OPEN_RANGES_MAX), splitDays: facts.splitDays };
}

async function readDirty(reader: Reader): Promise<TimeRange[]> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'rollup-dirty',
    maxSeconds: MAX_SECONDS,
    maxRows: SLICES_MAX,
    sql: sql`SELECT toUnixTimestamp(toDateTime(day, 'UTC')), hour FROM rollup_slices WHERE ver > rolled_ver ORDER BY day, hour`,
  });
  return rows.map((row) => {
    const hour = integerField(row[1]);
    const from = integerField(row[0]) + Math.max(hour, 0) * HOUR_SECONDS;
    return { from, to: from + (hour < 0 ? DAY_SECONDS : HOUR_SECONDS) };
  });
}

async function readFacts(reader: Reader): Promise<{ end: number; splitDays: string[] }> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'rollup-facts',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT (SELECT if(count() = 0, 0, toUnixTimestamp(max(hour)) + 3600) FROM hour_ver),
      (SELECT groupUniqArray(toString(day)) FROM rollup_state WHERE hour >= 0)`,
  });
  const [end, days] = rows[0] ?? [];
  if (!Array.isArray(days)) throw new TypeError('rollup-facts: not a list of days');
  return { end: integerField(end), splitDays: days.map(textField) };
}

/** Joins what touches; beyond `max` ranges also across the smallest gaps, because reading a closed slice live is never wrong. */
export function joinRanges(ranges: readonly TimeRange[], max: number): TimeRange[] {
  const sorted = [...ranges].sort((a, b) => a.from - b.from);
  const joined: TimeRange[] = [];
  for (const range of sorted) {
    const last = joined.at(-1);
    if (last !== undefined && (last.to === null || range.from <= last.to))
      joined[joined.length - 1] = { from: last.from, to: laterEnd(last.to, range.to) };
    else joined.push(range);
  }
  while (joined.length > max) joinSmallestGap(joined);
  return joined;
}

function laterEnd(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : Math.max(a, b);
}

function joinSmallestGap(ranges: TimeRange[]): void {
  let best = 1;
  const gap = (at: number): number => (ranges[at]?.from ?? 0) - (ranges[at - 1]?.to ?? 0);
  for (let at = 2; at < ranges.length; at++) if (gap(at) < gap(best)) best = at;
  const [left, right] = [ranges[best - 1], ranges[best]];
  if (left && right) ranges.splice(best - 1, 2, { from: left.from, to: right.to });
}

/** The same coverage with everything from the day of `time` on read live: for figures that end inside a closed day. */
export function openFrom(coverage: RollupCoverage, time: number): RollupCoverage {
  const from = Math.floor(time / DAY_SECONDS) * DAY_SECONDS;
  return { ...coverage, open: joinRanges([...coverage.open, { from, to: null }], OPEN_RANGES_MAX) };
}

/** Condition on the columns `day` and `hour` of a rollup table: rows that count. */
export function closedSlices({ open, splitDays }: RollupCoverage): Sql {
  const start = sql`toDateTime(day, 'UTC') + if(hour < 0, 0, hour) * 3600`;
  return sql`(hour >= 0) = has(${texts(splitDays)}, toString(day)) AND NOT (${within(start, open)})`;
}

/** Condition on `block_time`: rows whose slice is open. */
export function openRows({ open }: RollupCoverage): Sql {
  return sql`(${within(sql`block_time`, open)})`;
}

function within(time: Sql, ranges: readonly TimeRange[]): Sql {
  const [first, ...rest] = ranges.map(({ from, to }) =>
    to === null
      ? sql`${time} >= ${dateTime(from)}`
      : sql`(${time} >= ${dateTime(from)} AND ${time} < ${dateTime(to)})`,
  );
  return first === undefined ? sql`0` : rest.reduce((all, next) => sql`${all} OR ${next}`, first);
}
