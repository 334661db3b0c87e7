import type { Reader } from '../../clickhouse/engine.ts';
import { allOf, dateTime, sql, text, uint32 } from '../../clickhouse/sql.ts';
import type { JudgedRole } from '../domain/data-quality.ts';
import { ask } from './ask.ts';
import { bigintField, integerField } from './decode.ts';
import {
  closedRows,
  keyConditions,
  PROFILE_RESOURCE,
  type ProfileScope,
  unionAll,
  walletRows,
} from './profile-scope.ts';
import { openRows, type RollupCoverage } from './rollup-coverage.ts';

/** Who a wallet deals with, from its newest rows. What sums per day cannot tell: shares, reciprocity, exact distinct counts. */

/**
 * Rows of a wallet that one profile reads at most, versions included. 200 k rows group in about 50 ms; all rows of the hottest
 * wallet at 50 M settlements took 388 (engine.md 4.2).
 */
export const SCAN_ROWS_MAX = 200_000;

const MAX_SECONDS = 10;

export interface CounterpartyScan {
  /** Settlements scanned, in both directions, a payment to oneself once. */
  readonly settlements: number;
  /** Distinct other wallets in both directions. */
  readonly counterparties: number;
  /** The judged role only; dollars in millionths. */
  readonly inRole: {
    readonly settlements: number;
    readonly usdMicros: bigint;
    readonly selfUsdMicros: bigint;
    readonly largestUsdMicros: bigint;
    readonly squaredUsdMicros: bigint;
    readonly reciprocalUsdMicros: bigint;
  };
}

/**
 * The block time that a scan of at most `rowsMax` rows must stay above; null when all rows fit. Not merged: it counts
 * versions, in key order, and stops at the bound. A whole second is either in or out, so no version of a row is cut off from
 * the others.
 */
export async function readScanFloor(
  reader: Reader,
  scope: ProfileScope,
  rowsMax: number,
): Promise<number | null> {
  const { rows } = await ask(reader, PROFILE_RESOURCE, {
    name: 'profile-scan-floor',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    settings: { read_in_order_use_virtual_row: 1 },
    sql: sql`SELECT toUnixTimestamp(block_time) FROM wallet_log WHERE ${allOf(keyConditions(scope))}
      ORDER BY wallet DESC, block_time DESC LIMIT 1 OFFSET ${uint32(rowsMax)}`,
  });
  const [row] = rows;
  return row === undefined ? null : integerField(row[0]);
}

/**
 * Sums are squared as whole millionths in 256 bits: exact, and a wallet would have to move 10^32 dollars to overflow it.
 * `mine` is the judged direction, `back` the other one.
 */
export async function scanCounterparties(
  reader: Reader,
  query: ProfileScope & { readonly role: JudgedRole; readonly floor: number | null },
): Promise<CounterpartyScan> {
  const { wallet, role, floor } = query;
  const newest = floor === null ? sql`1` : sql`block_time > ${dateTime(floor)}`;
  const { rows } = await ask(reader, PROFILE_RESOURCE, {
    name: 'profile-counterparties',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT sum(mine_count) + sum(back_count) - sumIf(mine_count, is_self), countIf(NOT is_self),
        sum(mine_count), toString(sum(mine)), toString(sumIf(mine, is_self)), toString(maxIf(mine, NOT is_self)),
        toString(sumIf(mine * mine, NOT is_self)), toString(sumIf(mine, NOT is_self AND back_count > 0))
      FROM (SELECT counterparty = unhex(${text(wallet.slice(2))}) AS is_self,
          countIf(role = ${text(role)}) AS mine_count, countIf(role != ${text(role)}) AS back_count,
          toInt256(toDecimal256(sumIf(amount_usd, role = ${text(role)}), 6) * 1000000) AS mine
        FROM ${walletRows(query, newest)} GROUP BY counterparty)`,
  });
  return decodeScan(rows[0] ?? []);
}

function decodeScan(row: readonly unknown[]): CounterpartyScan {
  return {
    settlements: integerField(row[0]),
    counterparties: integerField(row[1]),
    inRole: {
      settlements: integerField(row[2]),
      usdMicros: bigintField(row[3]),
      selfUsdMicros: bigintField(row[4]),
      largestUsdMicros: bigintField(row[5]),
      squaredUsdMicros: bigintField(row[6]),
      reciprocalUsdMicros: bigintField(row[7]),
    },
  };
}

/**
 * Distinct wallets that a wallet too large to scan deals with, from the merged states of the rollups (standard error about
 * 2 %, uniqCombined64 of 2^12 cells). A wallet that pays itself is among them.
 */
export async function estimatePartners(
  reader: Reader,
  { coverage, ...scope }: ProfileScope & { readonly coverage: RollupCoverage },
): Promise<number> {
  const { received, paid } = closedRows(scope, coverage);
  const states = unionAll([
    sql`SELECT uniqCombined64State(12)(counterparty) AS state FROM ${walletRows(scope, openRows(coverage))}`,
    sql`SELECT payers AS state FROM ${received}`,
    sql`SELECT payees AS state FROM ${paid}`,
  ]);
  const { rows } = await ask(reader, PROFILE_RESOURCE, {
    name: 'profile-distinct-estimate',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT uniqCombined64Merge(12)(state) FROM (${states})`,
  });
  return integerField(rows[0]?.[0]);
}
