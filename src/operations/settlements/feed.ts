import { accountText, addressesBytes } from '../../../clickhouse/engine/account.ts';
import type { Reader, Statement } from '../../../clickhouse/engine/engine.ts';
import { addressField, integerField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, dateTime, type Sql, sql, text, uint32, uint64 } from '../../../clickhouse/engine/sql.ts';
import { settlementRows } from '../../../clickhouse/tables/history.ts';
import {
  decodeSettlement,
  LISTED_COLUMNS,
  type ListedSettlement,
} from '../../../clickhouse/tables/settlements.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Address } from '../../../core/domain/account.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Position } from '../../../core/domain/settlement.ts';
import type { Snapshot } from '../../../core/domain/snapshot.ts';
import { ask } from '../ask.ts';
import { type FinalBlock, onChain, onlyFinal } from '../index-state/finality.ts';
import { invalid } from '../params.ts';
import { EVERY_SETTLEMENT, eventFilters, type FeedFilters, mergedFilters, withinTimes } from './filters.ts';
import type { ForwardSource } from './forward.ts';
import {
  type Ceiling,
  floorOfSecond,
  type SettlementPage,
  type SliceSource,
  type SliceStart,
  type WalkSlice,
  walkSlices,
} from './slice-walk.ts';

/** One page of the feed, newest first, gathered from slices of time (slice-walk.ts). */

interface FeedQuery extends FeedFilters {
  /** Rows wanted, 1 to 100. */
  readonly limit: number;
  readonly before: Position | undefined;
  readonly chain: Chain | undefined;
  /** Only rows at or below these blocks; undefined: all. */
  readonly final: readonly FinalBlock[] | undefined;
  /** Rows as a snapshot has them; `final` is then that of the snapshot. */
  readonly asOf?: Snapshot | undefined;
}

interface FeedDeps {
  readonly reader: Reader;
  readonly clock: Clock;
  /** A recent newest block time of the whole table, null when it is empty. Only a hint where to start. */
  readonly newestTime: () => Promise<number | null>;
}

const RESOURCE = 'settlements';
const MAX_SECONDS = 10;

export async function readFeed(deps: FeedDeps, query: FeedQuery): Promise<SettlementPage> {
  const { reader, clock } = deps;
  const { since: floor = 0 } = query;
  const start = await startOf(deps, query);
  if (start === null) return { rows: [], nextBefore: undefined };
  const rows: ListedSettlement[] = [];
  const source: SliceSource = {
    take: async (slice) => {
      const found = await readWindow(reader, query, slice);
      rows.push(...found);
      return found.length;
    },
    newestBelow: (second) => newestMatch(reader, query, [sql`block_time < ${dateTime(second)}`]),
  };
  // One more than the page shows whether the list continues, without a second query.
  const walked = await walkSlices(source, {
    // The newest time known is up to two seconds old: a later floor is no end.
    start: { ...start, floor, top: Math.max(start.top, floor) },
    rowsWanted: query.limit + 1,
    clock,
  });
  switch (walked.kind) {
    case 'all':
      return cutPage(rows, query.limit);
    case 'end':
      return { rows, nextBefore: undefined };
    case 'stopped':
      if (query.asOf !== undefined) throw tooRare();
      // The page ends early, with a cursor to go on from.
      return { rows, nextBefore: resumeAt(walked.ceiling, query.before) };
  }
}

/** How far a walk gets in its time is chance, and an answer of a snapshot must not depend on that. */
function tooRare(): Error {
  return invalid(
    'since',
    'The filters match too few rows for a page of a snapshot. Bound the time with since and until, or use SQL.',
  );
}

/**
 * Below the cursor, or at the newest row. Where only final rows count, that is the newest final one: the slices above it
 * would be merged for nothing. Null when there is nothing to read.
 */
async function startOf({ reader, newestTime }: FeedDeps, query: FeedQuery): Promise<SliceStart | null> {
  const { before, final, until = Number.POSITIVE_INFINITY } = query;
  if (final?.length === 0) return null;
  if (before !== undefined) {
    const top = Math.min(before.blockTime, until - 1);
    return { ceiling: { kind: 'below-row', position: before }, top };
  }
  if (final === undefined) {
    const newest = await newestTime();
    return newest === null ? null : { ceiling: { kind: 'open' }, top: Math.min(newest, until - 1) };
  }
  const top = await newestMatch(reader, query, []);
  return top < 0 ? null : { ceiling: { kind: 'below-second', blockTime: top + 1 }, top };
}

/** The page from one row more than it holds, which shows that the list goes on. */
export function cutPage(rows: readonly ListedSettlement[], limit: number): SettlementPage {
  const page = rows.slice(0, limit);
  return { rows: page, nextBefore: page.at(-1) };
}

/** Everything at or above the ceiling has been read, shown or not. */
function resumeAt(ceiling: Ceiling, before: Position | undefined): Position | undefined {
  return ceiling.kind === 'below-second' ? floorOfSecond(ceiling.blockTime) : before;
}

async function readWindow(reader: Reader, query: FeedQuery, window: WalkSlice): Promise<ListedSettlement[]> {
  const { rows } = await ask(reader, RESOURCE, windowStatement(query, window));
  return rows.map(decodeSettlement);
}

/**
 * Versions are merged (FINAL) before anything but the sort key is filtered: an older version of a row must not answer for
 * a newer one that was tombstoned or regraded.
 */
