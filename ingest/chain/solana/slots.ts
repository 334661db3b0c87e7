import type { BlockRef } from '../block-source.ts';
import { ProviderContradiction } from '../rpc/failure.ts';
import type { SolanaBlock } from './block.ts';
import type { HeaderAnswer } from './read-block.ts';

/**
 * Proves which slots of a range have blocks. Not every slot has one, and a node that has lost a block says the same of it as of a slot that
 * was skipped. The block after it knows: each block names the slot and the hash of the block before it, so between the two there is none. A
 * slot counts as skipped only if the next block's parent is below it.
 */

/** Throws `ProviderContradiction` if between two neighbours of an ascending list a block is missing, or one is of another fork. */
export function checkSlots(blocks: readonly HeaderAnswer[]): void {
  for (const [at, block] of blocks.entries()) {
    const before = blocks[at - 1];
    if (before !== undefined) checkFollows(before, block);
  }
}

/** Throws `ProviderContradiction` if a block lies between a slot and a block after it: `first` must be the first from there on. */
export function checkFirst(from: number, first: HeaderAnswer): void {
  if (first.parentNumber >= from && first.number > 0)
    throw new ProviderContradiction(
      'missing-block',
      `slot ${first.parentNumber} has a block, by the one at ${first.number}, and was left out`,
    );
}

function checkFollows(before: HeaderAnswer, block: HeaderAnswer): void {
  if (block.parentNumber > before.number)
    throw new ProviderContradiction(
      'missing-block',
      `slot ${block.parentNumber} has a block, by the one at ${block.number}, and was left out`,
    );
  if (block.parentNumber < before.number || block.parentHash !== before.hash)
    throw new ProviderContradiction(
      'broken-link',
      `the block at slot ${block.number} does not follow the one at ${before.number}`,
    );
}

/** Stands for a skipped slot at the end of a range: the chain there is as the block before left it. */
export function skippedSlot(number: number, before: Pick<BlockRef, 'hash' | 'time'>): SolanaBlock {
  return {
    number,
    hash: before.hash,
    parentHash: before.hash,
    parentNumber: number - 1,
    time: before.time,
    transactions: [],
  };
}
