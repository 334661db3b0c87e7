import { type Address, type Hash, hexDigitsOf } from '../../core/domain/account.ts';
import type { BlockRef, Header, RawLog, TransactionFacts } from './block-source.ts';
import { ProviderContradiction, RpcFailure } from './rpc/failure.ts';
import type { Question } from './rpc/pool.ts';

/**
 * Converts a node's JSON to our types. Hex stays hex; only values that are compared or counted become numbers. A value that does not
 * have the documented shape is a contradiction, never a default.
 */

/** A block as answered: its header and, if requested, the wanted transactions. */
export interface BlockAnswer extends Header {
  /** The number of all transactions in the block. */
  readonly transactionCount: number;
  /** The hash of the last one, null in a block without any. Its digits are not checked: it is only compared, and asked for. */
  readonly lastTransaction: Hash | null;
  /** Only the wanted ones: keeping all until the window was complete doubled the work of the garbage collector. */
  readonly transactions: readonly TransactionFacts[];
}

/** Which transactions of a block are wanted. */
export type IsWanted = (hash: Hash) => boolean;

const NONE: IsWanted = () => false;

const HASH_DIGITS = hexDigitsOf('transaction');
export const ADDRESS_DIGITS = hexDigitsOf('address');
const LOWER_HEX = /^0x[0-9a-f]*$/;
const ANY_HEX = /^0x[0-9a-f]*$/i;
/** 13 digits are 52 bits: always a safe integer. */
const QUANTITY = /^0x[0-9a-f]{1,13}$/i;
const WIDE_QUANTITY = /^0x[0-9a-f]{1,64}$/i;
const BLOOM = /^0x[0-9a-f]{512}$/i;
export const MAX_TOPICS = 4;
/** Log indexes and times are stored in 32 bits; a larger value would make the encoder stop the worker. */
export const MAX_U32 = 2 ** 32 - 1;

/** Reads a block that must exist at `number` (a tag leaves the height open). */
export function readBlock(result: unknown, number: number | null, isWanted: IsWanted = NONE): BlockAnswer {
  if (result === null) throw new RpcFailure('absent', `the node has no block ${number ?? 'there'}`);
  const block = record(result, 'block');
  const found = quantity(block['number'], 'block number');
  if (number !== null && found !== number)
    throw new ProviderContradiction('wrong-block', `asked for block ${number}, got ${found}`);
  const transactions = list(block['transactions'], 'transactions');
  return {
    number: found,
    hash: hash(block['hash'], 'block hash'),
    parentHash: hash(block['parentHash'], 'parent hash'),
    time: quantity(block['timestamp'], 'timestamp', MAX_U32),
    bloom: bloomOf(block),
    transactionCount: transactions.length,
    lastTransaction: lastOf(transactions),
    transactions: isWanted === NONE ? [] : readWanted(transactions, isWanted),
  };
}

/** The filter of a header or a receipt; null where there is none. */
export function bloomOf({ logsBloom }: Record<string, unknown>): string | null {
  return typeof logsBloom === 'string' && BLOOM.test(logsBloom) ? logsBloom.toLowerCase() : null;
}

/** A block lists hashes, or whole transactions where they were asked for. */
function lastOf(transactions: readonly unknown[]): Hash | null {
  const last = transactions.at(-1);
  if (last === undefined) return null;
  return typeof last === 'string' ? (last.toLowerCase() as Hash) : transactionHashOf(last); // only compared with checked ones
}

/** Requests a block by height or tag, with its transactions only if `isWanted` selects some. */
export function blockQuestion(
  at: number | 'latest' | 'finalized',
  isWanted: IsWanted = NONE,
): Question<BlockAnswer> {
  const number = typeof at === 'number' ? at : null;
  return {
    method: 'eth_getBlockByNumber',
    params: [number === null ? at : hexOf(number), isWanted !== NONE],
    read: (result) => readBlock(result, number, isWanted),
  };
}

/** The part of a block that leaves this folder. */
export function refOf({ number, hash, parentHash, time }: BlockRef): BlockRef {
  return { number, hash, parentHash, time };
}

/** A list of logs as answered, in the order given. */
export interface LogsAnswer {
  readonly logs: readonly RawLog[];
  /** Those that the node marks as logs of an undone block. */
  readonly removed: readonly RawLog[];
}

/** Reads the result of eth_getLogs, or the logs of a receipt. */
export function readLogs(result: unknown): LogsAnswer {
  const logs: RawLog[] = [];
  const removed: RawLog[] = [];
  let previous: RawLog | undefined;
  for (const entry of list(result, 'logs')) {
    const log = record(entry, 'log');
    previous = readLog(log, previous);
    (log['removed'] === true ? removed : logs).push(previous);
  }
  return { logs, removed };
}

/**
 * The flag `removed` says that a log's block was undone. It says nothing of a log that names the block that was asked for: the header
 * says that this one stands.
 */
export function logsOfBlock(result: unknown, blockHash: Hash): RawLog[] {
  const { logs, removed } = readLogs(result);
  return [...logs, ...removed.filter((log) => log.blockHash === blockHash)];
}

/**
 * Neighbouring logs share contract, event, block and transaction: a text equal to the previous log's is neither checked again nor
 * kept twice, which saves a third of the reading time.
 */
