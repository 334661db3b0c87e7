import type { Hash } from '../../core/domain/account.ts';
import type { BlockRef, ChainTip } from '../chain/block-source.ts';

/**
 * The indexed blocks of the reorg window. Bounded by finality: older blocks need not be remembered, because a reorg that deep stops
 * the chain with an error (docs/design/ingest.md).
 */
export interface KnownBlocks {
  hashAt(number: number): Hash | undefined;
  /** The highest remembered block at or below a height. */
  newestAtOrBelow(
    number: number,
  ): { readonly number: number; readonly hash: Hash; readonly time: number } | undefined;
  remember(blocks: readonly { readonly number: number; readonly hash: Hash; readonly time: number }[]): void;
  forgetAbove(number: number): void;
  /** Keeps the newest block at or below `number`, the anchor for a reorg of all later ones. */
  forgetBelow(number: number): void;
}

export function createKnownBlocks(): KnownBlocks {
  const blocks = new Map<number, { number: number; hash: Hash; time: number }>();
  const newestAtOrBelow = (number: number): { number: number; hash: Hash; time: number } | undefined => {
    let best: { number: number; hash: Hash; time: number } | undefined;
    for (const block of blocks.values())
      if (block.number <= number && block.number > (best?.number ?? -1)) best = block;
    return best;
  };
  return {
    hashAt: (number) => blocks.get(number)?.hash,
    newestAtOrBelow: (number) => blocks.get(number) ?? newestAtOrBelow(number),
    remember(more) {
      for (const { number, hash, time } of more) blocks.set(number, { number, hash, time });
    },
    forgetAbove(number) {
      for (const height of blocks.keys()) if (height > number) blocks.delete(height);
    },
    forgetBelow(number) {
      const anchor = newestAtOrBelow(number)?.number;
      if (anchor === undefined) return;
      for (const height of blocks.keys()) if (height < anchor) blocks.delete(height);
    },
  };
}

/** A reorg of final blocks. The chain stops until an operator has investigated: see docs/operators.md. */
export class ReorgBelowFinality extends Error {
  constructor(number: number) {
    super(`the node's chain differs from the index at and below block ${number}, which was final`);
    this.name = 'ReorgBelowFinality';
  }
}

/** The node knows less than the index: it lags behind its peers, or was reset. Asking again later, or another node, helps. */
export class NodeBehind extends Error {
  constructor(number: number) {
    super(`the node does not have block ${number}, which is indexed and final`);
    this.name = 'NodeBehind';
  }
}

export interface AncestorSearch {
  readonly source: Pick<ChainTip, 'blockAt'>;
  readonly known: KnownBlocks;
  /** The block before the head range: always an ancestor candidate, never passed. */
  readonly floor: number;
}

/**
 * Walks down the remembered blocks from `from` until the node agrees. If none is left: throws `ReorgBelowFinality` if the node has
 * another block at the height of one of them, `NodeBehind` if it merely lacks them.
 */
export async function findAncestor(search: AncestorSearch, from: number): Promise<BlockRef> {
  let differs = false;
  let candidate = search.known.newestAtOrBelow(from);
  while (candidate !== undefined && candidate.number >= search.floor) {
    const onChain = await search.source.blockAt(candidate.number);
    if (onChain !== null && onChain.hash === candidate.hash) return onChain;
    differs ||= onChain !== null;
    candidate = search.known.newestAtOrBelow(candidate.number - 1);
  }
  throw differs ? new ReorgBelowFinality(search.floor) : new NodeBehind(search.floor);
}
