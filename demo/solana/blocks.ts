import { createHash } from 'node:crypto';
import { base58 } from '@scure/base';
import type { AccountsBefore } from './accounts.ts';
import type { ExecutedTransaction } from './execute.ts';

export interface SolanaBlock {
  readonly slot: number;
  readonly parentSlot: number;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  /** Unix seconds. */
  readonly blockTime: number;
  readonly blockHeight: number;
  readonly transactions: readonly ExecutedTransaction[];
}

/** What has been executed and has no block yet. */
export interface OpenSlot {
  readonly slot: number;
  readonly transactions: ExecutedTransaction[];
  /** What the accounts that it wrote were before it. */
  readonly before: AccountsBefore;
}

/** Blocks that follow each other: each names its parent's slot and hash. A slot between two of them has no block. */
export interface Blocks {
  readonly tip: SolanaBlock;
  /** Of the newest block that no fork can replace. */
  readonly finalSlot: number;
  /** Of the oldest block that is kept. */
  readonly firstAvailable: number;
  at(slot: number): SolanaBlock | undefined;
  /** Slots with a block, both ends included. */
  between(from: number, to: number): number[];
  /** True for the hashes of the newest blocks, which transactions may name. */
  isRecent(blockhash: string): boolean;
  /** Appends the block of a slot. */
  seal(slot: number, blockTime: number, open: OpenSlot): SolanaBlock;
  /** Takes the newest blocks away and returns them, newest first. Throws where one is final. */
  cut(depth: number): OpenSlot[];
  /** Takes final blocks below a slot away and returns them. */
  prune(below: number): SolanaBlock[];
}

export interface BlocksOptions {
  readonly genesisHash: string;
  readonly firstSlot: number;
  /** A block is final once the newest one is so many slots above it. */
  readonly finalityDepth: number;
}

/** On Solana, transactions may name the hashes of the last 150 blocks. */
export const RECENT_BLOCKS = 150;
/** What the first block names as its parent. */
const NO_PARENT = base58.encode(new Uint8Array(32));

interface KeptBlock extends SolanaBlock {
  /** Dropped once the block is final. */
  open: OpenSlot | undefined;
}

export function createBlocks({ genesisHash, firstSlot, finalityDepth }: BlocksOptions): Blocks {
  const bySlot = new Map<number, KeptBlock>();
  /** Slots with a block, ascending. */
  const produced: number[] = [];
  const recent = new Map<string, number>();
  let firstAvailable = firstSlot;
  let finalSlot = firstSlot;
  /** Part of each hash, so that the same transactions have another hash on another fork. */
  let forks = 0;

  const newest = (): KeptBlock | undefined => bySlot.get(produced.at(-1) ?? -1);
  /** After a fork the newest block is an older one than before, and what was final stays so. */
  const advance = (slot: number): void => {
    const newestFinal = produced[firstAbove(produced, slot - finalityDepth) - 1];
    if (newestFinal !== undefined && newestFinal > finalSlot) finalSlot = newestFinal;
  };
  const forgetOld = (height: number): void => {
    for (let at = firstAbove(produced, finalSlot) - 1; at >= 0; at--) {
      const block = bySlot.get(produced[at] ?? -1);
      if (block?.open === undefined) break;
      block.open = undefined;
    }
    for (const [hash, own] of recent) {
      if (own >= height - RECENT_BLOCKS) break;
      recent.delete(hash);
    }
  };
  return {
    get tip() {
      const block = newest();
      if (block === undefined) throw new Error('the chain has no block');
      return block;
    },
    get finalSlot() {
      return finalSlot;
    },
    get firstAvailable() {
      return firstAvailable;
    },
    at: (slot) => bySlot.get(slot),
    between: (from, to) => produced.slice(firstAbove(produced, from - 1), firstAbove(produced, to)),
    isRecent: (blockhash) => recent.has(blockhash),
    seal(slot, blockTime, open) {
      const parent = newest();
      const previousBlockhash = parent?.blockhash ?? NO_PARENT;
      const { transactions } = open;
      const signatures = transactions.map(({ signature }) => signature);
      const hashed = [genesisHash, previousBlockhash, slot, forks, ...signatures].join('/');
      const blockhash = base58.encode(createHash('sha256').update(hashed).digest());
      const parentSlot = parent?.slot ?? Math.max(0, slot - 1);
      const blockHeight = (parent?.blockHeight ?? -1) + 1;
      const links = { slot, parentSlot, blockhash, previousBlockhash };
      const block: KeptBlock = { ...links, blockTime, blockHeight, transactions, open };
      bySlot.set(slot, block);
      produced.push(slot);
      recent.set(blockhash, blockHeight);
      advance(slot);
      forgetOld(blockHeight);
      return block;
    },
    cut(depth) {
      const undone = produced.slice(produced.length - depth);
      const first = undone[0];
      if (first !== undefined && first <= finalSlot) throw new Error(`slot ${first} is final`);
      produced.length -= undone.length;
      forks += 1;
      return undone.reverse().flatMap((slot) => {
        const block = bySlot.get(slot);
        bySlot.delete(slot);
        recent.delete(block?.blockhash ?? '');
        return block?.open ?? [];
      });
    },
    prune(below) {
      const until = Math.min(below, finalSlot);
      firstAvailable = Math.max(firstAvailable, until);
      return produced.splice(0, firstAbove(produced, until - 1)).flatMap((slot) => {
        const block = bySlot.get(slot);
        bySlot.delete(slot);
        return block ?? [];
      });
    },
  };
}

/** The place of the first member above a value, in an ascending list. */
function firstAbove(ascending: readonly number[], value: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? 0) <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}