function windowStatement(query: FeedQuery, { ceiling, since, limit }: WalkSlice): Statement {
  const slice = [sql`block_time >= ${dateTime(since)}`, ...underCeiling(ceiling), ...keyFilters(query)];
  return {
    name: 'feed-window',
    maxSeconds: MAX_SECONDS,
    maxRows: limit,
    settings: { do_not_merge_across_partitions_select_final: 1 },
    sql: sql`SELECT ${LISTED_COLUMNS} FROM ${settlementRows(query.asOf, slice)}
      WHERE ${allOf([sql`del = 0`, ...mergedFilters(query)])}
      ORDER BY block_time DESC, chain DESC, block_number DESC, log_index DESC LIMIT ${uint32(limit)}`,
  };
}

/** `block_time <=` repeats what the tuple says because only it prunes: 12 ms against 163 ms. */
export function underCeiling(ceiling: Ceiling): Sql[] {
  switch (ceiling.kind) {
    case 'open':
      return [];
    case 'below-second':
      return [sql`block_time < ${dateTime(ceiling.blockTime)}`];
    case 'below-row':
      return [isBelow(ceiling.position)];
  }
}

/** Everything that sorts below a position. */
export function isBelow(position: Position): Sql {
  return sql`block_time <= ${dateTime(position.blockTime)} AND ${SORT_KEY} < ${keyOf(position)}`;
}

/** A position and everything that sorts above it. */
export function isAtOrAbove(position: Position): Sql {
  return sql`block_time >= ${dateTime(position.blockTime)} AND ${SORT_KEY} >= ${keyOf(position)}`;
}

const SORT_KEY = sql`(block_time, chain, block_number, log_index)`;

function keyOf({ blockTime, chain, blockNumber, logIndex }: Position): Sql {
  return sql`(${dateTime(blockTime)}, ${text(chain)}, ${uint64(blockNumber)}, ${uint32(logIndex)})`;
}

/** The newest rows of a list from a second on. */
export function readNewest(
  reader: Reader,
  {
    chain,
    since,
    limit,
  }: { readonly chain: Chain | undefined; readonly since: number; readonly limit: number },
): Promise<ListedSettlement[]> {
  const query = { ...EVERY_SETTLEMENT, chain, limit, before: undefined, final: undefined };
  return readWindow(reader, query, { ceiling: { kind: 'open' }, since, limit });
}

/** An insert of live blocks has an entry or two: a window is a few minutes of them. */
const FORWARD_ENTRIES = 256;
/** Rows of all chains are merged, so hours are read a few at a time. */
const FORWARD_SPAN_SECONDS = 7_200;
const FORWARD_HOURS_MAX = 24;

/** The feed for reading forward. */
export function feedSource(query: FeedFilters & { readonly chain: Chain | undefined }): ForwardSource {
  return {
    of: { ...query, wallet: undefined },
    entries: FORWARD_ENTRIES,
    spanSeconds: FORWARD_SPAN_SECONDS,
    hours: FORWARD_HOURS_MAX,
    statement: ({ range, conditions, fields, limit }) => ({
      name: 'feed-changes',
      maxSeconds: MAX_SECONDS,
      maxRows: limit,
      settings: { do_not_merge_across_partitions_select_final: 1 },
      sql: sql`SELECT ${LISTED_COLUMNS}, ${fields} FROM (SELECT * FROM settlements FINAL
          WHERE ${allOf([...range, ...onChain(query.chain), ...withinTimes(query)])})
        WHERE ${allOf([sql`del = 0`, ...conditions, ...eventFilters(query)])}
        ORDER BY block_time, chain, block_number, log_index LIMIT ${uint32(limit)}`,
    }),
  };
}

/** Conditions on the sort key: they may be applied before versions are merged. */
function keyFilters(query: FeedQuery): Sql[] {
  return [...onChain(query.chain), ...onlyFinal(query.final), ...withinTimes(query)];
}

/**
 * The newest second within `range` that has any version of a matching row; -1 when there is none. Not merged: it only says
 * where looking pays. Reading in order with a virtual row touches one granule of one part instead of one of every part.
 */
async function newestMatch(reader: Reader, query: FeedQuery, range: readonly Sql[]): Promise<number> {
  // A snapshot may have had other grades.
  const values = query.asOf === undefined ? mergedFilters(query) : eventFilters(query);
  const conditions = [...range, ...keyFilters(query), ...values];
  const { rows } = await ask(reader, RESOURCE, {
    name: 'feed-jump',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    settings: { read_in_order_use_virtual_row: 1 },
    sql: sql`SELECT toUnixTimestamp(block_time) FROM settlements WHERE ${allOf(conditions)}
      ORDER BY block_time DESC LIMIT 1`,
  });
  const [row] = rows;
  return row === undefined ? -1 : integerField(row[0]);
}

const LAST_SETTLED_MAX_SECONDS = 5;

/**
 * When each of the wallets was last in a settlement, as payer or payee on any indexed chain: Unix seconds; a wallet that never
 * was is missing. One that a reorg took back counts too. A wallet costs one granule of 256 rows in each part, however much it
 * settled.
 */
export async function readLastSettled(
  reader: Reader,
  wallets: readonly (Address | null)[],
): Promise<ReadonlyMap<Address, number>> {
  const asked = [...new Set(wallets)].filter((wallet) => wallet !== null);
  if (asked.length === 0) return new Map();
  const { rows } = await ask(reader, 'wallets', {
    name: 'last-settled',
    maxSeconds: LAST_SETTLED_MAX_SECONDS,
    maxRows: asked.length,
    sql: sql`SELECT ${accountText('wallet')}, toUnixTimestamp(max(last_time)) FROM wallet_seen
      WHERE wallet IN ${addressesBytes(asked)}
      GROUP BY wallet`,
  });
  return new Map(rows.map((row) => [addressField(row[0]), integerField(row[1])]));
}
