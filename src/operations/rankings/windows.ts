import { type Sql, sql, uint64 } from '../../../clickhouse/engine/sql.ts';
import {
  DAY_SECONDS,
  joinRanges,
  openFrom,
  type RollupCoverage,
} from '../../../clickhouse/tables/coverage.ts';
import type { Window } from '../../../core/domain/window.ts';

/** Unix seconds, from included, to excluded; null: no end. */
export interface Span {
  readonly from: number;
  readonly to: number | null;
}

const HOURS: Readonly<Record<Exclude<Window, 'all'>, number>> = {
  '24h': 24,
  '7d': 7 * 24,
  '30d': 30 * 24,
  '90d': 90 * 24,
};
const HOUR_SECONDS = 3_600;
export const SPARKLINE_POINTS_MAX = 30;
const OPEN_RANGES_MAX = 64;

/**
 * The window that ends now and those of the same length before it, newest first: exact to the second, so that a window and the one before
 * it cover the same hours of the day. All of time is one window.
 */
export function spansOf(window: Window, nowSeconds: number, count: number): Span[] {
  if (window === 'all') return [{ from: 0, to: null }];
  const seconds = HOURS[window] * HOUR_SECONDS;
  return Array.from({ length: count }, (_, back) => ({
    from: Math.max(0, nowSeconds - (back + 1) * seconds),
    to: back === 0 ? null : nowSeconds - back * seconds,
  }));
}

/** Equal parts of time, the oldest first; the newest one holds this moment. */
export interface Parts {
  readonly from: number;
  readonly stepSeconds: number;
  readonly count: number;
}

/**
 * What a sparkline shows of a window: hours of a day, else whole UTC days, today included. `firstDay` is the first one with a settlement.
 */
export function partsOf(window: Window, nowSeconds: number, firstDay: number): Parts {
  if (window === '24h') return { from: nowSeconds - 24 * HOUR_SECONDS, stepSeconds: HOUR_SECONDS, count: 24 };
  const tomorrow = (Math.floor(nowSeconds / DAY_SECONDS) + 1) * DAY_SECONDS;
  const days =
    window === 'all'
      ? Math.max(1, Math.ceil((tomorrow - firstDay) / DAY_SECONDS))
      : (HOURS[window] * HOUR_SECONDS) / DAY_SECONDS;
  const daysPerPart = Math.ceil(days / SPARKLINE_POINTS_MAX);
  const count = Math.ceil(days / daysPerPart);
  const stepSeconds = daysPerPart * DAY_SECONDS;
  return { from: tomorrow - count * stepSeconds, stepSeconds, count };
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
  return { ...coverage, open: joinRanges([...coverage.open, ...cut], OPEN_RANGES_MAX) };
}

/** The part that column `at` lies in, where `sinceParts` holds. */
export function partOf({ from, stepSeconds, count }: Parts): Sql {
  const part = sql`intDiv(toInt64(toUnixTimestamp(at)) - toInt64(${uint64(from)}), ${uint64(stepSeconds)})`;
  return sql`least(${part}, ${uint64(count - 1)})`;
}

export function sinceParts({ from }: Parts): Sql {
  return sql`toUnixTimestamp(at) >= ${uint64(from)}`;
}
