import { RowBinary } from '../../clickhouse/engine/row-binary.ts';
import type { Chain } from '../../core/domain/chain.ts';
import { EVIDENCE_LADDER } from '../../core/domain/evidence.ts';
import type { Settlement } from '../../core/domain/settlement.ts';
import type { BlockRef } from '../chain/block-source.ts';
import type { DeadLetter } from '../decode/dead-letter.ts';
import { type Del, encodeVersioned } from './versioned-rows.ts';

/** A row of table `settlements`, columns in the order of `SETTLEMENT_COLUMNS`. */
export function writeSettlement(out: RowBinary, row: Settlement): void {
  out
    .string(row.chain)
    .u64(row.blockNumber)
    .dateTime(row.blockTime)
    .hex32(row.blockHash)
    .hex32(row.txHash)
    .u32(row.logIndex)
    .hex20(row.payer)
    .hex20(row.payee)
    .hex20(row.asset)
    .string(row.assetSymbol)
    .u256(row.amount)
    .decimal64(row.amountUsdMicros)
    .hex20(row.relayer)
    .string(row.facilitator)
    .u8(EVIDENCE_LADDER[row.method].code)
    .u32(row.seen)
    .string(row.builderFacilitator)
    .string(row.builderApps);
}

export function encodeSettlements(rows: readonly Settlement[], ver: bigint, del: Del): Uint8Array {
  return encodeVersioned(rows, writeSettlement, del).at(ver);
}

/** A row of table `dead_letters`, columns in the order of `DEAD_LETTER_COLUMNS`. */
export function writeDeadLetter(out: RowBinary, row: DeadLetter): void {
  out
    .string(row.chain)
    .u64(row.blockNumber)
    .hex32(row.blockHash)
    .hex32(row.txHash)
    .u32(row.logIndex)
    .string(row.reason)
    .string(row.rawLog);
}

export function encodeDeadLetters(rows: readonly DeadLetter[], ver: bigint, del: Del): Uint8Array {
  return encodeVersioned(rows, writeDeadLetter, del).at(ver);
}

/** Rows of table `blocks`, columns in the order of `BLOCK_COLUMNS`. */
export function encodeBlocks(chain: Chain, blocks: readonly BlockRef[], ver: bigint): Uint8Array {
  const out = new RowBinary();
  for (const { number, hash, time } of blocks)
    out.string(chain).u64(number).hex32(hash).dateTime(time).u64(ver);
  return out.finish();
}
