import type { Address, Hash } from '../../core/domain/account.ts';

/**
 * The port to one chain: `ChainTip` of any family, everything else of EVM chains (Solana's is solana/source.ts). Node answers are not trusted:
 * everything that an implementation returns has passed the checks named here. The contract suite is test/ingest/chain/block-source.ts.
 */

export interface BlockRef {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Unix seconds. */
  readonly time: number;
}

/** What following a chain needs of its source, whatever family it is of. */
export interface ChainTip {
  /** The tip and the newest block that can no longer be undone (tag `finalized`, or a depth where the node has no such tag). */
  tip(): Promise<{ readonly head: BlockRef; readonly finalized: BlockRef }>;
  /** The block at a height on the node's current chain; null when the chain is shorter. */
  blockAt(number: number): Promise<BlockRef | null>;
  counters(): SourceCounters;
  /** Calls back when the node announces a block (only with websocket URLs). Returns a function that stops it. */
  onNewHead(listener: () => void): () => void;
}

/** Reads ranges of blocks, as `BlockReader.read` says. */
export interface RangeReader<Filter, Batch> {
  read(from: number, to: number, filter: Filter, options?: ReadOptions): Promise<Batch>;
}

/** A header as the proof of completeness needs it. */
export interface Header extends BlockRef {
  /** 0x and 512 hex digits, or null if the chain omits the field. */
  readonly bloom: string | null;
}

/** A log exactly as the node's JSON gives it (hex strings): the decoder slices, it does not convert. */
export interface RawLog {
  readonly address: Address;
  readonly topics: readonly Hash[];
  readonly data: string;
  readonly blockNumber: number;
  readonly blockHash: Hash;
  readonly transactionHash: Hash;
  readonly logIndex: number;
}

export interface TransactionFacts {
  readonly hash: Hash;
  readonly from: Address;
  /** Null for a contract creation. */
  readonly to: Address | null;
  readonly input: string;
}

/** Blocks [from, to], whole: the blocks link to each other, and every log belongs to one of them. */
export interface BlockBatch {
  readonly from: number;
  readonly to: number;
  /**
   * Ascending; every block of the range, or (completeness 'settlement-blocks' without `everyHeader`) first, last and those
   * with candidates.
   */
  readonly blocks: readonly BlockRef[];
  /**
   * Ascending by (blockNumber, logIndex), without duplicates. If not every block is read, logs of blocks without a candidate are left
   * out, because they could not be checked.
   */
  readonly logs: readonly RawLog[];
  /** By transaction hash, for every transaction whose logs the filter calls candidates. */
  readonly transactions: ReadonlyMap<Hash, TransactionFacts>;
  /** What these transactions cost, where the source gives that with the blocks: then no receipts need be read for it. */
  readonly costs?: ReadonlyMap<Hash, ReceiptFacts>;
  /** How long the read waited for its turn under a limit of requests: this says nothing about the size of the range. */
  readonly waitedMs?: number;
  /** Where a chain has two sources: the one that gave this batch. */
  readonly readFrom?: 'portal' | 'rpc';
}

/** Events, by topic0, and the contracts that emit them. */
export interface EventsOf {
  readonly addresses: readonly Address[];
  readonly topics: readonly Hash[];
}

/** The logs to fetch, fixed per chain. */
export interface LogFilter extends EventsOf {
  /**
   * Which events matter from which contracts; by default all from all. One call requests them all, but no proof of completeness is
   * needed for combinations that do not matter.
   */
  readonly matters?: readonly EventsOf[];
  /** Events of which every log is a candidate: a source can ask for their transactions at once. Default: none. */
  readonly alwaysCandidates?: readonly Hash[];
  /** True when the log can become (part of) a settlement, so that its block is read with transactions. */
  readonly isCandidate: (log: RawLog) => boolean;
}

export interface SourceCounters {
  readonly calls: number;
  readonly retries: number;
  /** Answers that contradicted themselves or each other (wrong fork, missing logs, broken parent links). */
  readonly contradictions: number;
  /** When the last of them was noticed, Unix milliseconds; 0 for never. */
  readonly contradictedAtMs: number;
}

