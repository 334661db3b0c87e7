import { NO_ACCOUNT } from '../../../clickhouse/engine/account.ts';
import { IS_COUNTED } from '../../../clickhouse/engine/counted-rows.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, dateTime, type Sql, sql, text, uint32, unionAll } from '../../../clickhouse/engine/sql.ts';
import {
  closedHours,
  closedSlices,
  DAY_SECONDS,
  isClosed,
  openRows,
  type RollupCoverage,
} from '../../../clickhouse/tables/coverage.ts';
import { rollupBasis } from '../../../clickhouse/tables/rollups.ts';
import { GRAPH_DAYS_KEPT, type PaymentPair } from '../../../core/domain/payment-graph.ts';
import { ask } from '../ask.ts';
import { type FinalBlock, finalCoverage, onChain, onFinalChain, onlyFinal } from '../index-state/finality.ts';
import { PAIR_SETTINGS, pairsBetween } from '../index-state/pairs.ts';
import { readCoverage } from '../index-state/rollups.ts';
import {
  decodePair,
  GRAPH_RESOURCE,
  largestPairs,
  PAIR_COLUMNS,
  PAIR_SUMS,
  type PairScope,
  pairRowsMax,
} from './window.ts';

/** Graphs of whole days: closed ones from the rollup of pairs, all others from the rows. */

/** Whole UTC days, from included, to excluded, Unix seconds. */
export interface DaySpan {
  readonly from: number;
  readonly to: number;
}

export interface DaysRead {
  readonly pairs: readonly PaymentPair[];
  /** The days that were read: the newest of those that were asked for. */
  readonly span: DaySpan;
}

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

/**
 * The largest pairs of as many of the newest days asked for as hold no more than `rowsScannedMax` settlements together, at least one. One
 * thread, so that point reads keep their latency.
 */
export async function readGraphDays(
  reader: Reader,
  scope: PairScope,
  wanted: { readonly asked: DaySpan; readonly edgesMax: number; readonly rowsScannedMax: number },
): Promise<DaysRead> {
  const { asked, edgesMax, rowsScannedMax } = wanted;
  // Not the one that is kept for a second: a write since then may be in the mark already.
  const known = await readCoverage(reader);
  const coverage = scope.final === undefined ? known : await finalCoverage(reader, known, scope.final);
  const read = { scope, coverage };
  const span = await readableDays(reader, read, asked, rowsScannedMax);
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-days',
    maxSeconds: GROUP_MAX_SECONDS,
    maxRows: pairRowsMax(edgesMax),
    settings: {
      ...PAIR_SETTINGS,
      max_threads: 1,
      max_bytes_before_external_group_by: GROUP_SPILL_BYTES,
      max_memory_usage: GROUP_MEMORY_BYTES_MAX,
    },
    sql: scope.wallet === undefined ? allPairs(read, span, edgesMax) : ownPairs(read, span, edgesMax),
  });
  return { pairs: rows.map(decodePair), span };
}

/**
 * The largest pairs as a pass of the worker added them up, if that is still what the rollups say; else null. Reads a row for each edge, so
 * it takes no turn.
 */
export async function readKeptDays(
  reader: Reader,
  scope: PairScope,
  { asked, edgesMax }: { readonly asked: DaySpan; readonly edgesMax: number },
): Promise<DaysRead | null> {
  const { wallet, chain, final } = scope;
  if (wallet !== undefined || !GRAPH_DAYS_KEPT.includes(daysOf(asked))) return null;
  if (final !== undefined && !(await isAllFinal(reader, { chain, final }, asked))) return null;
  const pass = sql`(SELECT max(gen) FROM largest_pair_passes WHERE days = ${uint32(daysOf(asked))} AND until = ${dateTime(asked.to)}
      AND basis = ${rollupBasis(sql`${dateTime(asked.to)}`, sql`${dateTime(asked.from)}`)})`;
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-kept-days',
    maxSeconds: COUNT_MAX_SECONDS,
    maxRows: pairRowsMax(edgesMax),
    sql: sql`SELECT ${PAIR_COLUMNS} FROM (
        SELECT payer AS a, payee AS b, settled_usd AS usd, settlement_count AS settlements, first_time AS first, last_time AS last
        FROM largest_pairs WHERE gen = ${pass} AND chain = ${text(chain ?? '')} AND rank < ${uint32(pairRowsMax(edgesMax))})`,
  });
  // Every pass has a row of payments to oneself, if only of none.
  if (rows.length === 0) return null;
  return { pairs: rows.map(decodePair).filter(({ count }) => count > 0), span: asked };
}

/** Whether finality leaves nothing out of these days of the chain. Over all chains it leaves out those that stated no final block. */
async function isAllFinal(
  reader: Reader,
  { chain, final }: Pick<PairScope, 'chain'> & { readonly final: readonly FinalBlock[] },
  asked: DaySpan,
): Promise<boolean> {
  const own = final.filter((block) => block.chain === chain);
  if (own.length === 0) return false;
  return isClosed(await finalCoverage(reader, NOTHING_OPEN, own), asked);
}

const NOTHING_OPEN: RollupCoverage = { open: [], splitDays: [] };

interface PastRead {
  readonly scope: PairScope;
  readonly coverage: RollupCoverage;
}

