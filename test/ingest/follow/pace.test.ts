import { expect, test } from 'vitest';
import type { StatusSnapshot } from '../../../ingest/follow/chain-status.ts';
import { createPace, progressLine } from '../../../ingest/follow/status-report.ts';

test('the time left holds although windows end in bursts', () => {
  let nowMs = 0;
  const pace = createPace(() => nowMs);
  const total = 100_000;
  expect(pace.secondsLeft({ backfillDone: 0, backfillTotal: total })).toBeNull();
  for (let second = 2; second <= 500; second += 2) {
    nowMs = second * 1_000;
    // 200 blocks a second, of which a checkpoint tells every eight seconds.
    const left = pace.secondsLeft({ backfillDone: Math.floor(second / 8) * 1_600, backfillTotal: total });
    const truly = total / 200 - second;
    if (second >= 60) expect(Math.abs((left ?? 0) - truly)).toBeLessThan(0.2 * truly + 10);
  }
  nowMs = 501_000;
  expect(pace.secondsLeft({ backfillDone: total, backfillTotal: total })).toBe(0);
});

test('another source or a slower node counts after a minute', () => {
  let nowMs = 0;
  const pace = createPace(() => nowMs);
  let done = 0;
  let left: number | null = null;
  for (let second = 0; second <= 300; second += 2) {
    nowMs = second * 1_000;
    done += second <= 150 ? 2_000 : 20;
    left = pace.secondsLeft({ backfillDone: done, backfillTotal: 1_000_000 });
  }
  expect(left).toBeGreaterThan((0.9 * (1_000_000 - done)) / 10);
});

test('a backfill that begins further back forgets the pace of the one before', () => {
  let nowMs = 0;
  const pace = createPace(() => nowMs);
  pace.secondsLeft({ backfillDone: 100, backfillTotal: 200 });
  nowMs = 1_000;
  expect(pace.secondsLeft({ backfillDone: 10, backfillTotal: 2_000 })).toBeNull();
});

test('the progress line says which source gives the blocks', () => {
  const snapshot = {
    ...{ state: 'backfilling', backfillDone: 25, backfillTotal: 100, backfillSource: 'portal' },
    ...{ blocksPerSecond: 1_234.4, rowsPerSecond: 8, indexedBlock: 1, headBlock: 2 },
  } as StatusSnapshot; // what the line shows
  expect(progressLine('base', snapshot, 30)).toBe(
    'base: backfill 25.0 % from the SQD Portal, 1234 blocks/s, 8 rows/s, ETA 30 s',
  );
  expect(progressLine('base', { ...snapshot, backfillSource: '' }, null)).toBe(
    'base: backfill 25.0 %, 1234 blocks/s, 8 rows/s, ETA unknown',
  );
});
