import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { RowBinary } from '../../../clickhouse/engine/row-binary.ts';
import { dateTime, type Sql, sql } from '../../../clickhouse/engine/sql.ts';
import { type Address, address, isAddress, readAddress } from '../../../core/domain/address.ts';
import type { FeedbackFile } from '../../../core/domain/agent.ts';
import { type Chain, isChain } from '../../../core/domain/chains.ts';
import type { Hash } from '../../../core/domain/settlement.ts';
import { type DueDocuments, type DueKind, type DueQuery, readDueDocuments } from '../queue.ts';
import { fieldOf, type JsonProblem, parseBounded, readAgentId, readRegistry } from '../values.ts';

/** Texts of a few lines; some hold a transcript. */
export const FEEDBACK_FILE_MAX_BYTES = 256 * 1_024;
const HASH = /^0x[0-9a-f]{64}$/;

/**
 * Reads a feedback file: its client, its agent, and the payment that it names. An unreadable field counts as absent; a proof of
 * payment counts only if complete. Source: ERC-8004.
 */
export function readFeedbackFile(bytes: Uint8Array): FeedbackFile | JsonProblem {
  const file = parseBounded(bytes);
  if (typeof file === 'string') return file;
  return {
    agentId: readAgentId(fieldOf(file, 'agentId')),
    agentRegistry: readRegistry(fieldOf(file, 'agentRegistry')) || null,
    client: readAccount(fieldOf(file, 'clientAddress')),
    proofOfPayment: readProof(fieldOf(file, 'proofOfPayment', 'proof_of_payment')),
  };
}

function readProof(value: unknown): FeedbackFile['proofOfPayment'] {
  const chain = readChain(fieldOf(value, 'chainId'));
  const txHash = readHash(fieldOf(value, 'txHash'));
  const from = readAccount(fieldOf(value, 'fromAddress'));
  const to = readAccount(fieldOf(value, 'toAddress'));
  return chain === null || txHash === null || from === null || to === null
    ? null
    : { chain, txHash, from, to };
}

/** `8453`, `"8453"`, `"0x2105"` or `"eip155:8453"`. */
function readChain(value: unknown): string | null {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value).trim() : '';
  const name = text.startsWith('eip155:') ? text : `eip155:${text}`;
  if (isChain(name)) return name;
  return /^0x[0-9a-f]{1,13}$/i.test(text) ? `eip155:${Number.parseInt(text, 16)}` : null;
}

/** An address, also at the end of a CAIP-10 account; its checksum is not checked: files get it wrong. */
function readAccount(value: unknown): Address | null {
  if (typeof value !== 'string') return null;
  const outcome = readAddress(
    value
      .trim()
      .replace(/^eip155:\d+:/, '')
      .toLowerCase(),
  );
  return isAddress(outcome) ? outcome : null;
}

function readHash(value: unknown): Hash | null {
  const text = typeof value === 'string' ? value.trim().toLowerCase() : '';
  return isHash(text) ? text : null;
}

function isHash(text: string): text is Hash {
  return HASH.test(text);
}

/** A feedback log that names a file, as stored in table `feedback_files`. */
export interface DueFeedback {
  readonly chain: Chain;
  readonly blockNumber: number;
  readonly logIndex: number;
  readonly agentId: bigint;
  readonly client: Address;
  readonly uri: string;
  /** `ZERO_HASH` when the log gives none. */
  readonly fileHash: Hash;
  /** Failed attempts so far. */
  readonly failures: number;
  /** Version of the row that was read. */
  readonly ver: bigint;
}

/** The outcome of an attempt. Times are Unix seconds, UTC. */
export interface FeedbackOutcome {
  readonly status: 'good' | 'failed';
  /** Why it failed, or how the file contradicts the log; '' for neither. */
  readonly problem: string;
  readonly failures: number;
  readonly nextTryAt: number;
  /** True also if the log has no hash to contradict. */
  readonly hashMatches: boolean;
  readonly proof: FeedbackFile['proofOfPayment'];
}

export const FEEDBACK_FILE_COLUMNS = [
  'chain',
  'block_number',
  'log_index',
  'agent_id',
  'client',
  'uri',
  'file_hash',
  'status',
  'problem',
  'failures',
  'next_try_at',
  'hash_matches',
  'proof_chain',
  'proof_tx',
  'proof_from',
  'proof_to',
  'ver',
  'del',
] as const;

export const ZERO_HASH: Hash = `0x${'0'.repeat(64)}`;
const NO_ADDRESS = `0x${'0'.repeat(40)}`;
const STATUS_CODES = { good: 1, failed: 2 } as const;

/**
 * RowBinary of `FEEDBACK_FILE_COLUMNS`. Each row gets a version just above the one that was read, within the gap between versions
 * (ingest/write/versions.ts): if the log was retracted or replaced during the fetch, that newer row wins.
 */
export function encodeFeedback(rows: readonly (readonly [DueFeedback, FeedbackOutcome])[]): Uint8Array {
  const out = new RowBinary();
  for (const [log, { proof, ...outcome }] of rows) {
    out.string(log.chain).u64(log.blockNumber).u32(log.logIndex).u256(log.agentId).hex20(log.client);
    out.string(log.uri).hex32(log.fileHash);
    out.u8(STATUS_CODES[outcome.status]).string(outcome.problem).u16(outcome.failures);
    out.dateTime(outcome.nextTryAt).u8(Number(outcome.hashMatches));
    out.string(proof?.chain ?? '').hex32(proof?.txHash ?? ZERO_HASH);
    out.hex20(proof?.from ?? NO_ADDRESS).hex20(proof?.to ?? NO_ADDRESS);
    out.u64(log.ver + 1n).u8(0);
  }
  return out.finish();
}

const KEY = sql`chain, block_number, log_index`;

const FEEDBACK: DueKind<DueFeedback> = {
  name: 'feedback',
  table: sql`feedback_files`,
  key: KEY,
  sampleBy: KEY,
  isDue,
  select: (chosen, now) =>
    sql`SELECT chain, block_number, log_index, toString(agent_id), lower(hex(client)), uri, lower(hex(file_hash)), failures, toString(ver)
    FROM feedback_files FINAL
    WHERE ${isDue(now)} AND (${KEY}) IN ${chosen}`,
  selected: { sampleBy: KEY, uri: sql`uri`, hostless: sql`tuple(block_number, log_index)` },
  read: readRow,
};

/** Feedback files that are due. */
export function readDueFeedback(writer: Writer, query: DueQuery): Promise<DueDocuments<DueFeedback>> {
  return readDueDocuments(writer, FEEDBACK, query);
}

function isDue(now: number): Sql {
  return sql`del = 0 AND status != 'good' AND next_try_at <= ${dateTime(now)}`;
}

function readRow(row: readonly unknown[]): DueFeedback[] {
  const [chain, blockNumber, logIndex, agentId, client, uri, fileHash, failures, ver] = row;
  if (typeof chain !== 'string' || !isChain(chain)) return [];
  return [
    {
      chain,
      blockNumber: Number(blockNumber),
      logIndex: Number(logIndex),
      agentId: BigInt(String(agentId)),
      client: address(`0x${String(client)}`),
      uri: String(uri),
      fileHash: `0x${String(fileHash)}`,
      failures: Number(failures),
      ver: BigInt(String(ver)),
    },
  ];
}
