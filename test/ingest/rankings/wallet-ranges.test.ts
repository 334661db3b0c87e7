import { expect, test } from 'vitest';
import { walletRanges } from '../../../ingest/rankings/wallet-ranges.ts';

test.each([
  ['no pairs', 0, 1],
  ['as many as fit', 100, 1],
  ['one more than fits', 101, 2],
  ['ten times as many', 1_000, 10],
  ['more than there may be ranges for', 1_000_000, 256],
])('%s: every first two bytes of an address are in one range', (_what, pairs, count) => {
  const ranges = walletRanges(pairs, 100);
  expect(ranges).toHaveLength(count);
  expect(ranges[0]?.first).toBe(0);
  expect(ranges.at(-1)?.end).toBe(65_536);
  for (const [index, { first, end }] of ranges.entries()) {
    expect(end).toBeGreaterThan(first);
    if (index > 0) expect(first).toBe(ranges[index - 1]?.end);
  }
});
