import type { Writer } from '../../clickhouse/engine/engine.ts';
import { empty, type Sql, sql } from '../../clickhouse/engine/sql.ts';

/** An hour with rows under the changed keys. */
export interface TouchedHour {
  /** Unix seconds, the start of the hour. */
  readonly hour: number;
  /** Rows under the changed keys; superseded versions count too, so this is an upper bound. */
  readonly touched: number;
  /** All rows of the hour: what the engine reads to find those. */
  readonly rows: number;
}

/** What one statement regrades: [from, to) in Unix seconds. */
export interface RegradeBatch {
  readonly from: number;
  readonly to: number;
  readonly hours: readonly number[];
  readonly touched: number;
}

export const HOUR_SECONDS = 3_600;
/** About two seconds of the engine, and little memory; a crash repeats at most one batch. */
export const BATCH_TOUCHED_MAX_ROWS = 100_000;
export const BATCH_READ_MAX_ROWS = 1_000_000;
/** A month: one partition's worth of files to open. */
export const BATCH_MAX_HOURS = 744;
const PLAN_MAX_SECONDS = 900;
/** A century of hours. */
const HOURS_MAX = 1_000_000;

/** One scan of the narrow columns tells where the work is: without it every month would be read with FINAL. */
export async function touchedHours(
  writer: Writer,
  touched: Sql,
  /** A WITH clause that `touched` refers to. */
  named: Sql = empty,
): Promise<TouchedHour[]> {
  const { rows } = await writer.rows({
    name: 'plan-regrade',
    sql: sql`${named} SELECT toUnixTimestamp(toStartOfHour(block_time)) AS hour, countIf(${touched}) AS touched, count()
      FROM settlements GROUP BY hour HAVING touched > 0 ORDER BY hour DESC`,
    maxSeconds: PLAN_MAX_SECONDS,
    maxRows: HOURS_MAX,
    settings: { max_threads: 1 },
  });
  return rows.map(([hour, count, all]) => ({
    hour: Number(hour),
    touched: Number(count),
    rows: Number(all),
  }));
}

/** Batches of hours, newest first as the hours are; a single hour is never divided. */
export function batchesOf(hours: readonly TouchedHour[]): RegradeBatch[] {
  const batches: RegradeBatch[] = [];
  let open: TouchedHour[] = [];
  const close = () => {
    const [newest, oldest] = [open[0], open.at(-1)];
    if (newest === undefined || oldest === undefined) return;
    batches.push({
      from: oldest.hour,
      to: newest.hour + HOUR_SECONDS,
      hours: open.map(({ hour }) => hour),
      touched: sumOf(open, 'touched'),
    });
    open = [];
  };
  for (const hour of hours) {
    if (open.length > 0 && !fits(open, hour)) close();
    open.push(hour);
  }
  close();
  return batches;
}

function fits(open: readonly TouchedHour[], next: TouchedHour): boolean {
  const [newest] = open;
  return (
    newest !== undefined &&
    newest.hour - next.hour < BATCH_MAX_HOURS * HOUR_SECONDS &&
    sumOf(open, 'touched') + next.touched <= BATCH_TOUCHED_MAX_ROWS &&
    sumOf(open, 'rows') + next.rows <= BATCH_READ_MAX_ROWS
  );
}

function sumOf(hours: readonly TouchedHour[], field: 'touched' | 'rows'): number {
  return hours.reduce((sum, hour) => sum + hour[field], 0);
}
