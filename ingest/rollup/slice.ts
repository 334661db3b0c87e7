import { dateTime, type Sql, sql, uint8 } from '../../clickhouse/engine/sql.ts';

/** A slice of time that is rolled up in one piece: a UTC day, or an hour of a day with very many rows. */
export interface Slice {
  /** Unix seconds of the UTC midnight that the day begins with. */
  readonly dayStart: number;
  /** 0 to 23, or null for the whole day. */
  readonly hour: number | null;
}

/** A slice whose rows changed after it was rolled up, or that never was. */
export interface DirtySlice extends Slice {
  /** The newest change. */
  readonly ver: bigint;
}

/** Unix seconds, half-open. */
export interface SliceRange {
  readonly from: number;
  readonly to: number;
}

export const DAY_SECONDS = 86_400;
export const HOUR_SECONDS = 3_600;

export function rangeOf({ dayStart, hour }: Slice): SliceRange {
  if (hour === null) return { from: dayStart, to: dayStart + DAY_SECONDS };
  const from = dayStart + hour * HOUR_SECONDS;
  return { from, to: from + HOUR_SECONDS };
}

/** `2026-11-20`: what the slices of one day have in common. */
export function dayName({ dayStart }: Pick<Slice, 'dayStart'>): string {
  return new Date(dayStart * 1_000).toISOString().slice(0, 10);
}

/** `2026-11-20`, or `2026-11-20T05` for an hour. */
export function sliceName(slice: Slice): string {
  return slice.hour === null ? dayName(slice) : `${dayName(slice)}T${String(slice.hour).padStart(2, '0')}`;
}

/** What statements that compute a slice of the day belong to. */
export function rollupScope(slice: Pick<Slice, 'dayStart'>): string {
  return `rollup:${dayName(slice)}`;
}

/** A column of a statement that writes rows of a slice. */
export interface Column {
  readonly name: string;
  readonly value: Sql;
}

/** The columns `day` and `hour`, as every table of slices holds them. */
export function sliceColumns({ dayStart, hour }: Slice): readonly [Column, Column] {
  return [
    { name: 'day', value: sql`toDate(${dateTime(dayStart)})` },
    { name: 'hour', value: hour === null ? sql`toInt8(-1)` : sql`toInt8(${uint8(hour)})` },
  ];
}

/** Condition that a column holds a time of the slice. */
export function inSlice(time: Sql, slice: Slice): Sql {
  const { from, to } = rangeOf(slice);
  return sql`${time} >= ${dateTime(from)} AND ${time} < ${dateTime(to)}`;
}
