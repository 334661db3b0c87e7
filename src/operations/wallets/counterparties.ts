import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { bigintField, integerField } from '../../../clickhouse/engine/row-reader.ts';
import { allOf, dateTime, type Sql, sql, text, uint32 } from '../../../clickhouse/engine/sql.ts';
import type { Address } from '../../../core/domain/address.ts';
import type { JudgedRole } from '../../../core/domain/data-quality.ts';
import { ask } from '../ask.ts';
import { fromWalletRows, keyConditions, PROFILE_RESOURCE, type ProfileScope } from './profile-totals.ts';

/** Who a wallet deals with, from its newest rows. What sums per day cannot tell: shares, reciprocity, exact distinct counts. */

/**
 * Rows of a wallet that a scan of its newest ones reads at most, versions included. FINAL reads about three and a half times as many, because
 * it takes whole granules of every part; these are merged and grouped in about 20 ms. Above the cap the totals come from the
 * rollups, which cost the same for any wallet; all rows of the hottest one at 50 M settlements took 388 ms.
 */
export const SCAN_ROWS_MAX = 20_000;

const MAX_SECONDS = 10;
/** A granule of wallet_log. With the engine's own blocks of 65,409 a look-up over five parts read a tenth more. */
const FLOOR_BLOCK_ROWS = 8_192;
/** Rows looked at for each row that a scan of one chain may have: a chain with a quarter of a wallet's rows fills its scan. */
const LOOKED_AT_PER_ROW = 4;

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

/** Of a wallet without settlements. */
export const NOBODY_SCANNED: CounterpartyScan = {
  settlements: 0,
  counterparties: 0,
  inRole: {
    settlements: 0,
    usdMicros: 0n,
    selfUsdMicros: 0n,
    largestUsdMicros: 0n,
    squaredUsdMicros: 0n,
    reciprocalUsdMicros: 0n,
  },
};

/**
 * The block time that a scan of at most `rowsMax` rows must stay above; null when all rows fit. Not merged: it counts versions,
 * in key order, and stops at the bound. Chain and block are no prefix of the key, so rows of others are passed over, up to a
 * bound: a rare chain would be looked for through all of a busy wallet. A whole second is either in or out, so no version of a
 * row is cut off from the others.
 */
export async function readScanFloor(
  reader: Reader,
  scope: ProfileScope,
  rowsMax: number,
): Promise<number | null> {
  const [ofWallet, ...others] = keyConditions(scope);
  const lookedAtMax = others.length === 0 ? rowsMax : rowsMax * LOOKED_AT_PER_ROW;
  const { rows } = await ask(reader, PROFILE_RESOURCE, {
    name: 'profile-scan-floor',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    settings: { read_in_order_use_virtual_row: 1, max_block_size: FLOOR_BLOCK_ROWS },
    sql: sql`SELECT greatest(arrayReverseSort(groupArrayIf(time, counts))[${uint32(rowsMax + 1)}],
        if(count() > ${uint32(lookedAtMax)}, min(time), 0))
      FROM (SELECT toUnixTimestamp(block_time) AS time, ${allOf(others)} AS counts FROM wallet_log WHERE ${ofWallet}
        ORDER BY wallet DESC, block_time DESC LIMIT ${uint32(lookedAtMax + 1)})`,
  });
  const floor = integerField(rows[0]?.[0]);
  return floor === 0 ? null : floor;
}

/** Of the newest rows, those above `floor`: for wallets too large to be read whole (whole-wallet.ts). */
export async function scanCounterparties(
  reader: Reader,
  query: ProfileScope & { readonly role: JudgedRole; readonly floor: number },
): Promise<CounterpartyScan> {
  const { wallet, role, floor } = query;
  const { rows } = await ask(reader, PROFILE_RESOURCE, {
    name: 'profile-counterparties',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT ${SCAN_COLUMNS} FROM (SELECT ${partnerFigures(wallet, role)}
      ${fromWalletRows(query, sql`block_time > ${dateTime(floor)}`)} GROUP BY counterparty)`,
  });
  return decodeScan(rows[0] ?? []);
}

/**
 * What the rows with one counterparty add up to: `mine` in the judged direction, `back` in the other one. As whole millionths
 * in 256 bits, squares of sums are exact, and a wallet would have to move 10^32 dollars to overflow them.
 */
export function partnerFigures(wallet: Address, role: JudgedRole): Sql {
  return sql`counterparty = unhex(${text(wallet.slice(2))}) AS is_self,
    countIf(role = ${text(role)}) AS mine_count, countIf(role != ${text(role)}) AS back_count,
    toInt256(toDecimal256(sumIf(amount_usd, role = ${text(role)}), 6) * 1000000) AS mine`;
}

/** The columns behind `decodeScan`, over all counterparties. */
export const SCAN_COLUMNS: Sql = sql`sum(mine_count) + sum(back_count) - sumIf(mine_count, is_self), countIf(NOT is_self),
  sum(mine_count), toString(sum(mine)), toString(sumIf(mine, is_self)), toString(maxIf(mine, NOT is_self)),
  toString(sumIf(mine * mine, NOT is_self)), toString(sumIf(mine, NOT is_self AND back_count > 0))`;

export function decodeScan(row: readonly unknown[]): CounterpartyScan {
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
