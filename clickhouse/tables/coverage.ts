import type { Span, Window } from '../../core/domain/window.ts';
import type { Row, Statement } from '../engine/engine.ts';
import { integerField, textField } from '../engine/row-reader.ts';
import { dateTime, type Sql, sql, texts, uint32 } from '../engine/sql.ts';
import { IS_OPEN, sliceStart } from './rollups.ts';

/**
 * Which part of time the rollups answer for. A slice (a day, or an hour of a busy day) that is dirty or was never computed is
 * open: its figures come from the rows themselves. So every answer is exact whatever the rollup worker has or has not done
 * (docs/design/storage.md).
 */

/** Unix seconds, from included, to excluded; null: no end. */
export interface TimeRange {
  readonly from: number;
  readonly to: number | null;
}

export interface RollupCoverage {
  /** Ascending, disjoint, never empty; the last one has no end. Everything else is closed. */
  readonly open: readonly TimeRange[];
  /** Days (YYYY-MM-DD) whose rollup rows are made from the rows of their hours. */
  readonly splitDays: readonly string[];
}

export const ALL_TIME: TimeRange = { from: 0, to: null };

/** Everything is read from the rows. */
export const EVERYTHING_OPEN: RollupCoverage = { open: [ALL_TIME], splitDays: [] };

export const DAY_SECONDS = 86_400;
export const HOUR_SECONDS = 3_600;
const MAX_SECONDS = 5;
/** More conditions than this cost more than reading some closed slices live. */
const OPEN_RANGES_MAX = 32;
/** With the days that a window cuts. */
const CUT_RANGES_MAX = 64;

/**
 * One statement, because two would see different moments: a day that is split between them would count in both forms, or a
 * new hour in none. The end is a scalar, which the engine reads first: what arrives after it lies in the open tail.
 */
export const COVERAGE: Statement = {
  name: 'rollup-coverage',
  maxSeconds: MAX_SECONDS,
  maxRows: 1,
  sql: sql`SELECT (SELECT if(count() = 0, 0, toUnixTimestamp(max(hour)) + ${uint32(HOUR_SECONDS)}) FROM hour_ver),
      groupArrayIf((toUnixTimestamp(toDateTime(day, 'UTC')), hour), ${IS_OPEN}),
      groupUniqArrayIf(toString(day), hour >= 0)
      FROM rollup_slices`,
};

/** From the answer to `COVERAGE`. */
export function decodeCoverage([row]: readonly Row[]): RollupCoverage {
  const [end, dirty, splitDays] = row ?? [];
  const tail: TimeRange = { from: integerField(end), to: null };
  return {
    open: joinRanges([...listField(dirty).map(sliceRange), tail], OPEN_RANGES_MAX),
    splitDays: listField(splitDays).map(textField),
  };
}

function sliceRange(slice: unknown): TimeRange {
  const [day, hour] = listField(slice).map(integerField);
  if (day === undefined || hour === undefined) throw new TypeError('rollup-coverage: not a slice');
  const from = day + Math.max(hour, 0) * HOUR_SECONDS;
  return { from, to: from + (hour < 0 ? DAY_SECONDS : HOUR_SECONDS) };
}

function listField(field: unknown): readonly unknown[] {
  if (!Array.isArray(field)) throw new TypeError('rollup-coverage: not a list');
  return field;
}

/**
 * Joins what touches; beyond `max` ranges also across the smallest gaps, because reading a closed slice live is never wrong.
 * `max` is at least 1. Sorts once: after a regrade thousands of hours can be open.
 */
export function joinRanges(ranges: readonly TimeRange[], max: number): TimeRange[] {
  const joined = joinTouching(ranges);
  if (joined.length <= max) return joined;
  const kept = joined
    .map((range, at) => ({ at, gap: range.from - (joined[at - 1]?.to ?? Number.NEGATIVE_INFINITY) }))
    .sort((a, b) => b.gap - a.gap)
    .slice(0, max)
    .map(({ at }) => at)
    .sort((a, b) => a - b);
  return kept.flatMap((start, index) => {
    const [first, last] = [joined[start], joined[(kept[index + 1] ?? joined.length) - 1]];
    return first && last ? [{ from: first.from, to: last.to }] : [];
  });
}

function joinTouching(ranges: readonly TimeRange[]): TimeRange[] {
  const joined: TimeRange[] = [];
  for (const range of [...ranges].sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last !== undefined && (last.to === null || range.from <= last.to))
      joined[joined.length - 1] = { from: last.from, to: laterEnd(last.to, range.to) };
    else joined.push(range);
  }
  return joined;
}

