import type { Writer } from '../../clickhouse/engine/engine.ts';
import {
  AGENT_EVENTS,
  type AgentEvent,
  ATTESTATIONS,
  type Attestation,
} from '../../clickhouse/tables/registries.ts';
import { insertRows } from '../../clickhouse/tables/table.ts';
import { BASE, hash, NOON, nextVer, wallet } from './rows.ts';

/** Rows of the ERC-8004 registries, written the way ingest writes them. */

const ZERO = wallet(0);

/** An event of the identity registry; what a test does not care about has a plain default. */
export function agentEvent(fields: Partial<AgentEvent> = {}): AgentEvent {
  const blockNumber = fields.blockNumber ?? 1_000;
  const logIndex = fields.logIndex ?? 0;
  return {
    kind: 'registered',
    chain: BASE,
    agentId: 0n,
    blockNumber,
    blockTime: NOON + (blockNumber - 1_000) * 2,
    blockHash: hash(blockNumber),
    txHash: hash(blockNumber * 10_000 + logIndex + 1),
    logIndex,
    account: wallet(0xa1),
    text: '',
    data: '0x',
    ...fields,
  };
}

/** A log of the reputation or validation registry: by default a feedback of 100. */
export function attestation(fields: Partial<Attestation> = {}): Attestation {
  const blockNumber = fields.blockNumber ?? 2_000;
  const logIndex = fields.logIndex ?? 0;
  const client = fields.client ?? wallet(0xc1);
  return {
    kind: 'feedback',
    chain: BASE,
    agentId: 0n,
    blockNumber,
    blockTime: NOON + (blockNumber - 1_000) * 2,
    blockHash: hash(blockNumber),
    txHash: hash(blockNumber * 10_000 + logIndex + 1),
    logIndex,
    author: client,
    client,
    feedbackIndex: 1n,
    value: 100n,
    valueDecimals: 0,
    tag1: '',
    tag2: '',
    endpoint: '',
    uri: '',
    fileHash: hash(0),
    requestHash: hash(0),
    ...fields,
  };
}

/** What `register(uri)` logs: mint, registration, wallet. */
export function registration(fields: Partial<AgentEvent> = {}): AgentEvent[] {
  const { logIndex = 0, text = '', ...others } = fields;
  return [
    agentEvent({ ...others, kind: 'transferred', logIndex }),
    agentEvent({ ...others, kind: 'registered', logIndex: logIndex + 2, text }),
    agentEvent({ ...others, kind: 'wallet_set', logIndex: logIndex + 3 }),
  ];
}

export async function insertAgentEvents(
  writer: Writer,
  rows: readonly AgentEvent[],
  del: 0 | 1 = 0,
): Promise<void> {
  await insertRows(writer, {
    name: 'test-agent-events',
    table: AGENT_EVENTS,
    rows,
    fixed: { ver: nextVer(), del },
  });
}

export async function insertAttestations(
  writer: Writer,
  rows: readonly Attestation[],
  del: 0 | 1 = 0,
): Promise<void> {
  await insertRows(writer, {
    name: 'test-attestations',
    table: ATTESTATIONS,
    rows,
    fixed: { ver: nextVer(), del },
  });
}

export const NO_WALLET = ZERO;
