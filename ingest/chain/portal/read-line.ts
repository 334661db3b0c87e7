import type { Address } from '../../../core/domain/account.ts';
import type { Header, RawLog, ReceiptFacts, TransactionFacts } from '../block-source.ts';
import {
  ADDRESS_DIGITS,
  bloomOf,
  hash,
  hexText,
  list,
  MAX_TOPICS,
  MAX_U32,
  malformed,
  readTransaction,
  record,
} from '../read-answers.ts';
import { costOf } from '../receipts.ts';
import { ProviderContradiction } from '../rpc/failure.ts';

/**
 * Converts a line of a Portal's answer, one block as JSON, to our types. Numbers and places are JSON numbers, amounts are hex quantities; a
 * log does not repeat the hash of its block. A value of another shape is a contradiction, never a default.
 */

export interface PortalTransaction {
  readonly facts: TransactionFacts;
  readonly cost: ReceiptFacts;
}

export interface PortalBlock {
  readonly header: Header;
  /** In the order given. */
  readonly logs: readonly RawLog[];
  readonly transactions: readonly PortalTransaction[];
}

/** Which parts of a line are read; the others were not asked for. */
export interface LineParts {
  readonly logs: 'with-data' | 'without-data' | 'none';
  readonly transactions: boolean;
}

export function readLine(line: unknown, parts: LineParts): PortalBlock {
  const block = record(line, 'block');
  const header = readHeader(record(block['header'], 'header'));
  return {
    header,
    logs: parts.logs === 'none' ? [] : readLogs(block['logs'], header, parts.logs === 'with-data'),
    transactions: parts.transactions
      ? entriesOf(block['transactions'], 'transactions').map((entry) =>
          readPaid(record(entry, 'transaction')),
        )
      : [],
  };
}

function readHeader(header: Record<string, unknown>): Header {
  return {
    number: naturalOf(header['number'], 'block number'),
    hash: hash(header['hash'], 'block hash'),
    parentHash: hash(header['parentHash'], 'parent hash'),
    time: naturalOf(header['timestamp'], 'timestamp', MAX_U32),
    bloom: bloomOf(header),
  };
}

/** Neighbouring logs share contract, event and transaction: an equal text is neither checked again nor kept twice. */
function readLogs(entries: unknown, { number, hash: blockHash }: Header, hasData: boolean): RawLog[] {
  const logs: RawLog[] = [];
  let previous: RawLog | undefined;
  for (const entry of entriesOf(entries, 'logs')) {
    const log = record(entry, 'log');
    const topics = list(log['topics'], 'topics');
    if (topics.length > MAX_TOPICS) throw malformed('topics');
    const before = previous;
    previous = {
      address:
        before !== undefined && log['address'] === before.address
          ? before.address
          : (hexText(log['address'], ADDRESS_DIGITS, 'log address') as Address), // matched just now
      topics: topics.map((topic, at) => hash(topic, 'topic', before?.topics[at])),
      data: hasData ? hexText(log['data'], 'whole bytes', 'log data') : '0x',
      blockNumber: number,
      blockHash,
      transactionHash: hash(log['transactionHash'], 'log transaction hash', before?.transactionHash),
      logIndex: naturalOf(log['logIndex'], 'log index', MAX_U32),
    };
    logs.push(previous);
  }
  return logs;
}

const SUCCESS = 1;

function readPaid(transaction: Record<string, unknown>): PortalTransaction {
  const facts = readTransaction(transaction);
  if (naturalOf(transaction['status'], 'status') !== SUCCESS)
    throw new ProviderContradiction(
      'failed-transaction',
      `${facts.hash} has logs and is said to have failed`,
    );
  return { facts, cost: costOf(transaction, facts.hash) };
}

/** A list without entries is left out. */
function entriesOf(value: unknown, what: string): readonly unknown[] {
  return value === undefined ? [] : list(value, what);
}

export function naturalOf(value: unknown, what: string, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0 || value > max)
    throw malformed(what);
  return value;
}

/** What a proof compares of a log: without its data, which no filter covers. */
export function placesOf(logs: readonly RawLog[]): string {
  return logs
    .map(
      ({ logIndex, address, transactionHash, topics }) => `${logIndex}${address}${transactionHash}${topics}`,
    )
    .join();
}
