import { addressBytes, NO_TRANSACTION, transactionText } from '../../../clickhouse/engine/account.ts';
import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { integerField, textField, transactionField } from '../../../clickhouse/engine/row-reader.ts';
import {
  allOf,
  dateTime,
  type Sql,
  sql,
  text,
  trustedText,
  uint32,
  uint64,
} from '../../../clickhouse/engine/sql.ts';
import { NODE_VIEWS } from '../../../clickhouse/guest/public-views.ts';
import { CHANGES_KEPT_DAYS } from '../../../clickhouse/tables/changes.ts';
import type { Address, TransactionId } from '../../../core/domain/account.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { ask } from '../ask.ts';
import { onChain } from '../index-state/finality.ts';
import type { FeedFilters } from './filters.ts';

/**
 * The order in which settlements were written, from `settlement_changes`. Times are the engine's, in microseconds. A window of that
 * order, once its end is below the horizon, never gets another entry.
 */

const RESOURCE = 'settlements';
const MAX_SECONDS = 10;

const KEPT_MICROS = CHANGES_KEPT_DAYS * 86_400 * 1_000_000;
/**
 * A clock that is corrected, and on a cluster clocks of several nodes, may differ by this without an entry being missed. Entries
 * written last are read that much later.
 */
const CLOCK_ERROR_MICROS = 500_000;

export interface Horizon {
  /** Every insert with an entry at or before this time has ended: what it wrote can be seen, and nothing more will come. */
  readonly complete: number;
  /** Entries after this time are all still there. */
  readonly oldest: number;
  /** No cursor that was given out is after this time. */
  readonly now: number;
}

/**
 * An entry has the time at which its insert was under way, and rows are seen when the insert ends. So the complete entries end where the
 * oldest insert began that still runs. The time is taken before the engine lists what runs: an insert that is not listed has ended, or
 * begins later. Rollups write no settlement and can take long.
 */
export async function readHorizon(reader: Reader): Promise<Horizon> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'changes-horizon',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT toUnixTimestamp64Micro(now64(6)), toUInt64(ceil(max(elapsed) * 1000000)) FROM ${trustedText(NODE_VIEWS.statements)}
      WHERE query_kind = 'Insert' AND current_database = currentDatabase() AND position(Settings['log_comment'], ' @rollup:') = 0`,
  });
  const [now = 0, longest = 0] = (rows[0] ?? []).map(Number);
  return { complete: now - longest - CLOCK_ERROR_MICROS, oldest: now - KEPT_MICROS, now };
}

/** Entries after `from`, up to `to`. */
export interface EntryWindow {
  readonly from: number;
  readonly to: number;
}

/** The subject whose changes count: a chain, or a wallet. */
export interface ChangesOf extends Pick<FeedFilters, 'since' | 'until'> {
  readonly chain: Chain | undefined;
  readonly wallet: Address | undefined;
}

const at = (micros: number): Sql =>
  sql`fromUnixTimestamp64Micro(toInt64(${uint64(Math.max(0, micros))}), 'UTC')`;
/** Tombstones have an entry of their own. */
const IS_GONE = sql`gone_tx != ${NO_TRANSACTION}`;

function entries({ chain }: Pick<ChangesOf, 'chain'>, { from, to }: EntryWindow): Sql[] {
  return [sql`at > ${at(from)}`, sql`at <= ${at(to)}`, ...onChain(chain)];
}

/** The end of a window of about so many entries; all entries of one moment are in one window. */
export async function windowEnd(
  reader: Reader,
  of: ChangesOf,
  window: EntryWindow,
  wanted: number,
): Promise<number> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'changes-window',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT toUnixTimestamp64Micro(at) FROM settlement_changes WHERE ${allOf(entries(of, window))}
      ORDER BY at LIMIT 1 OFFSET ${uint32(wanted - 1)}`,
  });
  const [row] = rows;
  return row === undefined ? window.to : Number(row[0]);
}

