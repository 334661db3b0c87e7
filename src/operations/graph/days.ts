import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, dateTime, type Sql, sql, text } from '../../../clickhouse/engine/sql.ts';
import type { PaymentPair } from '../../../core/domain/payment-graph.ts';
import { ask } from '../ask.ts';
import {
  decodePair,
  GRAPH_RESOURCE,
  largestPairs,
  type PairScope,
  pairRowsMax,
  settlementsOf,
} from './window.ts';

/** Whole UTC days, from included, to excluded, Unix seconds. */
interface DaySpan {
  readonly from: number;
  readonly to: number;
}

const DAY_SECONDS = 86_400;
/** 0.2 µs a row at 50 M rows on two threads: some four seconds on the one thread that a graph gets. */
export const GRAPH_ROWS_SCANNED_MAX = 10_000_000;
const COUNT_MAX_SECONDS = 5;
/** Below the bound of a request (25 s), waiting for the turn included. */
const GROUP_MAX_SECONDS = 15;
/** A month of a large index has millions of pairs; beyond this they are grouped on disk. */
const GROUP_SPILL_BYTES = 192 * 1024 * 1024;
const GROUP_MEMORY_BYTES_MAX = 640 * 1024 * 1024;

/** The last `days` whole days before the day of `nowMs`. */
export function lastDays(nowMs: number, days: number): DaySpan {
  const today = Math.floor(nowMs / 1_000 / DAY_SECONDS) * DAY_SECONDS;
  return { from: today - days * DAY_SECONDS, to: today };
}

export function daysOf({ from, to }: DaySpan): number {
  return (to - from) / DAY_SECONDS;
}

/**
 * As much of the span as may be read: the newest whole days that hold no more than `rowsMax` stored rows together, at least
 * one. Counted over a column that compresses to nothing; versions count each, because each is read.
 */
export async function readableDays(
  reader: Reader,
  scope: PairScope,
  span: DaySpan,
  rowsMax: number,
): Promise<DaySpan> {
  const isOwn = scope.wallet === undefined ? [] : [sql`wallet = ${text(scope.wallet)}`];
  const table = scope.wallet === undefined ? sql`settlements` : sql`wallet_log`;
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-rows-by-day',
    maxSeconds: COUNT_MAX_SECONDS,
    maxRows: daysOf(span),
    sql: sql`SELECT toUnixTimestamp(toStartOfDay(block_time)) AS day, count() FROM ${table}
      WHERE ${allOf([...isOwn, during(span)])} GROUP BY day ORDER BY day DESC`,
  });
  let total = 0;
  for (const [index, row] of rows.entries()) {
    const [day, count] = [integerField(row[0]), integerField(row[1])];
    total += count;
    if (total > rowsMax && index > 0) return { ...span, from: day + DAY_SECONDS };
  }
  return span;
}

/** Changes with every row written within the span, so that a graph kept under it is never stale. */
export async function readSpanMark(reader: Reader, span: DaySpan): Promise<string> {
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-span-mark',
    maxSeconds: COUNT_MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT concat(toString(groupBitXor(cityHash64(hour, counted))), '/', toString(sum(counted)))
      FROM (SELECT hour, sum(writes) AS counted FROM hour_ver
        WHERE hour >= ${dateTime(span.from)} AND hour < ${dateTime(span.to)} GROUP BY hour)`,
  });
  return textField(rows[0]?.[0]);
}

/** The largest pairs of whole days. One thread, so that point reads keep their latency. */
export async function readGraphDays(
  reader: Reader,
  scope: PairScope,
  span: DaySpan,
  edgesMax: number,
): Promise<PaymentPair[]> {
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-days',
    maxSeconds: GROUP_MAX_SECONDS,
    maxRows: pairRowsMax(edgesMax),
    settings: {
      do_not_merge_across_partitions_select_final: 1,
      max_bytes_before_external_group_by: GROUP_SPILL_BYTES,
      max_memory_usage: GROUP_MEMORY_BYTES_MAX,
    },
    sql: largestPairs(settlementsOf(scope, [during(span)]), edgesMax),
  });
  return rows.map(decodePair);
}

function during({ from, to }: DaySpan): Sql {
  return sql`block_time >= ${dateTime(from)} AND block_time < ${dateTime(to)}`;
}
