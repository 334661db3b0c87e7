import { describe, expect, test } from 'vitest';
import { versionTimeMs } from '../../../core/domain/settlement.ts';
import { createWaiting, isClosable, isPartlyClosable } from '../../../ingest/rollup/due.ts';
import { DAY_SECONDS, HOUR_SECONDS, rangeOf, sliceName } from '../../../ingest/rollup/statements.ts';
import { createRollupReport, rollupProgress } from '../../../ingest/rollup-worker.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { testLog } from '../../kit/engine.ts';

/** 2026-11-20T00:00:00Z. */
const DAY = 1_795_132_800;
const limits = { closeAfterMs: 900_000, quietMs: 5_000, closeAnywayAfterMs: 300_000 };
const verAt = (ms: number): bigint => createVersions(0n, () => ms).next();

test('slices are named and bounded by their UTC day or hour', () => {
  expect(sliceName({ dayStart: DAY, hour: null })).toBe('2026-11-20');
  expect(sliceName({ dayStart: DAY, hour: 5 })).toBe('2026-11-20T05');
  expect(rangeOf({ dayStart: DAY, hour: null })).toEqual({ from: DAY, to: DAY + DAY_SECONDS });
  expect(rangeOf({ dayStart: DAY, hour: 23 })).toEqual({
    from: DAY + 23 * HOUR_SECONDS,
    to: DAY + DAY_SECONDS,
  });
});

test('the time of a version is read back from it', () => {
  expect(versionTimeMs(verAt(1_795_132_800_123))).toBe(1_795_132_800_123);
});

test('a slice is closable once it ended the margin ago', () => {
  const hour = { dayStart: DAY, hour: 0 };
  const end = (DAY + HOUR_SECONDS) * 1_000 + limits.closeAfterMs;
  expect([end - 1, end].map((nowMs) => isClosable(hour, nowMs, limits))).toEqual([false, true]);
  expect(isClosable({ dayStart: DAY, hour: null }, end, limits)).toBe(false);
});

test('the present day is looked at from its first closable hour on', () => {
  const end = (DAY + HOUR_SECONDS) * 1_000 + limits.closeAfterMs;
  expect(
    [end - 1, end].map((nowMs) => isPartlyClosable({ dayStart: DAY, hour: null }, nowMs, limits)),
  ).toEqual([false, true]);
});

describe('waiting for quiet', () => {
  const now = 1_800_000_000_000;
  const slice = (changedMs: number) => ({ dayStart: DAY, hour: null, ver: verAt(changedMs) });

  test('a slice is due when its newest change is old enough', () => {
    const waiting = createWaiting(limits);
    expect(waiting.isDue(slice(now - 4_999), now)).toBe(false);
    expect(waiting.isDue(slice(now - 5_000), now)).toBe(true);
  });
  test('a slice that is never quiet is due after the bound, and then waits anew', () => {
    const waiting = createWaiting(limits);
    expect(waiting.isDue(slice(now), now)).toBe(false);
    const later = now + limits.closeAnywayAfterMs;
    expect(waiting.isDue(slice(later - 1), later - 1)).toBe(false);
    expect(waiting.isDue(slice(later), later)).toBe(true);
    waiting.computed(slice(later));
    expect(waiting.isDue(slice(later + 1), later + 1)).toBe(false);
  });
  test('a slice that became clean by itself does not keep its waiting time', () => {
    const waiting = createWaiting(limits);
    waiting.isDue(slice(now), now);
    waiting.keepDays([]);
    const later = now + limits.closeAnywayAfterMs;
    expect(waiting.isDue(slice(later), later)).toBe(false);
  });
});

describe('progress', () => {
  test('tells the share done and the time left at the rate so far', () => {
    expect(rollupProgress(45, 135, 9_000)).toEqual({ done: 45, left: 135, percent: 25, etaSeconds: 27 });
  });
  test('has no estimate before the first slice and is complete when nothing is left', () => {
    expect(rollupProgress(0, 3, 100)).toMatchObject({ percent: 0, etaSeconds: null });
    expect(rollupProgress(3, 0, 100)).toMatchObject({ percent: 100, etaSeconds: 0 });
  });
  test('is reported while many slices are left and when they are done, not for the daily few', () => {
    const lines: string[] = [];
    let nowMs = 0;
    const report = createRollupReport(
      testLog,
      (line) => lines.push(line),
      () => nowMs,
    );
    report.advanced(1, 0);
    for (let left = 19; left >= 0; left--) {
      report.advanced(1, left);
      nowMs += 1_000;
    }
    expect(lines).toHaveLength(4);
    expect(lines[0]).toBe('rollups: 30.0 % of 20 slices, ETA 12 s');
    expect(lines.at(-1)).toBe('rollups: 100.0 % of 20 slices, ETA 0 s');
  });
});