function laterEnd(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : Math.max(a, b);
}

/** The same coverage with everything from the day of `time` on read live: for figures that end inside a closed day. */
export function openFrom(coverage: RollupCoverage, time: number): RollupCoverage {
  const from = Math.floor(time / DAY_SECONDS) * DAY_SECONDS;
  return { ...coverage, open: joinRanges([...coverage.open, { from, to: null }], OPEN_RANGES_MAX) };
}

/** The same coverage for figures of a span: a day in which it begins or ends is read live, because rollups hold whole days. */
export function openAround(coverage: RollupCoverage, { from, to }: TimeRange): RollupCoverage {
  const dayOf = (time: number): number => Math.floor(time / DAY_SECONDS) * DAY_SECONDS;
  const cut = [from, ...(to === null ? [] : [to])].filter((time) => time !== dayOf(time));
  const days = cut.map((time) => ({ from: dayOf(time), to: dayOf(time) + DAY_SECONDS }));
  return days.length === 0
    ? coverage
    : { ...coverage, open: joinRanges([...coverage.open, ...days], OPEN_RANGES_MAX) };
}

/** Whether nothing of the span is open: the rollups alone answer for it. */
export function isClosed({ open }: RollupCoverage, span: TimeRange): boolean {
  return open.every(
    ({ from, to }) => (span.to !== null && from >= span.to) || (to !== null && to <= span.from),
  );
}

/** Whether all of a span is read live. */
export function isOpen({ open }: RollupCoverage, span: TimeRange): boolean {
  return open.some(
    ({ from, to }) => from <= span.from && (to === null || (span.to !== null && to >= span.to)),
  );
}

/** Condition on the columns `day` and `hour` of a rollup table: rows that count. */
export function closedSlices({ open, splitDays }: RollupCoverage): Sql {
  return sql`(hour >= 0) = has(${texts(splitDays)}, toString(day)) AND NOT (${within(sliceStart, open)})`;
}

/** Condition on the column `hour` of chain_hour, whose rows are the same in both forms of a day: rows that count. */
export function closedHours({ open }: RollupCoverage): Sql {
  return sql`NOT (${within(sql`hour`, open)})`;
}

/** Condition on `block_time`, or another time: rows whose slice is open. */
export function openRows({ open }: RollupCoverage, time: Sql = sql`block_time`): Sql {
  return sql`(${within(time, open)})`;
}

/** Conditions on `block_time`: rows of the span. */
export function rowsDuring({ from, to }: TimeRange): Sql[] {
  return [sql`block_time >= ${dateTime(from)}`, ...(to === null ? [] : [sql`block_time < ${dateTime(to)}`])];
}

/** Conditions on `day`: days of the span, which begin in it. */
export function daysDuring({ from, to }: TimeRange): Sql[] {
  return [
    sql`day >= toDate(${dateTime(from)})`,
    ...(to === null ? [] : [sql`day < toDate(${dateTime(to)})`]),
  ];
}

function within(time: Sql, ranges: readonly TimeRange[]): Sql {
  const [first, ...rest] = ranges.map(({ from, to }) =>
    to === null
      ? sql`${time} >= ${dateTime(from)}`
      : sql`(${time} >= ${dateTime(from)} AND ${time} < ${dateTime(to)})`,
  );
  return first === undefined ? sql`0` : rest.reduce((all, next) => sql`${all} OR ${next}`, first);
}

/**
 * The coverage with every slice read from its rows that a window cuts: a rolled up day counts as a whole. Windows of hours read no day
 * table at all.
 */
export function cutBy(coverage: RollupCoverage, window: Window, spans: readonly Span[]): RollupCoverage {
  if (window === 'all') return coverage;
  if (window === '24h') return openFrom(coverage, spans.at(-1)?.from ?? 0);
  const days = spans.map(({ from }) => Math.floor(from / DAY_SECONDS) * DAY_SECONDS);
  const cut = days.map((from) => ({ from, to: from + DAY_SECONDS }));
  return { ...coverage, open: joinRanges([...coverage.open, ...cut], CUT_RANGES_MAX) };
}

/** The coverage with every day read from its rows that is not closed as a whole: for figures of whole days alone. */
export function wholeDays(coverage: RollupCoverage): RollupCoverage {
  const dayOf = (time: number): number => Math.floor(time / DAY_SECONDS) * DAY_SECONDS;
  const open = coverage.open.map(({ from, to }) => ({
    from: dayOf(from),
    to: to === null ? null : dayOf(to + DAY_SECONDS - 1),
  }));
  return { ...coverage, open: joinRanges(open, CUT_RANGES_MAX) };
}