export interface ReadOptions {
  readonly freshStartsMax?: number;
  /**
   * Reads, links and proves every block regardless of the configured completeness. Needed near the tip: blocks between two sparse
   * ones may be replaced during the read, and nothing else would notice that the batch mixes two forks.
   */
  readonly everyHeader?: boolean;
}

/** The range could not be read in the permitted number of attempts; check the tip before trying again. */
export class ReadAbandoned extends Error {
  constructor(from: number, to: number, cause?: unknown) {
    super(`blocks ${from}–${to} could not be read whole`, { cause });
    this.name = 'ReadAbandoned';
  }
}

/** What an account holds at the newest block. */
export interface AccountFacts {
  readonly address: Address;
  /** Transactions that it has sent. */
  readonly nonce: number;
  /** In the smallest unit of the chain's own coin, uint256. */
  readonly balance: bigint;
}

/** A block and the transactions in it whose receipts are wanted. */
export interface WantedReceipts {
  readonly number: number;
  /** Null where it is not known: then the receipts must only agree with each other. */
  readonly hash: Hash | null;
  readonly transactions: readonly Hash[];
}

/** What a transaction cost its sender. */
export interface ReceiptFacts {
  readonly transactionHash: Hash;
  readonly gasUsed: number;
  /** Effective, in the smallest unit of the chain's own coin. */
  readonly gasPrice: bigint;
  /** What an OP-stack chain charges for the data on its base chain; 0 where the receipt has no such field. */
  readonly l1Fee: bigint;
}

/** The wanted receipts of a block, in the given order, and every log that came with them: where a whole block was read, of all of it. */
export interface BlockReceipts {
  readonly receipts: readonly ReceiptFacts[];
  /** Ascending, ours and others'. */
  readonly logs: readonly RawLog[];
}

export interface ReceiptOptions {
  /** Calls in one exchange at most. */
  readonly callsMax: number;
  /** Awaited before each exchange: the caller decides how fast. */
  readonly before: (calls: number) => Promise<void>;
}

/** The receipts could not be read now. The message of `cause` contains no URL. */
export class ReceiptsUnread extends Error {
  constructor(cause: unknown) {
    super('receipts could not be read', { cause });
    this.name = 'ReceiptsUnread';
  }
}

/** The accounts could not be read now. The message of `cause` contains no URL. */
export class AccountsUnread extends Error {
  constructor(cause: unknown) {
    super('accounts could not be read', { cause });
    this.name = 'AccountsUnread';
  }
}

/** The part of the port that reads blocks. Contract suite: `blockReaderContract` in the same file. */
export interface BlockReader extends Omit<ChainTip, 'onNewHead'> {
  /**
   * Reads [from, to]. Retries with back-off over the configured URLs until an answer passes every check, or the signal aborts.
   * With `freshStartsMax`, throws `ReadAbandoned` after so many whole attempts: near the tip the range itself may be gone.
   */
  read(from: number, to: number, filter: LogFilter, options?: ReadOptions): Promise<BlockBatch>;
}

export interface BlockSource extends BlockReader, ChainTip {
  /**
   * Nonce and balance of accounts at the newest block, in the given order. Throws `AccountsUnread` after few attempts, because no
   * settlement depends on it. The answers are unverified and may be from neighbouring blocks.
   */
  accounts(addresses: readonly Address[]): Promise<readonly AccountFacts[]>;
  /**
   * Who sent the first coins of the chain that an account had; null where no transaction did, but a contract or the first block. Throws
   * `AccountsUnread` where the node does not keep the states of all blocks, or after few attempts. Unverified, as `accounts`.
   */
  funder(account: Address): Promise<Address | null>;
  /**
   * The wanted receipts of each block, in the given order; null for a block that no URL answers rightly: absent, of another block or
   * fork, without a wanted transaction, or with one that failed. Throws `ReceiptsUnread` after few attempts, because no settlement
   * depends on it.
   */
  receipts(
    blocks: readonly WantedReceipts[],
    options: ReceiptOptions,
  ): Promise<readonly (BlockReceipts | null)[]>;
}
