import type { RowBinary } from '../../clickhouse/engine/row-binary.ts';
import type { AgentEvent, Attestation, AttestationKind } from '../../core/domain/registry-event.ts';
import { type Del, encodeVersioned } from './versioned-rows.ts';

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
