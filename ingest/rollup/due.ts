import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import { IS_OPEN } from '../../clickhouse/tables/rollups.ts';
import { versionTimeMs } from '../../core/domain/settlement.ts';
import { type DirtySlice, HOUR_SECONDS, inSlice, rangeOf, type Slice, sliceName } from './statements.ts';

const MAX_SECONDS = 30;
/** A century of days, or four years of hours. */
const DIRTY_SLICES_MAX = 36_525;
const HOURS_PER_DAY = 24;

/**
 * Every dirty slice, in the form (day or hours) in which its day is closed so far. Newest first, as is the work: most queries are about
 * the last days, and the open slices then form one contiguous past range for readers.
 */
export async function loadDirtySlices(writer: Writer): Promise<DirtySlice[]> {
  const { rows } = await writer.rows({
    name: 'rollup-dirty-slices',
    sql: sql`SELECT toUnixTimestamp(toDateTime(day, 'UTC')), hour, ver FROM rollup_slices
             WHERE ${IS_OPEN} ORDER BY day DESC, hour DESC`,
    maxSeconds: MAX_SECONDS,
    maxRows: DIRTY_SLICES_MAX,
  });
  return rows.map(([dayStart, hour, ver]) => ({
    dayStart: Number(dayStart),
    hour: Number(hour) < 0 ? null : Number(hour),
    ver: BigInt(String(ver)),
  }));
}

/**
 * The slices to compute for a dirty slice: itself, or its hours, newest first, if it is a day that has grown too large. Once its first
 * hour is computed, readers use the day's hours and treat the others as open, so any order is correct.
 */
export async function formOf(
  writer: Writer,
  slice: DirtySlice,
  { splitAboveRows }: Pick<RollupLimits, 'splitAboveRows'>,
): Promise<DirtySlice[]> {
  if (slice.hour !== null) return [slice];
  const { rows } = await writer.rows({
    name: `rollup-count-rows ${sliceName(slice)}`,
    sql: sql`SELECT count() FROM settlements WHERE ${inSlice(sql`block_time`, slice)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]) > splitAboveRows ? loadHours(writer, slice) : [slice];
}

async function loadHours(writer: Writer, { dayStart, ...day }: DirtySlice): Promise<DirtySlice[]> {
  const { rows } = await writer.rows({
    name: `rollup-hours ${sliceName({ dayStart, ...day })}`,
    sql: sql`SELECT toHour(hour_ver.hour) AS number, max(ver) FROM hour_ver
             WHERE ${inSlice(sql`hour`, { dayStart, ...day })} GROUP BY number ORDER BY number DESC`,
    maxSeconds: MAX_SECONDS,
    maxRows: HOURS_PER_DAY,
  });
  return rows.map(([hour, ver]) => ({ dayStart, hour: Number(hour), ver: BigInt(String(ver)) }));
}

/** Whether a slice ended long enough ago. Its figures would be right in any case; this only saves work. */
export function isClosable(
  slice: Slice,
  nowMs: number,
  { closeAfterMs }: Pick<RollupLimits, 'closeAfterMs'>,
): boolean {
  return rangeOf(slice).to * 1_000 + closeAfterMs <= nowMs;
}

/** Whether a slice, or at least its first hour, is closable: the present day is, should it have to be closed by hours. */
export function isPartlyClosable(
  slice: Slice,
  nowMs: number,
  { closeAfterMs }: Pick<RollupLimits, 'closeAfterMs'>,
): boolean {
  return (rangeOf(slice).from + HOUR_SECONDS) * 1_000 + closeAfterMs <= nowMs;
}

/** Tracks since when slices have waited to become quiet; bounded by the number of dirty slices. */
export interface Waiting {
  /** Whether a closable slice is quiet, or has waited for it long enough. */
  isDue(slice: DirtySlice, nowMs: number): boolean;
  /** The slice was computed: its wait restarts when it is next seen dirty. */
  computed(slice: Slice): void;
  /** Forgets the slices of days that are not among these. */
  keepDays(dirty: readonly Slice[]): void;
}

export function createWaiting(limits: Pick<RollupLimits, 'quietMs' | 'closeAnywayAfterMs'>): Waiting {
  const waits = new Map<string, { readonly dayStart: number; readonly sinceMs: number }>();
  return {
    isDue(slice, nowMs) {
      const name = sliceName(slice);
      const { sinceMs } = waits.get(name) ?? { sinceMs: nowMs };
      waits.set(name, { dayStart: slice.dayStart, sinceMs });
      return (
        nowMs - versionTimeMs(slice.ver) >= limits.quietMs || nowMs - sinceMs >= limits.closeAnywayAfterMs
      );
    },
    computed: (slice) => void waits.delete(sliceName(slice)),
    keepDays(dirty) {
      const days = new Set(dirty.map(({ dayStart }) => dayStart));
      for (const [name, { dayStart }] of waits) if (!days.has(dayStart)) waits.delete(name);
    },
  };
}

/** When slices are closed, and how many at once. Only tests should change these. */
export interface RollupLimits {
  /** Pause between two looks for dirty slices. */
  readonly pollMs: number;
  /**
   * How long ago a slice must have ended. Blocks arrive late and reorgs reach back minutes: a slice closed sooner would only
   * be computed twice.
   */
  readonly closeAfterMs: number;
  /** How long nothing must have been written to a slice, so that a backfill does not have the same day computed for ever. */
  readonly quietMs: number;
  /** A slice that is never quiet is computed this long after it was first seen dirty, and again as often. */
  readonly closeAnywayAfterMs: number;
  /** A day with more rows is closed by hours: a late row then costs the computation of an hour, not of a day. */
  readonly splitAboveRows: number;
  /** Slices computed before the list is asked for again: a newer slice that has become dirty since goes first. */
  readonly slicesPerPassMax: number;
  /** Minimum interval between merges of relayer totals, when nothing is left to close. Until then slices are read. */
  readonly totalsEveryMs: number;
  /** Minimum interval between two copies of a month for scans. Until then queries read the new rows from `settlements`. */
  readonly copyEveryMs: number;
}

export const ROLLUP_LIMITS: RollupLimits = {
  pollMs: 5_000,
  closeAfterMs: 15 * 60_000,
  quietMs: 5_000,
  closeAnywayAfterMs: 5 * 60_000,
  splitAboveRows: 1_000_000,
  slicesPerPassMax: 32,
  totalsEveryMs: 60_000,
  copyEveryMs: 60 * 60_000,
};
