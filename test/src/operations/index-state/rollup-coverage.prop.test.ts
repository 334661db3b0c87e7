import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinRanges, type TimeRange } from '../../../../clickhouse/tables/coverage.ts';

/** Small numbers, so that ranges touch, overlap and lie apart. */
const range = fc
  .tuple(fc.integer({ min: 0, max: 60 }), fc.option(fc.integer({ min: 1, max: 8 }), { freq: 9 }))
  .map(([from, length]): TimeRange => ({ from, to: length === null ? null : from + length }));
const ranges = fc.array(range, { maxLength: 25 });
const covers = (some: readonly TimeRange[], time: number): boolean =>
  some.some(({ from, to }) => time >= from && (to === null || time < to));
const TIMES = Array.from({ length: 80 }, (_, time) => time);

test('joined ranges are ascending, apart, at most the maximum, and cover all that was given', () => {
  fc.assert(
    fc.property(ranges, fc.integer({ min: 1, max: 6 }), (some, max) => {
      const joined = joinRanges(some, max);
      expect(joined.length).toBeLessThanOrEqual(max);
      for (const [at, { from }] of joined.entries()) {
        const before = joined[at - 1];
        if (before) expect(before.to !== null && before.to < from).toBe(true);
      }
      expect(TIMES.filter((time) => covers(some, time) && !covers(joined, time))).toEqual([]);
    }),
  );
});

test('without a need to close gaps nothing is added', () => {
  fc.assert(
    fc.property(ranges, (some) => {
      const joined = joinRanges(some, some.length + 1);
      expect(TIMES.filter((time) => covers(some, time) !== covers(joined, time))).toEqual([]);
    }),
  );
});

test('joining joined ranges changes nothing', () => {
  fc.assert(
    fc.property(ranges, fc.integer({ min: 1, max: 6 }), (some, max) => {
      const joined = joinRanges(some, max);
      expect(joinRanges(joined, max)).toEqual(joined);
    }),
  );
});
