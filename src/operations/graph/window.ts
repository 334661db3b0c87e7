import { accountText, addressBytes, NO_ACCOUNT } from '../../../clickhouse/engine/account.ts';
import { IS_COUNTED } from '../../../clickhouse/engine/counted-rows.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { addressField, integerField, textField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, dateTime, type Sql, sql, text, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Address } from '../../../core/domain/account.ts';
import { microsFromDecimal } from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { PaymentPair } from '../../../core/domain/payment-graph.ts';
import { ask, TWO_THREADS } from '../ask.ts';
import { type FinalBlock, onChain, onlyFinal } from '../index-state/finality.ts';
import { underCeiling } from '../settlements/feed.ts';
import { type SliceSource, type WalkSlice, walkSlices } from '../settlements/slice-walk.ts';

/** SQL that adds settlements up by payer and payee, over all of them or over the log of one wallet. */

/** Which settlements a graph is about. */
export interface PairScope {
  /** Only settlements that this wallet is a party of. */
  readonly wallet: Address | undefined;
  readonly chain: Chain | undefined;
  /** Only rows at or below these blocks; undefined: all. */
  readonly final: readonly FinalBlock[] | undefined;
}

/** Conditions on the sort key: they may be applied before versions are merged. */
function pairConditions({ wallet, chain, final }: PairScope): Sql[] {
  return [
    ...(wallet === undefined ? [] : [sql`wallet = ${text(wallet)}`]),
    ...onChain(chain),
    ...onlyFinal(final),
  ];
}

/** The table whose order fits the scope. */
function pairTable({ wallet }: PairScope): Sql {
  return wallet === undefined ? sql`settlements` : sql`wallet_rows`;
}

/**
 * One row for each live settlement: payer, payee, amount_usd and the sort key. A wallet's log holds its payments to itself
 * twice, once for each role; the payer's row stands for them.
 */
function settlementsOf(scope: PairScope, during: readonly Sql[]): Sql {
  const conditions = allOf([...during, ...pairConditions(scope)]);
  if (scope.wallet === undefined) {
    return sql`SELECT payer, payee, amount_usd, block_time, chain, block_number, log_index
      FROM (SELECT * FROM settlements FINAL WHERE ${conditions}) WHERE ${IS_COUNTED}`;
  }
  const own = addressBytes(scope.wallet);
  return sql`SELECT if(role = 'payer', ${own}, counterparty) AS payer, if(role = 'payer', counterparty, ${own}) AS payee,
      amount_usd, block_time, chain, block_number, log_index
    FROM (SELECT * FROM wallet_rows FINAL WHERE ${conditions})
    WHERE ${IS_COUNTED} AND NOT (role = 'payee' AND counterparty = ${own})`;
}

/** What rows with the columns of `pairsBetween` add up to. */
export const PAIR_SUMS: Sql = sql`sum(settled_usd) AS usd, sum(settlement_count) AS settlements, min(first_time) AS first,
  max(last_time) AS last`;

/** The columns behind `decodePair`, from rows grouped by payer (`a`) and payee (`b`). */
export const PAIR_COLUMNS: Sql = sql`${accountText('a')}, ${accountText('b')}, toString(usd), settlements, toUnixTimestamp(first),
  toUnixTimestamp(last)`;

/** Rows that `largestPairs` answers at most. */
export function pairRowsMax(edgesMax: number): number {
  return edgesMax + 2;
}

/**
 * Rows with the columns of `pairsBetween`, added up by payer and payee: the `edgesMax` largest pairs and one more, which tells that there
 * are others, and before them all payments to oneself as the one pair of the zero address with itself. The order between equal sums is
 * that of `buildPaymentGraph`.
 */
export function largestPairs(pairs: Sql, edgesMax: number): Sql {
  return sql`SELECT ${PAIR_COLUMNS} FROM
    (
      SELECT if(payer = payee, ${NO_ACCOUNT}, payer) AS a, if(payer = payee, ${NO_ACCOUNT}, payee) AS b, ${PAIR_SUMS}
      FROM (${pairs}) GROUP BY a, b
    ) ORDER BY a = b DESC, usd DESC, a, b LIMIT ${uint32(pairRowsMax(edgesMax))}`;
}

/** The newest so many of a set of settlements, each as a row with the columns of `pairsBetween`. */
function newestOf(settlements: Sql, limit: number): Sql {
  return sql`SELECT payer, payee, amount_usd AS settled_usd, 1 AS settlement_count, block_time AS first_time, block_time AS last_time
    FROM (${settlements}) ORDER BY block_time DESC, chain DESC, block_number DESC, log_index DESC LIMIT ${uint32(limit)}`;
}

export function decodePair(row: readonly unknown[]): PaymentPair {
  return {
    payer: addressField(row[0]),
    payee: addressField(row[1]),
    usdMicros: microsFromDecimal(textField(row[2])),
    count: integerField(row[3]),
    firstSeen: integerField(row[4]),
    lastSeen: integerField(row[5]),
  };
}

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
  { ceiling, since, limit }: WalkSlice,
): Promise<Seconds & { readonly count: number }> {
  const during = [sql`block_time >= ${dateTime(since)}`, ...underCeiling(ceiling)];
  const { rows } = await ask(reader, GRAPH_RESOURCE, {
    name: 'graph-floor',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    settings: WINDOW_SETTINGS,
    sql: sql`SELECT count(), toUnixTimestamp(min(first_time)), toUnixTimestamp(max(last_time))
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
