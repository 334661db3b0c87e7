import type { Writer } from '../../../clickhouse/engine/engine.ts';
import {
  dateTime,
  type Sql,
  sql,
  trustedText,
  uint32,
  uint64,
  uint64s,
} from '../../../clickhouse/engine/sql.ts';
import { SETTLEMENT_HISTORY } from '../../../clickhouse/tables/history.ts';
import { SETTLEMENTS } from '../../../clickhouse/tables/settlements.ts';
import { columnNames } from '../../../clickhouse/tables/table.ts';
import { GRADES_SCOPE } from '../../write/fence.ts';
import { VERSION_STEP } from '../../write/versions.ts';
import { IS_STALE, PUBLISHED_CATALOGUE, regradedSql } from './grade-sql.ts';

/** What a sweep has to do, and where it begins. */
export interface RegradeOrder {
  /** The newest pass: what the room below the next version is filled with. */
  readonly pass: number;
  /** Condition on settlements, for PREWHERE: the rows under the changed keys (grade-sql.ts). */
  readonly touched: Sql;
  /**
   * Set when the pass may have been begun by a process that is gone: the oldest pass that may be half-done. All rows under the changed
   * keys are then written once more, because its last statement may have reached one of the table and the wallet log and not the other.
   */
  readonly repeatFrom: number | null;
}

/** An hour with rows under the changed keys. */
export interface TouchedHour {
  /** Unix seconds, the start of the hour. */
  readonly hour: number;
  /** Rows under the changed keys. */
  readonly touched: number;
  /** How many of them are not what the catalogue says. */
  readonly stale: number;
  /** How many of them are written: the stale ones, and in a repeat all. */
  readonly written: number;
  /** How many of those get a tombstone. */
  readonly gone: number;
}

/** What one statement regrades: [from, to) in Unix seconds. */
export interface RegradeBatch extends Omit<TouchedHour, 'hour'> {
  readonly from: number;
  readonly to: number;
  /** Hours with rows that are written. Their rollups must be computed again. */
  readonly hours: readonly number[];
}

export const HOUR_SECONDS = 3_600;
/** About a second of the engine; a crash repeats at most one batch. */
export const BATCH_WRITTEN_MAX_ROWS = 100_000;
/** A month: one partition's worth of files to open. */
export const BATCH_MAX_HOURS = 744;
const PLAN_MAX_SECONDS = 900;
/** Far more than a batch ever took. */
const BATCH_MAX_SECONDS = 300;
/** A century of hours. */
const HOURS_MAX = 1_000_000;
const MEBIBYTE = 1024 * 1024;

/**
 * The memory of a rollup (ingest/rollup/close.ts). Two threads, because a sweep is seconds of work a few times a day: over 10 million
 * rows on two cores that were shared with other work it took 3.1 s, and 3.8 s with one thread; a wallet's page took 20 ms during the batch, 22 ms
 * with one, and 14 ms at rest. Rows are written in blocks of a bounded size, because an hour that is larger than a batch must
 * fit into the memory as well.
 */
export const REGRADE_SETTINGS = {
  max_threads: 2,
  max_insert_threads: 1,
  max_memory_usage: 1024 * MEBIBYTE,
  min_insert_block_size_rows: BATCH_WRITTEN_MAX_ROWS,
  min_insert_block_size_bytes: 64 * MEBIBYTE,
  do_not_merge_across_partitions_select_final: 1,
} as const;

/**
 * The hours below `before` (null: all) in which rows are to be written, newest first, and what the others have of the changed keys.
 * One scan of the columns that a grade depends on; it alone chooses the rows to count, mark and write, so that each batch is
 * one statement.
 */
