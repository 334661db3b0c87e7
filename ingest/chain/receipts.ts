import type { Hash } from '../../core/domain/account.ts';
import {
  type BlockReceipts,
  type BlockSource,
  type RawLog,
  type ReceiptFacts,
  type ReceiptOptions,
  ReceiptsUnread,
  type WantedReceipts,
} from './block-source.ts';
import { orderLogs } from './check-batch.ts';
import { hash, hexOf, list, logsOfBlock, malformed, quantity, record, wideQuantity } from './read-answers.ts';
import { ProviderContradiction, RpcFailure } from './rpc/failure.ts';
import type { Question, RpcPool } from './rpc/pool.ts';

/**
 * Reads receipts of transactions that are known to have settled. A block with several of them is one call
 * (eth_getBlockReceipts); a single one is asked for by its hash, which is one call too and leaves out the receipts of all others, some
 * hundred kilobytes. Nodes that refuse the first method are asked transaction by transaction.
 */

/** Nothing waits for these answers, so a node that refuses them is soon given up. */
const ATTEMPTS_MAX = 2;
/** How long a refusal of eth_getBlockReceipts counts: a URL may lead to another node tomorrow. */
const REFUSAL_COUNTS_MS = 60 * 60_000;
const SUCCESS = 1;

export function createReceiptReader(
  pool: RpcPool,
  nowMs: () => number = () => performance.now(),
): BlockSource['receipts'] {
  let wholeBlocksFromMs = 0;
  const questionsOf = (block: WantedReceipts): Question<BlockReceipts>[] =>
    block.transactions.length > 1 && nowMs() >= wholeBlocksFromMs
      ? [blockReceipts(block)]
      : block.transactions.map((transaction) => oneReceipt(block, transaction));
  /** Throws the trouble of the first block that could not be read. */
  const attempt = async (
    blocks: readonly WantedReceipts[],
    options: ReceiptOptions,
  ): Promise<BlockReceipts[]> => {
    const asked = blocks.map(questionsOf);
    const answers = await inExchanges(pool, asked.flat(), options);
    return asked.map(({ length }) => together(answers.splice(0, length)));
  };
  const read = async (
    blocks: readonly WantedReceipts[],
    options: ReceiptOptions,
  ): Promise<(BlockReceipts | null)[]> => {
    try {
      return await attempt(blocks, options);
    } catch (error) {
      const isWhole = blocks.some((block) => block.transactions.length > 1) && nowMs() >= wholeBlocksFromMs;
      if (isWhole && error instanceof RpcFailure && isOfMethod(error)) {
        wholeBlocksFromMs = nowMs() + REFUSAL_COUNTS_MS;
        return read(blocks, options);
      }
      if (!isOfBlock(error)) throw asUnread(error);
    }
    if (blocks.length === 1) return [null];
    // One of them spoils the exchange: each by itself shows which.
    const apart: (BlockReceipts | null)[] = [];
    for (const block of blocks) apart.push(...(await read([block], options)));
    return apart;
  };
  return read;
}

/** In exchanges of at most so many calls, each when the caller permits. */
async function inExchanges(
  pool: RpcPool,
  questions: readonly Question<BlockReceipts>[],
  { callsMax, before }: ReceiptOptions,
): Promise<BlockReceipts[]> {
  const answers: BlockReceipts[] = [];
  for (let start = 0; start < questions.length; start += callsMax) {
    const part = questions.slice(start, start + callsMax);
    await before(part.length);
    answers.push(...(await pool.askAll(part)));
  }
  return answers;
}

/** The node does not know the method, or does not give a whole block at once. */
function isOfMethod({ kind }: RpcFailure): boolean {
  return kind === 'refused' || kind === 'too-large';
}

function isOfBlock(error: unknown): boolean {
  return error instanceof ProviderContradiction || (error instanceof RpcFailure && error.kind === 'absent');
}

function asUnread(error: unknown): unknown {
  return error instanceof RpcFailure || error instanceof ProviderContradiction
    ? new ReceiptsUnread(error)
    : error;
}

const givesUp = (_trouble: unknown, attempts: number): boolean => attempts >= ATTEMPTS_MAX;