function readLog(log: Record<string, unknown>, previous: RawLog | undefined): RawLog {
  const topics = list(log['topics'], 'topics');
  if (topics.length > MAX_TOPICS) throw malformed('topics');
  const address = log['address'];
  return {
    // Matched just now, or by the log before.
    address:
      previous !== undefined && address === previous.address
        ? previous.address
        : (hexText(address, ADDRESS_DIGITS, 'log address') as Address),
    topics: topics.map((topic, at) => hash(topic, 'topic', previous?.topics[at])),
    data: hexText(log['data'], 'whole bytes', 'log data'),
    blockNumber: quantity(log['blockNumber'], 'log block number'),
    blockHash: hash(log['blockHash'], 'log block hash', previous?.blockHash),
    transactionHash: hash(log['transactionHash'], 'log transaction hash', previous?.transactionHash),
    logIndex: quantity(log['logIndex'], 'log index', MAX_U32),
  };
}

function readWanted(transactions: readonly unknown[], isWanted: IsWanted): TransactionFacts[] {
  return transactions.filter((entry) => isWanted(transactionHashOf(entry))).map(readTransaction);
}

/**
 * The hash of a raw transaction, to find the wanted ones without reading the others. Its digits are not checked: it is only compared
 * with checked hashes, and a busy block has hundreds.
 */
function transactionHashOf(entry: unknown): Hash {
  const text = record(entry, 'transaction')['hash'];
  if (typeof text !== 'string') throw malformed('transaction hash');
  return text.toLowerCase() as Hash; // equal to a checked one, or of no use
}

export function readTransaction(entry: unknown): TransactionFacts {
  const transaction = record(entry, 'transaction');
  const to = transaction['to'];
  return {
    hash: hash(transaction['hash'], 'transaction hash'),
    from: hexText(transaction['from'], ADDRESS_DIGITS, 'sender') as Address, // matched just now
    to: to === null || to === undefined ? null : (hexText(to, ADDRESS_DIGITS, 'recipient') as Address), // matched just now
    input: calldata(transaction['input']),
  };
}

/** Who sent coins of the chain to an account in a block that was read with its transactions: the first; null where no transaction did. */
export function readSenderTo(result: unknown, account: Address): Address | null {
  const transactions = list(record(result, 'block')['transactions'], 'transactions');
  const paying = transactions.filter(
    (entry) => wideQuantity(record(entry, 'transaction')['value'], 'value') > 0n,
  );
  return paying.map(readTransaction).find(({ to }) => to === account)?.from ?? null;
}

/** 0x-prefixed hex of a block number, as JSON-RPC wants it. */
export function hexOf(number: number): string {
  return `0x${number.toString(16)}`;
}

export function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(what);
  return value as Record<string, unknown>; // an object, by the line above
}

export function list(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw malformed(what);
  return value;
}

/**
 * 0x and hex digits, lower case. Nodes send lower case except for checksummed addresses, so the first test nearly always decides; ten
 * thousand settlements take a million of these reads.
 */
export function hexText(value: unknown, digits: number | 'whole bytes', what: string): string {
  if (typeof value !== 'string' || !hasDigits(value, digits)) throw malformed(what);
  if (value.length > LONG_TEXT_CHARS) return longHexText(value, what);
  if (LOWER_HEX.test(value)) return value;
  if (ANY_HEX.test(value)) return value.toLowerCase();
  throw malformed(what);
}

/** Above this, Node's own hex decoder beats a pattern: most of the bytes read are calldata. */
const LONG_TEXT_CHARS = 200;

function longHexText(value: string, what: string): string {
  const bytes = (value.length - 2) / 2;
  // The decoder stops at the first character that is no digit, so its count is the check.
  if (!value.startsWith('0x') || Buffer.from(value.slice(2), 'hex').length !== bytes) throw malformed(what);
  return value.toLowerCase();
}

/**
 * Calldata: 0x and an even number of digits, lower case. The digits are not checked, because calldata is most of the input and nothing
 * depends on it: the decoder only compares pieces of it with checked logs, which a non-hex text never equals.
 */
function calldata(value: unknown): string {
  if (typeof value !== 'string' || !value.startsWith('0x') || value.length % 2 !== 0)
    throw malformed('input');
  return value.toLowerCase();
}

function hasDigits({ length }: string, digits: number | 'whole bytes'): boolean {
  return digits === 'whole bytes' ? length % 2 === 0 : length === 2 + digits;
}

export function hash(value: unknown, what: string, previous?: Hash): Hash {
  if (previous !== undefined && value === previous) return previous;
  return hexText(value, HASH_DIGITS, what) as Hash; // 64 digits, just checked
}

export function quantity(value: unknown, what: string, max = Number.MAX_SAFE_INTEGER): number {
  if (typeof value !== 'string' || !QUANTITY.test(value)) throw malformed(what);
  const number = Number(value);
  if (number > max) throw malformed(what);
  return number;
}

/** A quantity of up to 256 bits. */
export function wideQuantity(value: unknown, what: string): bigint {
  if (typeof value !== 'string' || !WIDE_QUANTITY.test(value)) throw malformed(what);
  return BigInt(value);
}

export function malformed(what: string): ProviderContradiction {
  return new ProviderContradiction('malformed', `${what} is not as the protocol defines it`);
}
