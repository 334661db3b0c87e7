import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextJobs, OPEN_JOBS_MAX } from '../../../ingest/coordinate/plan-ranges.ts';
import { type BlockRange, countBlocks, mergeRanges } from '../../../ingest/write/checkpoints.ts';
import { createVersions } from '../../../ingest/write/versions.ts';

const GAP = { from: 0, to: 1_000_000 };
const work = (logWindowMax = 100, epoch = 3n, isShared = true) => ({
  queue: { isShared },
  contracts: 'abc',
  gap: GAP,
  versions: createVersions(1_000_000n, () => 1),
  config: { logWindowMax },
  epoch,
});
const blocksOf = (ranges: readonly BlockRange[]): number[] =>
  ranges.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, index) => from + index));
const someRanges = fc
  .array(fc.tuple(fc.nat(3_000), fc.nat(400)), { maxLength: 12 })
  .map((pairs) => mergeRanges(pairs.map(([from, length]) => ({ from, to: from + length }))));

test('the newest blocks come first, in jobs of bounded size, no more than may be open', () => {
  const jobs = nextJobs(work(), [{ from: 0, to: 999_999 }], []);
  expect(jobs).toHaveLength(OPEN_JOBS_MAX);
  expect(jobs[0]?.ranges).toEqual([{ from: 999_200, to: 999_999 }]);
  expect(jobs[1]?.ranges.at(-1)?.to).toBe(999_199);
  const ranks = jobs.map(({ rank }) => rank);
  expect(ranks).toEqual([...ranks].sort((a, b) => a - b));
  expect(new Set(jobs.map(({ id }) => id)).size).toBe(jobs.length);
  expect(jobs.every(({ versionFloor }) => versionFloor >= 1_000_000n)).toBe(true);
});

test('many small gaps are one job', () => {
  const gaps = Array.from({ length: 40 }, (_, index) => ({ from: 10 * index, to: 10 * index + 1 }));
  expect(nextJobs(work(), gaps, []).map(({ ranges }) => ranges)).toEqual([gaps]);
});

test('an open range is not planned again, unless a predecessor planned it', () => {
  const missing = [{ from: 0, to: 199 }];
  const all = nextJobs(work(), missing, []);
  expect(nextJobs(work(), missing, all)).toEqual([]);
  expect(blocksOf(nextJobs(work(), missing, all.slice(1)).flatMap(({ ranges }) => ranges))).toEqual(
    blocksOf(all[0]?.ranges ?? []),
  );
  expect(nextJobs(work(100, 4n), missing, all).map(({ ranges }) => ranges)).toEqual(
    all.map(({ ranges }) => ranges),
  );
});

test('jobs are missing blocks that are in no open job, each once; few enough are planned whole', () => {
  fc.assert(
    fc.property(someRanges, someRanges, (missing, taken) => {
      const open = [{ ...opened, ranges: taken }];
      const planned = nextJobs(work(), missing, open).flatMap(({ ranges }) => blocksOf(ranges));
      const isTaken = new Set(blocksOf(taken));
      const free = blocksOf(missing).filter((block) => !isTaken.has(block));
      expect(planned.sort((a, b) => a - b)).toEqual(free);
      expect(planned.length).toBeLessThanOrEqual(countBlocks(missing));
    }),
  );
});

test('what no other process can take is planned as one job, and not again while it is open', () => {
  const missing = [
    { from: 0, to: 500_000 },
    { from: 600_000, to: 999_999 },
  ];
  const alone = work(100, 3n, false);
  const jobs = nextJobs(alone, missing, []);
  expect(jobs.map(({ ranges }) => ranges)).toEqual([missing]);
  expect(nextJobs(alone, missing, jobs)).toEqual([]);
  expect(nextJobs(alone, [], [])).toEqual([]);
});

const opened = { id: 'open', epoch: 3n, versionFloor: 0n, rank: 0 };