export async function touchedHours(
  writer: Writer,
  order: RegradeOrder,
  before: number | null,
): Promise<TouchedHour[]> {
  const range = before === null ? sql`1` : sql`block_time < ${dateTime(before)}`;
  const isWritten = written(order);
  const { rows } = await writer.rows({
    name: 'plan-regrade',
    sql: sql`SELECT toUnixTimestamp(toStartOfHour(block_time)) AS hour, count(), countIf(${IS_STALE}), countIf(${isWritten}),
        countIf(${isWritten} AND new_del = 1)
      FROM (${candidates(order, range)}) GROUP BY hour ORDER BY hour DESC`,
    maxSeconds: PLAN_MAX_SECONDS,
    maxRows: HOURS_MAX,
    settings: REGRADE_SETTINGS,
  });
  return rows
    .map((row) => row.map(Number))
    .map(([hour = 0, touched = 0, stale = 0, toWrite = 0, gone = 0]) => ({
      hour,
      touched,
      stale,
      written: toWrite,
      gone,
    }));
}

/** Batches of the hours in which rows are written, newest first as the hours are; a single hour is never divided. */
export function batchesOf(hours: readonly TouchedHour[]): RegradeBatch[] {
  const batches: RegradeBatch[] = [];
  let open: TouchedHour[] = [];
  /** Rows of hours in which nothing is written: they are done when the next batch is. */
  let idle = 0;
  const close = () => {
    const [newest, oldest] = [open[0], open.at(-1)];
    if (newest === undefined || oldest === undefined) return;
    batches.push({
      from: oldest.hour,
      to: newest.hour + HOUR_SECONDS,
      hours: open.map(({ hour }) => hour),
      touched: sumOf(open, 'touched'),
      stale: sumOf(open, 'stale'),
      written: sumOf(open, 'written'),
      gone: sumOf(open, 'gone'),
    });
    open = [];
  };
  for (const hour of hours) {
    if (hour.written === 0) {
      idle += hour.touched;
      continue;
    }
    if (open.length > 0 && !fits(open, hour)) close();
    open.push({ ...hour, touched: hour.touched + idle });
    idle = 0;
  }
  close();
  return batches;
}

function fits(open: readonly TouchedHour[], next: TouchedHour): boolean {
  const [newest] = open;
  return (
    newest !== undefined &&
    newest.hour - next.hour < BATCH_MAX_HOURS * HOUR_SECONDS &&
    sumOf(open, 'written') + next.written <= BATCH_WRITTEN_MAX_ROWS
  );
}

export function sumOf(
  hours: readonly TouchedHour[],
  field: 'touched' | 'stale' | 'written' | 'gone',
): number {
  return hours.reduce((sum, hour) => sum + hour[field], 0);
}

/**
 * Rows of the order within a range of time, each with what the published catalogue says of it.
 *
 * The changed keys are looked for before FINAL and not after it, so that of the other rows only the columns of the keys are read. No
 * regrade changes these columns: all regrades of a written row pass or none does, and FINAL finds the last of them. What may pass
 * alone is an older event that another one with other keys replaced. It is regraded below its own next version, so it stays
 * replaced.
 */
function candidates({ touched, repeatFrom }: RegradeOrder, range: Sql): Sql {
  const live = repeatFrom === null ? sql`del = 0` : sql`(del = 0 OR ${regradedFrom(repeatFrom)})`;
  return regradedSql(
    sql`SELECT * FROM settlements FINAL PREWHERE ${touched} WHERE ${range} AND ${live}`,
    PUBLISHED_CATALOGUE,
  );
}

function regradedFrom(pass: number): Sql {
  return sql`ver % ${uint64(VERSION_STEP)} >= ${uint64(pass)}`;
}

function written({ repeatFrom }: RegradeOrder): Sql {
  return repeatFrom === null ? IS_STALE : sql`1`;
}

function toWrite(order: RegradeOrder, { from, to }: RegradeBatch): Sql {
  const range = sql`block_time >= ${dateTime(from)} AND block_time < ${dateTime(to)}`;
  return sql`SELECT * FROM (${candidates(order, range)}) WHERE ${written(order)}`;
}

