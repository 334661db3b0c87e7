import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import type { RollupLimits } from './limits.ts';
import { type DirtySlice, sliceName } from './slice.ts';
import { inSlice } from './statements.ts';

const MAX_SECONDS = 30;
/** A century of days, or four years of hours. */
const DIRTY_SLICES_MAX = 36_525;
const HOURS_PER_DAY = 24;

/**
 * Every dirty slice in the form that its day is closed in so far. Newest first, and so is the work: most questions are about
 * the last days, and what is still open is then one contiguous past, which readers join to one range.
 */
export async function loadDirtySlices(writer: Writer): Promise<DirtySlice[]> {
  const { rows } = await writer.rows({
    name: 'rollup-dirty-slices',
    sql: sql`SELECT toUnixTimestamp(toDateTime(day, 'UTC')), hour, ver FROM rollup_slices
             WHERE ver > rolled_ver ORDER BY day DESC, hour DESC`,
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
 * What to compute for a dirty slice: itself, or its hours, newest first, when it is a day that has grown too large. From the
 * first hour that is computed on, readers take the day by its hours too and the others as open, so any order is right.
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
