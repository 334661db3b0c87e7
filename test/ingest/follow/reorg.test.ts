import { expect, test } from 'vitest';
import type { Hash } from '../../../core/domain/account.ts';
import type { BlockRef } from '../../../ingest/chain/block-source.ts';
import {
  createKnownBlocks,
  findAncestor,
  NodeBehind,
  ReorgBelowFinality,
} from '../../../ingest/follow/reorg.ts';

const block = (number: number, fork = 'a'): BlockRef => ({
  number,
  hash: `0x${fork}${number}` as Hash,
  parentHash: `0x${fork}${number - 1}` as Hash,
  time: 1000 + number,
});
const chainOf = (blocks: readonly BlockRef[]) => ({
  blockAt: (number: number) => Promise.resolve(blocks.find((one) => one.number === number) ?? null),
});
const known = (numbers: readonly number[]) => {
  const blocks = createKnownBlocks();
  blocks.remember(numbers.map((number) => block(number)));
  return blocks;
};

test('the ancestor is the highest remembered block that the node still has', async () => {
  const source = chainOf([block(1), block(2), block(3, 'b'), block(4, 'b')]);
  expect(await findAncestor({ source, known: known([1, 2, 3, 4]), floor: 0 }, 4)).toEqual(block(2));
});

test('a block below the final one is no ancestor, even if the node has it', async () => {
  const source = chainOf([block(3), block(5, 'b'), block(6, 'b')]);
  await expect(findAncestor({ source, known: known([3, 5, 6]), floor: 5 }, 6)).rejects.toThrow(
    ReorgBelowFinality,
  );
});

test('a node that merely lacks the blocks lags; that is no reorg', async () => {
  await expect(findAncestor({ source: chainOf([]), known: known([5, 6]), floor: 5 }, 6)).rejects.toThrow(
    NodeBehind,
  );
  await expect(findAncestor({ source: chainOf([]), known: known([5, 6]), floor: 5 }, 4)).rejects.toThrow(
    NodeBehind,
  );
});

test('a gap in the remembered blocks is stepped over', async () => {
  const source = chainOf([block(1), block(2), block(3), block(9, 'b')]);
  expect(await findAncestor({ source, known: known([1, 3, 9]), floor: 0 }, 9)).toEqual(block(3));
});

test('a reorg below the remembered blocks stops loudly instead of guessing', async () => {
  const source = chainOf([block(5, 'b'), block(6, 'b')]);
  await expect(findAncestor({ source, known: known([5, 6]), floor: 5 }, 6)).rejects.toThrow(
    ReorgBelowFinality,
  );
});

test('finality forgets old blocks but keeps one anchor to fall back to', () => {
  const blocks = known([1, 2, 3, 4]);
  blocks.forgetBelow(3);
  expect([1, 2, 3, 4].map((number) => blocks.hashAt(number) !== undefined)).toEqual([
    false,
    false,
    true,
    true,
  ]);
  blocks.forgetAbove(3);
  expect(blocks.newestAtOrBelow(9)?.number).toBe(3);
});
