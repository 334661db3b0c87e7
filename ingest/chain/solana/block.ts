import type { Signature } from '../../../core/domain/account.ts';
import type { BlockRef } from '../block-source.ts';

/** What is kept of a block of Solana: its place in the chain, and the transactions that moved a listed token. */

export interface SolanaBlock extends BlockRef {
  /** The slot of the block before it: the slots between were skipped. */
  readonly parentNumber: number;
  /** The candidates, ascending by index. */
  readonly transactions: readonly SolanaTransaction[];
}

/** What is kept, fixed per chain. */
export interface SolanaFilter {
  /** The listed tokens. Every transaction that names an account of one is checked. */
  readonly mints: ReadonlySet<string>;
  /** True when the transaction can become a settlement: it is verified and kept. */
  readonly isCandidate: (transaction: SolanaTransaction, mints: ReadonlySet<string>) => boolean;
  /** Only transactions whose fee one of these paid are read (fee-payers.ts). Absent: whole blocks are. */
  readonly feePayers?: ReadonlySet<string>;
}

/** A transaction that did not fail. */
export interface SolanaTransaction {
  /** Among all transactions of its block. */
  readonly index: number;
  /** The first signature, which is its id. */
  readonly signature: Signature;
  /** All accounts that its instructions name by position: its own, then those of lookup tables, writable before read-only. */
  readonly accounts: readonly string[];
  readonly instructions: readonly Instruction[];
  /** In the order of execution. */
  readonly moves: readonly TokenMove[];
  /** By the position of the token account. */
  readonly balances: ReadonlyMap<number, TokenBalance>;
}

/** An instruction of the message itself. */
export interface Instruction {
  readonly program: string;
  readonly accounts: readonly number[];
  /** Base58. */
  readonly data: string;
}

/** An instruction of a token program that changes balances. Accounts are positions in the transaction's list; null where there is none. */
export interface TokenMove {
  /** Of all instructions in the order in which they run: each of the message, followed by those that it called, and by the parts of a batch. */
  readonly position: number;
  /** The instruction of the message that it is, or that called it. */
  readonly top: number;
  readonly isInner: boolean;
  /** `other`: changes balances in a way that is not read here. `unreadable`: as long as no instruction of these programs is. */
  readonly kind: 'transfer' | 'mint' | 'burn' | 'other' | 'unreadable';
  /** A transfer that names mint and decimals. */
  readonly isChecked: boolean;
  readonly program: string;
  readonly source: number | null;
  readonly destination: number | null;
  readonly mint: number | null;
  readonly amount: bigint;
  /** What a transfer says is withheld of its amount; null where it says nothing. */
  readonly fee: bigint | null;
  /** The accounts of an `other`, which may have changed. */
  readonly touched: readonly number[];
}

/** A token account before and after a transaction; null where it did not exist, or, in very old blocks, where the node does not know. */
export interface TokenBalance {
  readonly mint: string;
  readonly ownerBefore: string | null;
  readonly ownerAfter: string | null;
  readonly before: bigint;
  readonly after: bigint;
  /** Closed, and opened again for another mint: nothing is known of what happened between. */
  readonly isReused: boolean;
}

/** Blocks [from, to], whole: each links to the one before, so that no slot is missing. Of fee payers alone: not whole. */
export interface SolanaBatch {
  readonly from: number;
  readonly to: number;
  /**
   * Ascending: each slot of the range that has a block (of fee payers: the first, and those with their payments), and the last slot. If that was skipped, it has the hash of the block before it, as its
   * own and as its parent's: so the end of each range is defined, and ranges link like those of other chains.
   */
  readonly blocks: readonly SolanaBlock[];
  /** How long the read waited for its turn under a limit of requests. */
  readonly waitedMs?: number;
  /** Where a chain has two sources: the one that gave this batch. */
  readonly readFrom?: 'portal' | 'rpc';
}
