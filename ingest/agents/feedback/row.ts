import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { type Sql, sql } from '../../../clickhouse/engine/sql.ts';
import { FEEDBACK_FILES, type FeedbackFileRow, isFileDue } from '../../../clickhouse/tables/agents.ts';
import { insertRows, reading } from '../../../clickhouse/tables/table.ts';
import {
  type Address,
  isAddress,
  isTransactionId,
  readAddress,
  readTransactionId,
  type TransactionId,
  ZERO_ADDRESS,
  ZERO_HASH,
} from '../../../core/domain/account.ts';
import type { FeedbackFile } from '../../../core/domain/agent.ts';
import {
  chainOf,
  chainOfReference,
  isChain,
  namespaceOf,
  withoutChain,
} from '../../../core/domain/chains.ts';
import { fieldOf } from '../../fetch/document.ts';
import { type DueDocuments, type DueKind, type DueQuery, readDueDocuments } from '../queue.ts';
import { type JsonProblem, parseBounded, readAgentId, readRegistry, readText } from '../values.ts';

/** Texts of a few lines; some hold a transcript. */
export const FEEDBACK_FILE_MAX_BYTES = 256 * 1_024;
/** As much as a card's description may have. */
const COMMENT_MAX_CHARS = 2_000;
/** ERC-8004 names no field for it; these are in use, the most explicit first. */
const COMMENT_FIELDS = ['comment', 'text', 'review', 'message', 'feedback', 'description'] as const;

/**
 * Reads a feedback file: its client, its agent, its comment, and the payment that it names. An unreadable field counts as absent; a proof of
 * payment counts only if complete. Source: ERC-8004.
 */
export function readFeedbackFile(bytes: Uint8Array): FeedbackFile | JsonProblem {
  const file = parseBounded(bytes);
  if (typeof file === 'string') return file;
  return {
    agentId: readAgentId(fieldOf(file, 'agentId')),
    agentRegistry: readRegistry(fieldOf(file, 'agentRegistry')) || null,
    client: readAccount(fieldOf(file, 'clientAddress')),
    comment: readComment(file),
    proofOfPayment: readProof(fieldOf(file, 'proofOfPayment', 'proof_of_payment')),
  };
}

/** The first field that has a text; several of them may hold something else. */
function readComment(file: unknown): string {
  for (const field of COMMENT_FIELDS) {
    const value = fieldOf(file, field);
    const comment = typeof value === 'string' ? readText(value, COMMENT_MAX_CHARS) : '';
    if (comment !== '') return comment;
  }
  return '';
}

function readProof(value: unknown): FeedbackFile['proofOfPayment'] {
  const chain = readChain(fieldOf(value, 'chainId'));
  const txHash = readTransaction(fieldOf(value, 'txHash'));
  const from = readAccount(fieldOf(value, 'fromAddress'));
  const to = readAccount(fieldOf(value, 'toAddress'));
  return chain === null || txHash === null || from === null || to === null
    ? null
    : { chain, txHash, from, to };
}

/** `8453`, `"8453"`, `"0x2105"` or `"eip155:8453"`. */
function readChain(value: unknown): string | null {
  const text = typeof value === 'number' || typeof value === 'string' ? String(value).trim() : '';
  if (/^0x[0-9a-f]{1,13}$/i.test(text)) return chainOf(Number.parseInt(text, 16));
  const chain = isChain(text) ? text : chainOfReference(text);
  return chain !== null && namespaceOf(chain) === 'eip155' ? chain : null;
}

/** An address, also at the end of a CAIP-10 account; its checksum is not checked: files get it wrong. */
function readAccount(value: unknown): Address | null {
  if (typeof value !== 'string') return null;
  const outcome = readAddress(withoutChain(value.trim()).toLowerCase(), 'eip155');
  return isAddress(outcome) ? outcome : null;
}

function readTransaction(value: unknown): TransactionId | null {
  const outcome = readTransactionId(typeof value === 'string' ? value.trim() : value, 'eip155');
  return isTransactionId(outcome) ? outcome : null;
}

/** A feedback log that names a file, with its failed attempts so far and the version of the row that was read. */
export type FeedbackLog = Pick<
  FeedbackFileRow,
  'chain' | 'blockNumber' | 'logIndex' | 'agentId' | 'client' | 'uri' | 'fileHash' | 'failures' | 'ver'
>;

export interface DueFeedback extends FeedbackLog {
  /** What was found in the file by a release that read no comments; null when it was not read yet. */
  readonly found: FoundInFile | null;
}

export interface FoundInFile extends Pick<FeedbackFileRow, 'problem' | 'hashMatches'> {
  readonly proof: FeedbackFile['proofOfPayment'];
}

/** The outcome of an attempt. Times are Unix seconds, UTC. */
export interface FeedbackOutcome
  extends FoundInFile,
    Pick<FeedbackFileRow, 'failures' | 'nextTryAt' | 'comment' | 'commentRule'> {
  readonly status: 'good' | 'failed';
}

/**
 * Stores what came of tries. Each row takes the place just above the one that was read, in the room that versions leave for it
 * (ingest/write/versions.ts): if the log was taken back or replaced while its file was fetched, that stays the newest.
 */
export function saveFeedback(
  writer: Writer,
  tried: readonly (readonly [FeedbackLog, FeedbackOutcome])[],
): Promise<void> {
  const rows = tried.map(([log, { proof, ...outcome }]) => ({
    ...log,
    ...outcome,
    proofChain: proof?.chain ?? '',
    proofTx: proof?.txHash ?? ZERO_HASH,
    proofFrom: proof?.from ?? ZERO_ADDRESS,
    proofTo: proof?.to ?? ZERO_ADDRESS,
    ver: log.ver + 1n,
  }));
  return insertRows(writer, { name: 'feedback-save', table: FEEDBACK_FILES, rows, fixed: { del: 0 } });
}

const DUE = reading(FEEDBACK_FILES, [
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
  'hash_matches',
  'proof_chain',
  'proof_tx',
  'proof_from',
  'proof_to',
  'ver',
]);

const KEY = sql`chain, block_number, log_index`;

const FEEDBACK: DueKind<DueFeedback> = {
  name: 'feedback',
  table: sql`feedback_files`,
  key: KEY,
  sampleBy: KEY,
  isDue,
  select: (chosen, now) =>
    sql`SELECT ${DUE.columns}
    FROM feedback_files FINAL
    WHERE ${isDue(now)} AND (${KEY}) IN ${chosen}`,
  selected: { sampleBy: KEY, uri: sql`uri`, hostless: sql`tuple(block_number, log_index)` },
  read: (row) => [dueOf(DUE.read(row))],
};

function dueOf({
  status,
  problem,
  hashMatches,
  proofChain,
  proofTx,
  proofFrom,
  proofTo,
  ...log
}: ReturnType<typeof DUE.read>): DueFeedback {
  const proof =
    proofChain === '' ? null : { chain: proofChain, txHash: proofTx, from: proofFrom, to: proofTo };
  return { ...log, found: status === 'good' ? { problem, hashMatches, proof } : null };
}

/** Feedback files that are due. */
export function readDueFeedback(writer: Writer, query: DueQuery): Promise<DueDocuments<DueFeedback>> {
  return readDueDocuments(writer, FEEDBACK, query);
}

function isDue(now: number): Sql {
  return sql`del = 0 AND ${isFileDue(now)}`;
}
