import { type Sql, sql, uint64 } from '../../../clickhouse/engine/sql.ts';
import { DAY_SECONDS } from '../../../clickhouse/tables/coverage.ts';
import { secondsOf, type Window } from '../../../core/domain/window.ts';
import { TWO_THREADS } from '../ask.ts';
import { PAIR_SETTINGS } from '../index-state/pairs.ts';

/** The parts of a window that sparklines show. */

const HOUR_SECONDS = 3_600;
export const SPARKLINE_POINTS_MAX = 30;

export const RANKING_SETTINGS = { ...TWO_THREADS, ...PAIR_SETTINGS } as const;

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
      : secondsOf(window) / DAY_SECONDS;
  const daysPerPart = Math.ceil(days / SPARKLINE_POINTS_MAX);
  const count = Math.ceil(days / daysPerPart);
  const stepSeconds = daysPerPart * DAY_SECONDS;
  return { from: tomorrow - count * stepSeconds, stepSeconds, count };
}

/** The part that column `at` lies in, where `sinceParts` holds. */
export function partOf({ from, stepSeconds, count }: Parts): Sql {
  const part = sql`intDiv(toInt64(toUnixTimestamp(at)) - toInt64(${uint64(from)}), ${uint64(stepSeconds)})`;
  return sql`least(${part}, ${uint64(count - 1)})`;
}

export function sinceParts({ from }: Parts): Sql {
  return sql`toUnixTimestamp(at) >= ${uint64(from)}`;
}
