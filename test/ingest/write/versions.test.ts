import { expect, test } from 'vitest';
import { createVersions, VERSION_STEP } from '../../../ingest/write/versions.ts';

const MS = 10n * VERSION_STEP;

test('versions rise by whole steps within one millisecond and stay above the clock', () => {
  const versions = createVersions(0n, () => 1_000);
  expect([versions.next(), versions.next(), versions.next()]).toEqual([
    1_000n * MS,
    1_000n * MS + VERSION_STEP,
    1_000n * MS + 2n * VERSION_STEP,
  ]);
});

test('a clock that was set back never gives a version that the tables already hold', () => {
  let nowMs = 1_000;
  const versions = createVersions(9_000n * MS, () => nowMs);
  expect(versions.next()).toBe(9_000n * MS + VERSION_STEP);
  nowMs = 10;
  expect(versions.next()).toBe(9_000n * MS + 2n * VERSION_STEP);
  nowMs = 20_000;
  expect(versions.next()).toBe(20_000n * MS);
});

test('a floor that a regrade has raised is passed by a whole step', () => {
  const versions = createVersions(9_000n * MS + 17n, () => 1_000);
  const next = versions.next();
  expect(next).toBeGreaterThan(9_000n * MS + 17n);
  expect(next % VERSION_STEP).toBe(0n);
});

test('a version of the year 2100 still fits in 64 bits', () => {
  const versions = createVersions(0n, () => Date.UTC(2100, 0));
  expect(versions.next()).toBeLessThan(2n ** 64n);
});
