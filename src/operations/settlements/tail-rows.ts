import { crc32 } from 'node:zlib';
import { accountText, transactionText } from '../../../clickhouse/engine/account.ts';
import { type Sql, sql } from '../../../clickhouse/engine/sql.ts';
import type { ListedSettlement } from '../../../clickhouse/tables/settlements.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import type { Position } from '../../../core/domain/settlement.ts';
import type { FinalBlock } from '../index-state/finality.ts';
import { floorOfSecond, type SettlementPage } from './slice-walk.ts';

/** The newest rows of a list without a gap, and what can be answered from them. */
export interface TailRows {
  /** Newest first. */
  readonly rows: readonly ListedSettlement[];
  /** Every row at or above this position is held; undefined: every row there is. */
  readonly floor: Position | undefined;
}

/** About 7 MB. Fifteen minutes, Base's time to finality, at eleven settlements a second. */
const ROWS_MAX = 10_000;

/** Rows as they were read, up to as many as a tail holds. */
export function tailOf(rows: readonly ListedSettlement[], floor: Position | undefined): TailRows {
  return rows.length <= ROWS_MAX
    ? { rows, floor }
    : { rows: rows.slice(0, ROWS_MAX), floor: rows[ROWS_MAX - 1] };
}

export interface TailQuery {
  readonly limit: number;
  readonly before: Position | undefined;
  /** Only rows at or below these blocks; undefined: all. */
  readonly final: readonly FinalBlock[] | undefined;
}

/** The page that the engine would give; undefined where the rows do not reach far enough to know it. */
export function pageOf(
  { rows, floor }: TailRows,
  { before, final, limit }: TailQuery,
): SettlementPage | undefined {
  const finalTo = final === undefined ? undefined : new Map(final.map(({ chain, block }) => [chain, block]));
  const found: ListedSettlement[] = [];
  for (let at = before === undefined ? 0 : firstBelow(rows, before); at < rows.length; at++) {
    const row = rows[at];
    if (row === undefined || !isAtMost(row, finalTo)) continue;
    // One more than the page holds shows that the list goes on.
    if (found.length === limit) return { rows: found, nextBefore: found.at(-1) };
    found.push(row);
  }
  return floor === undefined ? { rows: found, nextBefore: undefined } : undefined;
}

function isAtMost(
  { chain, blockNumber }: Position,
  finalTo: ReadonlyMap<Chain, number> | undefined,
): boolean {
  return finalTo === undefined || blockNumber <= (finalTo.get(chain) ?? -1);
}

function firstBelow(rows: readonly ListedSettlement[], before: Position): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle];
    if (row !== undefined && isBelow(row, before)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** By the sort key of the lists. Names of chains are ASCII, so JavaScript compares them as the engine does. */
function isBelow(row: Position, other: Position): boolean {
  if (row.blockTime !== other.blockTime) return row.blockTime < other.blockTime;
  if (row.chain !== other.chain) return row.chain < other.chain;
  if (row.blockNumber !== other.blockNumber) return row.blockNumber < other.blockNumber;
  return row.logIndex < other.logIndex;
}

/** What the engine holds from a second on: the newest rows, `isAll` where there are no others. */
export interface RowsSince {
  readonly since: number;
  readonly rows: readonly ListedSettlement[];
  readonly isAll: boolean;
}

/** The tail with the rows from a second on replaced. The same object where nothing of them changed. */
export function withRowsSince(tail: TailRows, { since, rows, isAll }: RowsSince): TailRows {
  if (!isAll) return tailOf(rows, rows.at(-1));
  const kept = firstBelow(tail.rows, floorOfSecond(since));
  const floor = tail.floor !== undefined && tail.floor.blockTime >= since ? floorOfSecond(since) : tail.floor;
  const isSame = rows.length === kept && rows.every((row, at) => isSameRow(row, tail.rows[at]));
  if (isSame) return tail;
  return tailOf([...rows, ...tail.rows.slice(kept)], floor);
}

function isSameRow(row: ListedSettlement, other: ListedSettlement | undefined): boolean {
  if (other === undefined) return false;
  for (const name in row) {
    const field = name as keyof ListedSettlement; // its own, as rows have no prototype of ours
    if (row[field] !== other[field]) return false;
  }
  return true;
}

/** What two copies of the same rows agree on. */
export interface RowsDigest {
  readonly count: number;
  /** Sum over the rows of a checksum of each. */
  readonly sum: number;
}

export function digestOf({ rows }: TailRows): RowsDigest {
  return { count: rows.length, sum: rows.reduce((sum, row) => sum + crc32(textOf(row)), 0) };
}

/** What says of a row that it is this one, in this grade. */
function textOf(row: ListedSettlement): string {
  const { chain, blockTime, blockNumber, logIndex, txHash, payer, payee, amount, facilitator, method } = row;
  return `${chain} ${blockTime} ${blockNumber} ${logIndex} ${txHash} ${payer} ${payee} ${amount} ${facilitator} ${method}`;
}

/** `digestOf` by the engine. */
export const DIGEST_COLUMNS: Sql = sql`count(), sum(CRC32(concat(chain, ' ', toString(toUnixTimestamp(block_time)), ' ',
  toString(block_number), ' ', toString(log_index), ' ', ${transactionText('tx_hash')}, ' ', ${accountText('payer')}, ' ', ${accountText('payee')},
  ' ', toString(amount), ' ', facilitator, ' ', toString(method))))`;