/**
 * Writes the rows of a batch that are not what the published catalogue says, and in a repeat those that are. Idempotent.
 *
 * A regraded row keeps its place in time: its `ver` only uses the gap below the next version. So a regular write to its key, above all a
 * tombstone, wins over it however the two statements overlap. Among regrades the later pass wins, and the version of a regraded row
 * never decreases.
 */
export async function regradeBatch(writer: Writer, order: RegradeOrder, batch: RegradeBatch): Promise<void> {
  if (batch.gone > 0) await run(writer, 'regrade-retract-keys', retractKeys(order, batch));
  if (batch.stale > 0) await run(writer, 'regrade-keep', keepStale(order, batch));
  await run(writer, 'regrade-settlements', rewrite(order, batch));
}

const KEPT_AS: Readonly<Record<string, string>> = { ver: 'old_ver', del: 'old_del' };

/**
 * The rows as they are, for readers of an older revision. Before they are written anew: a crash between the two keeps a row that is
 * still so, and a repeat finds a row that was written no longer stale.
 */
function keepStale(order: RegradeOrder, batch: RegradeBatch): Sql {
  const columns = columnNames(SETTLEMENTS);
  const kept = columns.map((column) => KEPT_AS[column] ?? column);
  return sql`INSERT INTO ${trustedText(SETTLEMENT_HISTORY.name)} (${trustedText(kept.join(', '))}, pass)
    SELECT ${trustedText(columns.join(', '))}, ${uint32(order.pass)} FROM (${toWrite(order, batch)}) WHERE ${IS_STALE}`;
}

/** Before the tombstones, as in a retraction: afterwards the keys could not be found any more. */
function retractKeys(order: RegradeOrder, batch: RegradeBatch): Sql {
  return sql`INSERT INTO retracted_keys (hour, chain, payer, payee, relayer)
    SELECT DISTINCT toStartOfHour(block_time), chain, payer, payee, relayer
    FROM (${toWrite(order, batch)}) WHERE new_del = 1`;
}

/** What a regrade changes of a row; every other column is written as it was. */
const NEW_VALUES: Readonly<Record<string, string>> = {
  facilitator: 'new_facilitator',
  method: 'new_method',
  seen: 'new_seen',
  ver: 'new_ver',
  del: 'new_del',
};

/** Columns by name: one that is no longer written would cost as much to read as all that are needed to plan the sweep. */
function rewrite(order: RegradeOrder, batch: RegradeBatch): Sql {
  const columns = columnNames(SETTLEMENTS);
  const step = uint64(VERSION_STEP);
  const room = sql`ver % ${step}`;
  return sql`INSERT INTO ${trustedText(SETTLEMENTS.name)} (${trustedText(columns.join(', '))})
    SELECT ${trustedText(columns.map((column) => NEW_VALUES[column] ?? column).join(', '))}
    FROM (
      SELECT *, intDiv(ver, ${step}) * ${step}
        + least(greatest(${uint64(order.pass)}, ${room} + toUInt64(${IS_STALE})), ${step} - 1) AS new_ver
      FROM (${toWrite(order, batch)})
    )`;
}

/**
 * Makes the hours dirty for the rollups, with a version of the clock: the rows keep a low `ver`, and a predecessor may have written
 * some of them and died before the view marked their hours. Only after the rows are acknowledged: a rollup that was computed
 * during it is computed once more.
 */
export async function markHours(writer: Writer, hours: readonly number[], ver: bigint): Promise<void> {
  if (hours.length === 0) return;
  await run(
    writer,
    'regrade-mark-hours',
    sql`INSERT INTO hour_ver (hour, ver)
      SELECT toDateTime(arrayJoin(${uint64s(hours)}), 'UTC'), ${uint64(ver)}`,
  );
}

function run(writer: Writer, name: string, statement: Sql): Promise<void> {
  return writer.run({
    name,
    scopes: [GRADES_SCOPE],
    sql: statement,
    maxSeconds: BATCH_MAX_SECONDS,
    settings: REGRADE_SETTINGS,
  });
}
