import { RowBinary } from '../../clickhouse/engine/row-binary.ts';
import type { AgentEvent, Attestation, AttestationKind } from '../../core/domain/agent.ts';
import type { Chain } from '../../core/domain/chains.ts';
import { EVIDENCE_LADDER } from '../../core/domain/evidence.ts';
import type { Settlement } from '../../core/domain/settlement.ts';
import type { BlockRef } from '../chain/block-source.ts';
import type { DeadLetter } from '../decode/context.ts';

/** `1` marks a tombstone: the row at this key vanished with a reorg. */
export type Del = 0 | 1;

/** Writes the columns of one row up to the last two, which are `ver` and `del` in every table of events. */
export type RowWriter<Row> = (out: RowBinary, row: Row) => void;

/**
 * Rows encoded while their version is open: an attempt to write them takes a fresh one. A tenth of the rows they were made from,
 * and in one piece outside the heap: what waits to be written is nothing that a garbage collector has to move.
 */
export interface VersionedRows {
  readonly count: number;
  /** The bytes with this version in every row; the same memory each time, so one attempt must have ended before the next. */
  at(ver: bigint): Uint8Array;
}

/** Throws `RangeError` for a value that its column cannot hold. */
export function encodeVersioned<Row>(rows: readonly Row[], write: RowWriter<Row>, del: Del): VersionedRows {
  const out = new RowBinary();
  const versionsAt = new Uint32Array(rows.length);
  for (const [index, row] of rows.entries()) {
    write(out, row);
    versionsAt[index] = out.size();
    out.u64(0).u8(del);
  }
  const bytes = Buffer.from(out.finish()); // as large as it is, not as the writer has grown
  return {
    count: rows.length,
    at(ver) {
      for (const at of versionsAt) bytes.writeBigUInt64LE(ver, at);
      return bytes;
    },
  };
}

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

/** The bytes of `agent_events.kind`. */
const EVENT_CODES: Readonly<Record<AgentEvent['kind'], number>> = {
  registered: 1,
  uri_updated: 2,
  metadata_set: 3,
  wallet_set: 4,
  transferred: 5,
};

/** The bytes of `attestations.kind`. */
const ATTESTATION_CODES: Readonly<Record<AttestationKind, number>> = {
  feedback: 1,
  response: 2,
  revocation: 3,
  validation_request: 4,
  validation_response: 5,
};

/** A row of table `agent_events`, columns in the order of `AGENT_EVENT_COLUMNS`. */
export function writeAgentEvent(out: RowBinary, row: AgentEvent): void {
  out
    .string(row.chain)
    .u256(row.agentId)
    .u64(row.blockNumber)
    .u32(row.logIndex)
    .dateTime(row.blockTime)
    .hex32(row.blockHash)
    .hex32(row.txHash)
    .u8(EVENT_CODES[row.kind])
    .hex20(row.account)
    .string(row.text)
    .hexString(row.data);
}

export function encodeAgentEvents(rows: readonly AgentEvent[], ver: bigint, del: Del): Uint8Array {
  return encodeVersioned(rows, writeAgentEvent, del).at(ver);
}

/** A row of table `attestations`, columns in the order of `ATTESTATION_COLUMNS`. */
export function writeAttestation(out: RowBinary, row: Attestation): void {
  out
    .dateTime(row.blockTime)
    .string(row.chain)
    .u64(row.blockNumber)
    .u32(row.logIndex)
    .hex32(row.blockHash)
    .hex32(row.txHash)
    .u8(ATTESTATION_CODES[row.kind])
    .u256(row.agentId)
    .hex20(row.author)
    .hex20(row.client)
    .u64(row.feedbackIndex)
    .i128(row.value)
    .u8(row.valueDecimals)
    .string(row.tag1)
    .string(row.tag2)
    .string(row.endpoint)
    .string(row.uri)
    .hex32(row.fileHash)
    .hex32(row.requestHash);
}

export function encodeAttestations(rows: readonly Attestation[], ver: bigint, del: Del): Uint8Array {
  return encodeVersioned(rows, writeAttestation, del).at(ver);
}
