import type { Reader } from '../../clickhouse/engine.ts';
import { allOf, dateTime, type Sql, sql } from '../../clickhouse/sql.ts';
import type { Clock } from '../clock.ts';
import type { PaymentPair } from '../domain/payment-graph.ts';
import { ask } from './ask.ts';
import { integerField } from './decode.ts';
import { underCeiling } from './feed.ts';
import {
  decodePair,
  groupPairs,
  newestOf,
  type PairScope,
  pairConditions,
  pairTable,
  settlementsOf,
} from './payment-pairs.ts';
import { type Slice, type SliceSource, walkSlices } from './slice-walk.ts';

export const GRAPH_RESOURCE = 'payment graph';
const MAX_SECONDS = 10;
/** Groups of a slice: no more than its settlements, which the caller bounds. */
const PAIRS_MAX = 100_000;

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

/** The newest `rowsWanted` settlements of the scope, payments to oneself included, added up by payer and payee. */
export async function readGraphWindow(
  deps: { readonly reader: Reader; readonly clock: Clock },
  scope: PairScope,
  rowsWanted: number,
): Promise<GraphRead> {
  const { reader, clock } = deps;
  const top = await newestSecond(reader, scope, []);
  if (top < 0) return { pairs: [], since: null, until: null, days: null, isScanCapped: false };
  const pairs: PaymentPair[] = [];
  const source: SliceSource = {
    take: async (slice) => {
      const found = await readSlice(reader, scope, slice);
      for (const pair of found) pairs.push(pair);
      return found.reduce((sum, { count }) => sum + count, 0);
    },
    newestBelow: (second) => newestSecond(reader, scope, [sql`block_time < ${dateTime(second)}`]),
  };
  // What arrives from here on is newer than this answer.
  const start = { ceiling: { kind: 'below-second', blockTime: top + 1 }, top } as const;
  const walked = await walkSlices(source, { start, rowsWanted, clock });
  return { pairs, ...spanOf(pairs), days: null, isScanCapped: walked.kind === 'stopped' };
}

function spanOf(pairs: readonly PaymentPair[]): { since: number | null; until: number | null } {
  if (pairs.length === 0) return { since: null, until: null };
  return {
    since: pairs.reduce((oldest, { firstSeen }) => Math.min(oldest, firstSeen), Number.POSITIVE_INFINITY),
    until: pairs.reduce((newest, { lastSeen }) => Math.max(newest, lastSeen), 0),
  };
}

async function readSlice(
  reader: Reader,
  scope: PairScope,
  { ceiling, since, limit }: Slice,
): Promise<PaymentPair[]> {
  const during = [sql`block_time >= ${dateTime(since)}`, ...underCeiling(ceiling)];
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-slice',
    maxSeconds: MAX_SECONDS,
    maxRows: PAIRS_MAX,
    settings: { do_not_merge_across_partitions_select_final: 1 },
    sql: groupPairs(newestOf(settlementsOf(scope, during), limit), sql`ORDER BY a, b`),
  });
  return rows.map(decodePair);
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
