import type { Hash } from '../../../core/domain/account.ts';
import type { Rpc, RpcCall } from '../../../demo/chain/json-rpc.ts';
import {
  type BlockBatch,
  type BlockRef,
  type BlockSource,
  type LogFilter,
  type RawLog,
  ReadAbandoned,
  type TransactionFacts,
} from '../../../ingest/chain/block-source.ts';
import { type Transaction, wallet, word } from '../chain-logs.ts';

/**
 * A chain in memory whose clock and forks a test decides: the only way to have days and reorgs across midnight at the pace of
 * a simulation. It is a `BlockSource` (held to test/ingest/chain/block-source.ts) and answers the same blocks as JSON-RPC receipts,
 * so that the naive reader recounts what the product decoded.
 */
export interface ModelChain {
  readonly source: BlockSource;
  /** The methods that receipts and the naive reader need; any other one throws. */
  readonly rpc: Rpc;
  head(): BlockRef;
  /** Final blocks are never reorganised. */
  finalized(): BlockRef;
  blockHash(number: number): Hash;
  /** Appends a block and announces it. */
  append(block: ModelBlock): void;
  /** Drops the newest `depth` blocks and puts others in their place, at least as many; announced once. Returns what was dropped. */
  replace(depth: number, blocks: (lost: readonly ModelBlock[]) => readonly ModelBlock[]): void;
}

export interface ModelBlock {
  /** Unix seconds. */
  readonly time: number;
  readonly transactions: readonly ModelTransaction[];
}

/** `quietLogs` are logs of contracts that are not indexed, before the transaction's own: they only move the log index. */
export interface ModelTransaction extends Required<Transaction> {
  readonly quietLogs: number;
}

interface MinedBlock extends ModelBlock {
  readonly ref: BlockRef;
  readonly facts: readonly TransactionFacts[];
  readonly logs: readonly RawLog[];
}

const NOBODY = wallet(0xb0d1e);
/** Gas is free here. */
const BALANCE = 10n ** 18n;
const RECEIPT = { gasUsed: 60_000, gasPrice: 5n, l1Fee: 7n };
const hex = (value: number): string => `0x${value.toString(16)}`;

/** `finalityDepth` blocks can be reorganised; `genesisTime` is the time of block 0, which is empty. */
export function createModelChain(options: {
  readonly chainId: number;
  readonly finalityDepth: number;
  readonly genesisTime: number;
}): ModelChain {
  const listeners = new Set<() => void>();
  let mined = 0;
  const blocks: MinedBlock[] = [];
  const mine = (block: ModelBlock): void => {
    // Every block ever mined has hashes of its own, also when it says the same as another one.
    const salt = (BigInt(options.chainId) << 96n) | (BigInt(++mined) << 48n);
    blocks.push(mineBlock(block, blocks.length, blocks.at(-1)?.ref.hash ?? word(0), salt));
  };
  mine({ time: options.genesisTime, transactions: [] });
  const at = (number: number): MinedBlock => {
    const block = blocks[number];
    if (block === undefined) throw new RangeError(`the model chain has no block ${number}`);
    return block;
  };
  const finalizedNumber = (): number => Math.max(0, blocks.length - 1 - options.finalityDepth);
  const announce = (): void => {
    for (const listener of listeners) listener();
  };
  const chain: Omit<ModelChain, 'source' | 'rpc'> = {
    head: () => at(blocks.length - 1).ref,
    finalized: () => at(finalizedNumber()).ref,
    blockHash: (number) => at(number).ref.hash,
    append(block) {
      mine(block);
      announce();
    },
    replace(depth, make) {
      const from = blocks.length - depth;
      if (from <= finalizedNumber()) throw new RangeError('final blocks are never reorganised');
      const replacement = make(blocks.slice(from));
      if (replacement.length < depth) throw new RangeError('a chain never becomes shorter here');
      blocks.splice(from);
      for (const block of replacement) mine(block);
      announce();
    },
  };
  return { ...chain, source: sourceOf(blocks, chain, listeners), rpc: rpcOf(blocks) };
}

function mineBlock(block: ModelBlock, number: number, parentHash: Hash, salt: bigint): MinedBlock {
  const ref: BlockRef = { number, hash: word(salt), parentHash, time: block.time };
  const logs: RawLog[] = [];
  let logIndex = 0;
  const facts = block.transactions.map((transaction, position): TransactionFacts => {
    const transactionHash = word(salt + BigInt(position) + 1n);
    const place = { blockNumber: number, blockHash: ref.hash, transactionHash };
    for (let quiet = 0; quiet < transaction.quietLogs; quiet++)
      logs.push({ address: NOBODY, topics: [word(1)], data: '0x', ...place, logIndex: logIndex++ });
    for (const event of transaction.events) logs.push({ ...event, ...place, logIndex: logIndex++ });
    return { hash: transactionHash, from: transaction.from, to: transaction.to, input: transaction.input };
  });
  return { ...block, ref, facts, logs };
}