/** Payments to oneself come from `chain_hour`, so that the pairs are grouped once, by columns as they are stored. */
function allPairs({ scope, coverage }: PastRead, span: DaySpan, edgesMax: number): Sql {
  const { chain, final } = scope;
  const between = sql`SELECT payer AS a, payee AS b, ${PAIR_SUMS} FROM ${pairsBetween(span, { chain, final }, coverage)}
    WHERE payer != payee GROUP BY payer, payee`;
  const own = unionAll([
    sql`SELECT self_usd, self_count FROM chain_hour FINAL
      WHERE ${allOf([sql`hour >= ${dateTime(span.from)} AND hour < ${dateTime(span.to)}`, ...onChain(chain), ...onFinalChain(final), closedHours(coverage)])}`,
    ...openOnly(
      coverage,
      span,
      sql`SELECT toDecimal128(amount_usd, 6), toUInt64(1)
        FROM (SELECT * FROM settlements FINAL WHERE ${allOf([...openDuring({ scope, coverage }, span)])}) WHERE payer = payee AND ${IS_COUNTED}`,
    ),
  ]);
  return sql`SELECT ${PAIR_COLUMNS} FROM (
      SELECT * FROM (${between}) ORDER BY usd DESC, a, b LIMIT ${uint32(pairRowsMax(edgesMax) - 1)}
      UNION ALL
      SELECT ${NO_ACCOUNT}, ${NO_ACCOUNT}, sum(self_usd) AS usd, sum(self_count) AS settlements, toDateTime(0, 'UTC'), toDateTime(0, 'UTC')
      FROM (${own}) HAVING settlements > 0)`;
}

/** A payment of the wallet to itself is in both directions, and counts once. */
function ownPairs({ scope, coverage }: PastRead, span: DaySpan, edgesMax: number): Sql {
  const { wallet, chain, final } = scope;
  const paid = pairsBetween(span, { payer: wallet, chain, final }, coverage);
  const received = pairsBetween(span, { payee: wallet, chain, final }, coverage);
  return largestPairs(
    unionAll([sql`SELECT * FROM ${paid}`, sql`SELECT * FROM ${received} WHERE payer != payee`]),
    edgesMax,
  );
}

/**
 * As much of the span as may be read: the newest whole days that hold no more than `rowsMax` settlements together, at least one. The
 * settlements of closed days stand for their pairs, which are fewer; of open days versions count each, because each is read.
 */
async function readableDays(
  reader: Reader,
  read: PastRead,
  span: DaySpan,
  rowsMax: number,
): Promise<DaySpan> {
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-rows-by-day',
    maxSeconds: COUNT_MAX_SECONDS,
    maxRows: daysOf(span),
    sql: sql`SELECT toUnixTimestamp(toDateTime(day, 'UTC')), sum(n) AS counted FROM (${unionAll(countsByDay(read, span))})
      GROUP BY day HAVING counted > 0 ORDER BY day DESC`,
  });
  let total = 0;
  for (const [index, row] of rows.entries()) {
    const [day, count] = [integerField(row[0]), integerField(row[1])];
    total += count;
    if (total > rowsMax && index > 0) return { ...span, from: day + DAY_SECONDS };
  }
  return span;
}

function countsByDay(read: PastRead, span: DaySpan): Sql[] {
  const { wallet } = read.scope;
  const { coverage } = read;
  const table = wallet === undefined ? sql`settlements` : sql`wallet_rows`;
  const open = openOnly(
    coverage,
    span,
    sql`SELECT toDate(block_time) AS day, count() AS n FROM ${table} WHERE ${allOf(openDuring(read, span))} GROUP BY day`,
  );
  if (wallet === undefined) {
    const hours = sql`hour >= ${dateTime(span.from)} AND hour < ${dateTime(span.to)} AND ${closedHours(coverage)}`;
    return [
      sql`SELECT toDate(hour) AS day, settlement_count AS n FROM chain_hour FINAL WHERE ${hours}`,
      ...open,
    ];
  }
  const days = sql`day >= toDate(${dateTime(span.from)}) AND day < toDate(${dateTime(span.to)}) AND ${closedSlices(coverage)}`;
  return [
    sql`SELECT day, settlement_count AS n FROM payee_day FINAL WHERE payee = ${text(wallet)} AND ${days}`,
    sql`SELECT day, settlement_count AS n FROM payer_day FINAL WHERE payer = ${text(wallet)} AND ${days}`,
    ...open,
  ];
}

/** The part that is read from rows, unless the rollups answer for the whole span. */
function openOnly(coverage: RollupCoverage, span: DaySpan, part: Sql): Sql[] {
  return isClosed(coverage, span) ? [] : [part];
}

/** Conditions on the sort key: they may be applied before versions are merged. */
function openDuring({ scope, coverage }: PastRead, span: DaySpan): Sql[] {
  const { wallet, chain, final } = scope;
  return [
    ...(wallet === undefined ? [] : [sql`wallet = ${text(wallet)}`]),
    sql`block_time >= ${dateTime(span.from)} AND block_time < ${dateTime(span.to)}`,
    openRows(coverage),
    ...onChain(chain),
    ...onlyFinal(final),
  ];
}
