import type { Writer } from '../../../clickhouse/engine/engine.ts';
import {
  dateTime,
  empty,
  type Sql,
  sql,
  trustedText,
  uint64,
  uint64s,
} from '../../../clickhouse/engine/sql.ts';
import { SETTLEMENTS } from '../../../clickhouse/tables/settlements.ts';
import { GRADES_SCOPE } from '../../coordinate/fence.ts';
import { VERSION_STEP } from '../../write/versions.ts';
import { IS_STALE, PUBLISHED_CATALOGUE, REGRADED_COLUMNS, regradedSql } from './grade-sql.ts';

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

/** One scan of the narrow columns shows where the work is: without it every month would be read with FINAL. */
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

/** Far more than a batch ever took. */
const BATCH_MAX_SECONDS = 300;
export const REGRADE_SETTINGS = { do_not_merge_across_partitions_select_final: 1, max_threads: 1 };

export interface RegradeOrder {
  /** The newest pass: what the room below the next version is filled with. */
  readonly pass: number;
  /** Condition on settlements: the rows under the changed keys. */
  readonly touched: Sql;
  /**
   * Set when the pass may have been begun by a process that is gone: the oldest pass that may be half-done. Rows that it
   * regraded are then written once more, because its last statement may have reached the table and not the wallet log.
   */
  readonly repeatFrom: number | null;
}

export interface BatchOutcome {
  readonly changed: number;
  /** Hours whose rollups must be computed again. */
  readonly hours: readonly number[];
}

/** Rows of the order within a time range, each with what the published catalogue says of it. */
function candidates({ touched, repeatFrom }: RegradeOrder, { from, to }: RegradeBatch): Sql {
  const live = repeatFrom === null ? sql`del = 0` : sql`(del = 0 OR ${regradedFrom(repeatFrom)})`;
  return regradedSql(
    sql`SELECT * FROM settlements FINAL
      WHERE block_time >= ${dateTime(from)} AND block_time < ${dateTime(to)} AND ${live} AND ${touched}`,
    PUBLISHED_CATALOGUE,
  );
}

function regradedFrom(pass: number): Sql {
  return sql`ver % ${uint64(VERSION_STEP)} >= ${uint64(pass)}`;
}

function toWrite(order: RegradeOrder, batch: RegradeBatch): Sql {
  const again = order.repeatFrom === null ? sql`` : sql` OR ${regradedFrom(order.repeatFrom)}`;
  return sql`SELECT * FROM (${candidates(order, batch)}) WHERE ${IS_STALE}${again}`;
}

/**
 * Writes the rows of a batch that are not what the published catalogue says, and nothing else. Idempotent.
 *
 * A regraded row keeps its place in time: its `ver` only uses the gap below the next version. So a regular write to its key, above all a
 * tombstone, wins over it however the two statements overlap. Among regrades the later pass wins, and the version of a regraded row
 * never decreases.
 */
export async function regradeBatch(
  writer: Writer,
  order: RegradeOrder,
  batch: RegradeBatch,
): Promise<BatchOutcome> {
  const changes = await countStale(writer, order, batch);
  if (changes.length > 0) {
    await run(writer, 'regrade-retract-keys', retractKeys(order, batch));
    await run(writer, 'regrade-settlements', rewrite(order, batch));
  }
  return {
    changed: changes.reduce((sum, { rows }) => sum + rows, 0),
    // A predecessor may have written its rows and died before it marked their hours.
    hours: order.repeatFrom === null ? changes.map(({ hour }) => hour) : batch.hours,
  };
}

async function countStale(writer: Writer, order: RegradeOrder, batch: RegradeBatch) {
  const { rows } = await writer.rows({
    name: 'regrade-count',
    sql: sql`SELECT toUnixTimestamp(toStartOfHour(block_time)) AS hour, countIf(${IS_STALE}) FROM (${toWrite(order, batch)}) GROUP BY hour`,
    maxSeconds: BATCH_MAX_SECONDS,
    maxRows: (batch.to - batch.from) / HOUR_SECONDS,
    settings: REGRADE_SETTINGS,
  });
  return rows.map(([hour, count]) => ({ hour: Number(hour), rows: Number(count) }));
}

/** Before the tombstones, as in a retraction: afterwards the keys could not be found any more. */
function retractKeys(order: RegradeOrder, batch: RegradeBatch): Sql {
  return sql`INSERT INTO retracted_keys (hour, chain, payer, payee, relayer)
    SELECT DISTINCT toStartOfHour(block_time), chain, payer, payee, relayer
    FROM (${toWrite(order, batch)}) WHERE new_del = 1`;
}

function rewrite(order: RegradeOrder, batch: RegradeBatch): Sql {
  const step = uint64(VERSION_STEP);
  const room = sql`ver % ${step}`;
  return sql`INSERT INTO ${trustedText(SETTLEMENTS.name)}
    SELECT * EXCEPT (${trustedText([...REGRADED_COLUMNS, 'new_ver'].join(', '))})
      REPLACE (new_facilitator AS facilitator, new_method AS method, new_seen AS seen, new_ver AS ver, new_del AS del)
    FROM (
      SELECT *, intDiv(ver, ${step}) * ${step}
        + least(greatest(${uint64(order.pass)}, ${room} + toUInt64(${IS_STALE})), ${step} - 1) AS new_ver
      FROM (${toWrite(order, batch)})
    )`;
}

/**
 * Makes the hours dirty for the rollups: the rows themselves do not, because they keep a low `ver`. Only after the rows are
 * acknowledged, with a version of the clock: a rollup that was computed meanwhile is computed once more.
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