/** The newest entry that can be seen; 0 where there is none. */
export async function newestEntry(reader: Reader): Promise<number> {
  const { rows } = await ask(reader, RESOURCE, {
    name: 'changes-newest',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT toUnixTimestamp64Micro(max(at)) FROM settlement_changes`,
  });
  return Number(rows[0]?.[0] ?? 0);
}

interface News {
  readonly newest: number;
  /** The oldest second of a row that was written or taken, but not below `notBefore`; undefined where nothing was. */
  readonly since: number | undefined;
}

/**
 * What happened after `from` to rows from `notBefore` on, whether its inserts have ended or not. `newest` is what it said the last time;
 * undefined where that entry is gone, because the tables were emptied or it is too old.
 */
export async function newsAfter(
  reader: Reader,
  {
    chain,
    from,
    newest,
    notBefore,
  }: {
    readonly chain: Chain | undefined;
    readonly from: number;
    readonly newest: number;
    readonly notBefore: number;
  },
): Promise<News | undefined> {
  const touched = allOf([sql`at > ${at(from)}`, sql`last_time >= ${dateTime(notBefore)}`, ...onChain(chain)]);
  const { rows } = await ask(reader, RESOURCE, {
    name: 'changes-news',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT toUnixTimestamp64Micro(max(at)), countIf(at = ${at(newest)}), countIf(${touched}), toUnixTimestamp(minIf(first_time, ${touched}))
      FROM settlement_changes WHERE at >= ${at(newest === 0 ? from : Math.min(newest, from))}`,
  });
  const [last, known, count, first] = (rows[0] ?? []).map(Number);
  if (last === undefined || first === undefined || (newest !== 0 && known === 0)) return undefined;
  return { newest: Math.max(newest, last), since: count === 0 ? undefined : Math.max(first, notBefore) };
}

export interface GoneEvent {
  readonly chain: Chain;
  readonly txHash: TransactionId;
  readonly logIndex: number;
}

/** Events of a window that lost their place, from the `skipped`th on. */
export async function readGone(
  reader: Reader,
  { chain, wallet }: ChangesOf,
  window: EntryWindow,
  { skipped, limit }: { readonly skipped: number; readonly limit: number },
): Promise<GoneEvent[]> {
  const party =
    wallet === undefined
      ? []
      : [sql`(gone_payer = ${addressBytes(wallet)} OR gone_payee = ${addressBytes(wallet)})`];
  const { rows } = await ask(reader, RESOURCE, {
    name: 'changes-gone',
    maxSeconds: MAX_SECONDS,
    maxRows: limit,
    sql: sql`SELECT DISTINCT chain, ${transactionText('gone_tx')}, gone_log, gone_block FROM settlement_changes
      WHERE ${allOf([...entries({ chain }, window), IS_GONE, ...party])}
      ORDER BY chain, gone_block, gone_log, gone_tx LIMIT ${uint32(limit)} OFFSET ${uint32(skipped)}`,
  });
  return rows.map(([ofChain, txHash, logIndex]) => ({
    chain: textField(ofChain) as Chain, // written by ingest from `Chain` values only
    txHash: transactionField(txHash),
    logIndex: integerField(logIndex),
  }));
}

/** What a window wrote of a chain within an hour: no row outside these bounds. */
export interface TouchedHour {
  readonly chain: Chain;
  readonly firstTime: number;
  readonly lastTime: number;
  /** Condition on the columns of a row that it can be one of these. */
  readonly isWithin: Sql;
}

/** An hour on every chain of a month. */
const HOURS_MAX = 100_000;

/** Ascending by time. `notBefore`: Unix seconds. */
export async function touchedHours(
  reader: Reader,
  { chain, since, until }: ChangesOf,
  window: EntryWindow,
  notBefore: number,
): Promise<TouchedHour[]> {
  const bounds = [
    sql`last >= ${dateTime(Math.max(notBefore, since ?? 0))}`,
    ...(until === undefined ? [] : [sql`first < ${dateTime(until)}`]),
  ];
  const { rows } = await ask(reader, RESOURCE, {
    name: 'changes-hours',
    maxSeconds: MAX_SECONDS,
    maxRows: HOURS_MAX,
    sql: sql`SELECT chain, toUnixTimestamp(min(first_time) AS first), toUnixTimestamp(max(last_time) AS last),
        toString(min(first_ver)), toString(max(last_ver)), toString(min(first_room)), toString(max(last_room))
      FROM settlement_changes WHERE ${allOf([...entries({ chain }, window), sql`NOT ${IS_GONE}`])}
      GROUP BY chain, hour HAVING ${allOf(bounds)} ORDER BY hour, chain`,
  });
  return rows.map(([ofChain, first, last, ...versions]) => {
    const named = textField(ofChain) as Chain; // as above
    const [firstTime, lastTime] = [integerField(first), integerField(last)];
    const [firstVer = 0n, lastVer = 0n, firstRoom = 0n, lastRoom = 0n] = versions.map((field) =>
      BigInt(textField(field)),
    );
    return {
      chain: named,
      firstTime,
      lastTime,
      isWithin: sql`(chain = ${text(named)} AND block_time >= ${dateTime(firstTime)} AND block_time <= ${dateTime(lastTime)}
        AND ver >= ${uint64(firstVer)} AND ver <= ${uint64(lastVer)} AND ${ROOM} >= ${uint64(firstRoom)} AND ${ROOM} <= ${uint64(lastRoom)})`,
    };
  });
}

/** What regrades added to the version of a row. */
export const ROOM = sql`ver % 100000`;