function blockReceipts(block: WantedReceipts): Question<BlockReceipts> {
  return {
    method: 'eth_getBlockReceipts',
    params: [hexOf(block.number)],
    read: (result) => {
      if (result === null) throw absent(block);
      const entries = list(result, 'receipts').map((entry) => record(entry, 'receipt'));
      const byHash = new Map(entries.map((entry) => [lowerCase(entry['transactionHash']), entry]));
      return ofOneBlock(
        block.transactions.map((transaction) => readReceipt(byHash.get(transaction), block, transaction)),
        entries,
      );
    },
    givesUp,
  };
}

function oneReceipt(block: WantedReceipts, transaction: Hash): Question<BlockReceipts> {
  return {
    method: 'eth_getTransactionReceipt',
    params: [transaction],
    read: (result) => {
      if (result === null) throw absent(block);
      return ofOneBlock([readReceipt(result, block, transaction)], [record(result, 'receipt')]);
    },
    givesUp,
  };
}

interface ReadReceipt extends ReceiptFacts {
  readonly blockHash: Hash;
}

function readReceipt(entry: unknown, block: WantedReceipts, transaction: Hash): ReadReceipt {
  if (entry === undefined)
    throw new ProviderContradiction(
      'missing-transaction',
      `block ${block.number} has no receipt of ${transaction}`,
    );
  const receipt = record(entry, 'receipt');
  const found = quantity(receipt['blockNumber'], 'receipt block number');
  const blockHash = hash(receipt['blockHash'], 'receipt block hash');
  if (found !== block.number || hash(receipt['transactionHash'], 'receipt transaction hash') !== transaction)
    throw new ProviderContradiction(
      'wrong-block',
      `another receipt than that of ${transaction} in block ${block.number}`,
    );
  if (block.hash !== null && blockHash !== block.hash)
    throw new ProviderContradiction(
      'wrong-fork',
      `a receipt of another block ${block.number} than the chain’s`,
    );
  if (quantity(receipt['status'], 'receipt status') !== SUCCESS)
    throw new ProviderContradiction(
      'failed-transaction',
      `${transaction} has settled and is said to have failed`,
    );
  return { blockHash, ...costOf(receipt, transaction) };
}

/** What a transaction cost, from a record with the fields of a receipt. */
export function costOf(receipt: Record<string, unknown>, transactionHash: Hash): ReceiptFacts {
  const l1Fee = receipt['l1Fee'];
  return {
    transactionHash,
    gasUsed: quantity(receipt['gasUsed'], 'gas used'),
    gasPrice: price(receipt['effectiveGasPrice'], 'gas price'),
    l1Fee: l1Fee === undefined || l1Fee === null ? 0n : price(l1Fee, 'L1 fee'),
  };
}

/** 128 bits: more than all coins of any chain, and small enough that the fee fits 256 bits whatever the gas. */
function price(value: unknown, what: string): bigint {
  const wei = wideQuantity(value, what);
  if (wei >= 2n ** 128n) throw malformed(what);
  return wei;
}

/** `entries` are all receipts that came. */
function ofOneBlock(
  receipts: readonly ReadReceipt[],
  entries: readonly Record<string, unknown>[],
): BlockReceipts {
  const [blockHash, ...others] = new Set(receipts.map((receipt) => receipt.blockHash));
  if (others.length > 0)
    throw new ProviderContradiction('wrong-fork', 'receipts of one block that name several');
  return {
    receipts: receipts.map(({ blockHash: _, ...facts }) => facts),
    logs:
      blockHash === undefined
        ? []
        : inOrder(entries.flatMap((entry) => logsOfBlock(entry['logs'], blockHash))),
  };
}

/** The answers about one block as one. */
function together(answers: readonly BlockReceipts[]): BlockReceipts {
  const [first, ...others] = answers;
  if (first !== undefined && others.length === 0) return first;
  return {
    receipts: answers.flatMap(({ receipts }) => receipts),
    logs: inOrder(answers.flatMap(({ logs }) => logs)),
  };
}

const inOrder = (logs: readonly RawLog[]): readonly RawLog[] => orderLogs(logs).logs;

function absent({ number }: WantedReceipts): RpcFailure {
  return new RpcFailure('absent', `the node has no receipts of block ${number}`);
}

/** Its digits are not checked: it is only compared with checked hashes. */
function lowerCase(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : '';
}
