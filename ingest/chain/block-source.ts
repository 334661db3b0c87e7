import type { Address } from '../../core/domain/address.ts';
import type { Hash } from '../../core/domain/settlement.ts';

/**
 * The port to one EVM chain. A node's answer is data, not truth: whatever an implementation returns has passed the checks
 * named here. The contract suite is test/ingest/chain/block-source.ts.
 */

export interface BlockRef {
  readonly number: number;
  readonly hash: Hash;
  readonly parentHash: Hash;
  /** Unix seconds. */
  readonly time: number;
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
   * Ascending by (blockNumber, logIndex), each once. Where not every block is read, without those of blocks that hold no
   * candidate: they could not be checked.
   */
  readonly logs: readonly RawLog[];
  /** By transaction hash, for every transaction whose logs the filter calls candidates. */
  readonly transactions: ReadonlyMap<Hash, TransactionFacts>;
}

/** Events, by topic0, and the contracts that emit them. */
export interface EventsOf {
  readonly addresses: readonly Address[];
  readonly topics: readonly Hash[];
}

/** What to fetch, fixed per chain. */
export interface LogFilter extends EventsOf {
  /**
   * Which of the events matter from which of the contracts; without it, each from each. All are asked for in one call, but
   * where only events may be missing that do not matter from these contracts, no proof is needed that they are not.
   */
  readonly matters?: readonly EventsOf[];
  /** True when the log can become (part of) a settlement, so that its block is read with transactions. */
  readonly isCandidate: (log: RawLog) => boolean;
}

export interface SourceCounters {
  readonly calls: number;
  readonly retries: number;
  /** Answers that contradicted themselves or each other (wrong fork, missing logs, broken parent links). */
  readonly contradictions: number;
}

export interface ReadOptions {
  readonly freshStartsMax?: number;
  /**
   * Reads, links and proves every block whatever the configured completeness. Near the tip, where blocks between two sparse
   * ones may be replaced during the read and nothing else would notice that the batch mixes two forks.
   */
  readonly everyHeader?: boolean;
}

/** The range could not be read in the permitted number of attempts; look at the tip again before asking anew. */
export class ReadAbandoned extends Error {
  constructor(from: number, to: number) {
    super(`blocks ${from}–${to} could not be read whole`);
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

/** The accounts could not be read now. `cause` is why; its text holds no URL. */
export class AccountsUnread extends Error {
  constructor(cause: unknown) {
    super('accounts could not be read', { cause });
    this.name = 'AccountsUnread';
  }
}

export interface BlockSource {
  /** The tip and the newest block that can no longer be undone (tag `finalized`, or a depth where the node has no such tag). */
  tip(): Promise<{ readonly head: BlockRef; readonly finalized: BlockRef }>;
  /** The block at a height on the node's current chain; null when the chain is shorter. */
  blockAt(number: number): Promise<BlockRef | null>;
  /**
   * Reads [from, to]. Retries with back-off over the configured URLs until an answer passes every check, or the signal aborts.
   * With `freshStartsMax`, throws `ReadAbandoned` after so many whole attempts: near the tip the range itself may be gone.
   */
  read(from: number, to: number, filter: LogFilter, options?: ReadOptions): Promise<BlockBatch>;
  /**
   * Nonce and balance of accounts at the newest block, in the order given. Throws `AccountsUnread` after few attempts instead
   * of repeating: no settlement depends on it. The answers are the node's word; they may be of neighbouring blocks.
   */
  accounts(addresses: readonly Address[]): Promise<readonly AccountFacts[]>;
  /** Calls back when the node announces a block (websocket URLs; others never do). Returns how to stop. */
  onNewHead(listener: () => void): () => void;
  counters(): SourceCounters;
}
