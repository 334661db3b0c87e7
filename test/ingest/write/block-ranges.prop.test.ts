import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type BlockRange,
  countBlocks,
  createWindows,
  mergeRanges,
  missingRanges,
} from '../../../ingest/write/checkpoints.ts';

const SIZE = 60;
const range = fc
  .tuple(fc.nat(SIZE), fc.nat(12))
  .map(([from, length]): BlockRange => ({ from, to: from + length }));
const ranges = fc.array(range, { maxLength: 12 });

/** The naive model: a set of block numbers. */
const blocksOf = (list: readonly BlockRange[]): Set<number> => {
  const blocks = new Set<number>();
  for (const { from, to } of list) for (let block = from; block <= to; block++) blocks.add(block);
  return blocks;
};

test('merging keeps exactly the same blocks, in order and apart from each other', () => {
  fc.assert(
    fc.property(ranges, (list) => {
      const merged = mergeRanges(list);
      expect([...blocksOf(merged)].sort((a, b) => a - b)).toEqual([...blocksOf(list)].sort((a, b) => a - b));
      for (const [index, next] of merged.entries())
        expect(next.from).toBeGreaterThan((merged[index - 1]?.to ?? -2) + 1);
    }),
  );
});

test('missing and covered ranges are together the whole range, without overlap', () => {
  fc.assert(
    fc.property(fc.nat(SIZE), fc.nat(SIZE), ranges, (from, length, covered) => {
      const to = from + length;
      const missing = blocksOf(missingRanges(from, to, covered));
      const have = blocksOf(covered);
      for (let block = from; block <= to; block++) expect(missing.has(block)).toBe(!have.has(block));
      expect(missing.size).toBe(countBlocks(missingRanges(from, to, covered)));
    }),
  );
});

test('windows hand out every missing block once, newest first, in any size', () => {
  fc.assert(
    fc.property(ranges, fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }), (missing, sizes) => {
      const windows = createWindows(missing);
      const taken: BlockRange[] = [];
      for (let step = 0; ; step++) {
        const window = windows.takeNewest(sizes[step % sizes.length] ?? 1);
        if (!window) break;
        taken.push(window);
        expect(windows.left()).toBe(blocksOf(missing).size - countBlocks(taken));
      }
      expect(countBlocks(taken)).toBe(blocksOf(missing).size);
      expect(blocksOf(taken)).toEqual(blocksOf(missing));
      for (const [index, next] of taken.entries())
        expect(next.to).toBeLessThan(taken[index - 1]?.from ?? Number.POSITIVE_INFINITY);
    }),
  );
});