function sourceOf(
  blocks: readonly MinedBlock[],
  chain: Pick<ModelChain, 'head' | 'finalized'>,
  listeners: Set<() => void>,
): BlockSource {
  let calls = 0;
  /** Another turn, as a node's answer is: the chain may change between a question and the next. */
  const asked = async (): Promise<void> => {
    calls += 1;
    await Promise.resolve();
  };
  return {
    async tip() {
      await asked();
      return { head: chain.head(), finalized: chain.finalized() };
    },
    async blockAt(number) {
      await asked();
      return blocks[number]?.ref ?? null;
    },
    async read(from, to, filter) {
      await asked();
      if (blocks[to] === undefined) throw new ReadAbandoned(from, to);
      return batchOf(blocks.slice(from, to + 1), filter);
    },
    async accounts(addresses) {
      await asked();
      return addresses.map((of) => ({ address: of, nonce: sentBy(blocks, of), balance: BALANCE }));
    },
    async funder() {
      await asked();
      return null;
    },
    async receipts(wanted) {
      await asked();
      return wanted.map(({ number, transactions }) => {
        const facts = blocks[number]?.facts ?? [];
        const isThere = transactions.every((hash) => facts.some((one) => one.hash === hash));
        const receipts = transactions.map((transactionHash) => ({ transactionHash, ...RECEIPT }));
        return isThere ? { receipts, logs: blocks[number]?.logs ?? [] } : null;
      });
    },
    onNewHead(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    counters: () => ({ calls, retries: 0, contradictions: 0, contradictedAtMs: 0 }),
  };
}

function sentBy(blocks: readonly MinedBlock[], sender: unknown): number {
  return blocks.flatMap(({ facts }) => facts).filter(({ from }) => from === sender).length;
}

function batchOf(range: readonly MinedBlock[], filter: LogFilter): BlockBatch {
  const addresses = new Set<string>(filter.addresses);
  const topics = new Set<string | undefined>(filter.topics);
  const logs = range
    .flatMap((block) => block.logs)
    .filter((log) => addresses.has(log.address) && topics.has(log.topics[0]));
  const wanted = new Set(
    logs.filter((log) => filter.isCandidate(log)).map(({ transactionHash }) => transactionHash),
  );
  return {
    from: range[0]?.ref.number ?? 0,
    to: range.at(-1)?.ref.number ?? 0,
    blocks: range.map(({ ref }) => ref),
    logs,
    transactions: new Map(
      range
        .flatMap(({ facts }) => facts)
        .filter(({ hash }) => wanted.has(hash))
        .map((facts) => [facts.hash, facts]),
    ),
  };
}

function rpcOf(blocks: readonly MinedBlock[]): Rpc {
  const answer = ({ method, params }: RpcCall): unknown => {
    if (method === 'eth_blockNumber') return hex(blocks.length - 1);
    if (method === 'eth_getTransactionCount') return hex(sentBy(blocks, params[0]));
    if (method === 'eth_getBalance') return `0x${BALANCE.toString(16)}`;
    const block = blocks[Number(params[0])];
    if (block === undefined) return null;
    if (method === 'eth_getBlockReceipts') return receiptsOf(block);
    if (method === 'eth_getBlockByNumber') return jsonBlockOf(block);
    throw new Error(`the model chain does not answer ${method}`);
  };
  return {
    url: 'model',
    call: async <Result>(method: string, ...params: readonly unknown[]) =>
      answer({ method, params }) as Result, // the caller names what the method answers
    batch: async <Result>(calls: readonly RpcCall[]) => calls.map(answer) as Result[], // as above
  };
}

function receiptsOf(block: MinedBlock): unknown[] {
  return block.facts.map(({ hash, from, to }) => ({
    transactionHash: hash,
    blockNumber: hex(block.ref.number),
    blockHash: block.ref.hash,
    gasUsed: hex(RECEIPT.gasUsed),
    effectiveGasPrice: hex(Number(RECEIPT.gasPrice)),
    l1Fee: hex(Number(RECEIPT.l1Fee)),
    status: '0x1',
    from,
    to,
    logs: block.logs
      .filter(({ transactionHash }) => transactionHash === hash)
      .map((log) => ({ ...log, blockNumber: hex(log.blockNumber), logIndex: hex(log.logIndex) })),
  }));
}

function jsonBlockOf({ ref, facts }: MinedBlock): unknown {
  return {
    number: hex(ref.number),
    hash: ref.hash,
    parentHash: ref.parentHash,
    timestamp: hex(ref.time),
    transactions: facts,
  };
}
