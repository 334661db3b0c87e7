import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { allOf, dateTime, type Sql, sql } from '../../../clickhouse/engine/sql.ts';
import type { Clock } from '../../../core/clock.ts';
import type { PaymentPair } from '../../../core/domain/payment-graph.ts';
import { ask, TWO_THREADS } from '../read/ask.ts';
import { integerField } from '../read/decode.ts';
import { underCeiling } from '../settlements/feed.ts';
import { type Slice, type SliceSource, walkSlices } from '../settlements/slice-walk.ts';
import {
  decodePair,
  largestPairs,
  newestOf,
  type PairScope,
  pairConditions,
  pairRowsMax,
  pairTable,
  settlementsOf,
} from './payment-pairs.ts';

export const GRAPH_RESOURCE = 'graph';
const MAX_SECONDS = 10;
/** Two threads: a window is bounded, and over in a tenth of a second. */
const WINDOW_SETTINGS = { ...TWO_THREADS, do_not_merge_across_partitions_select_final: 1 } as const;

export interface GraphRead {
  readonly pairs: readonly PaymentPair[];
  /** Unix seconds: the oldest settlement counted, or the first day; null when there is none. */
  readonly since: number | null;
  /** The newest settlement counted, or the end of the last day (excluded). */
  readonly until: number | null;
  /** Whole days that were read; null where days are not what was asked for. */
  readonly days: number | null;
  /** Whether a bound of the scan left out settlements that were asked for. */
  readonly isScanCapped: boolean;
}

/**
 * The newest `rowsWanted` settlements of the scope, payments to oneself included, added up by payer and payee. How far back
 * they reach is counted first, over slices that read little but the sort key; then the engine adds up just that range, so
 * that of up to 50,000 settlements only the largest pairs travel.
 */
export async function readGraphWindow(
  deps: { readonly reader: Reader; readonly clock: Clock },
  scope: PairScope,
  rowsWanted: number,
  edgesMax: number,
): Promise<GraphRead> {
  const { reader } = deps;
  const { seconds, isScanCapped } = await secondsOfNewest(deps, scope, rowsWanted);
  if (seconds === null) return { pairs: [], since: null, until: null, days: null, isScanCapped };
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-window',
    maxSeconds: MAX_SECONDS,
    maxRows: pairRowsMax(edgesMax),
    settings: WINDOW_SETTINGS,
    // Cut here and not only at the second counted: its settlements may be more than those wanted of it.
    sql: largestPairs(newestOf(settlementsOf(scope, duringSeconds(seconds)), rowsWanted), edgesMax),
  });
  return {
    pairs: rows.map(decodePair),
    since: seconds.oldest,
    until: seconds.newest,
    days: null,
    isScanCapped,
  };
}

/** Both included, Unix seconds. */
interface Seconds {
  readonly oldest: number;
  readonly newest: number;
}

/** Between which seconds the newest `rowsWanted` settlements lie; null when there is none. */
async function secondsOfNewest(
  { reader, clock }: { readonly reader: Reader; readonly clock: Clock },
  scope: PairScope,
  rowsWanted: number,
): Promise<{ readonly seconds: Seconds | null; readonly isScanCapped: boolean }> {
  const top = await newestSecond(reader, scope, []);
  if (top < 0) return { seconds: null, isScanCapped: false };
  let seconds: Seconds | null = null;
  const source: SliceSource = {
    take: async (slice) => {
      const { count, oldest, newest } = await countSlice(reader, scope, slice);
      if (count > 0) seconds = { oldest, newest: seconds?.newest ?? newest };
      return count;
    },
    newestBelow: (second) => newestSecond(reader, scope, [sql`block_time < ${dateTime(second)}`]),
  };
  // What arrives from here on is newer than this answer.
  const start = { ceiling: { kind: 'below-second', blockTime: top + 1 }, top } as const;
  const walked = await walkSlices(source, { start, rowsWanted, clock });
  return { seconds, isScanCapped: walked.kind === 'stopped' };
}

async function countSlice(
  reader: Reader,
  scope: PairScope,
  { ceiling, since, limit }: Slice,
): Promise<Seconds & { readonly count: number }> {
  const during = [sql`block_time >= ${dateTime(since)}`, ...underCeiling(ceiling)];
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-floor',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    settings: WINDOW_SETTINGS,
    sql: sql`SELECT count(), toUnixTimestamp(min(block_time)), toUnixTimestamp(max(block_time))
      FROM (${newestOf(settlementsOf(scope, during), limit)})`,
  });
  const [count, oldest, newest] = rows[0] ?? [];
  return { count: integerField(count), oldest: integerField(oldest), newest: integerField(newest) };
}

function duringSeconds({ oldest, newest }: Seconds): Sql[] {
  return [sql`block_time >= ${dateTime(oldest)}`, sql`block_time <= ${dateTime(newest)}`];
}

/** The newest second of any version of a row, -1 without one. Not merged: it only says where looking pays. */
async function newestSecond(reader: Reader, scope: PairScope, range: readonly Sql[]): Promise<number> {
  const order = scope.wallet === undefined ? sql`block_time DESC` : sql`wallet DESC, block_time DESC`;
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-jump',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    settings: { read_in_order_use_virtual_row: 1 },
    sql: sql`SELECT toUnixTimestamp(block_time) FROM ${pairTable(scope)}
      WHERE ${allOf([...range, ...pairConditions(scope)])} ORDER BY ${order} LIMIT 1`,
  });
  const [row] = rows;
  return row === undefined ? -1 : integerField(row[0]);
}
