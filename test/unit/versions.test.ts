import { expect, test } from 'vitest';
import { createVersions } from '../../ingest/versions.ts';

test('versions rise strictly within one millisecond and stay above the clock', () => {
  const versions = createVersions(0n, () => 1_000);
  expect([versions.next(), versions.next(), versions.next()]).toEqual([1_000_000n, 1_000_001n, 1_000_002n]);
});

test('a clock that was set back never gives a version that the tables already hold', () => {
  const floor = 9_000_000n;
  let nowMs = 1_000;
  const versions = createVersions(floor, () => nowMs);
  expect(versions.next()).toBe(9_000_001n);
  nowMs = 10;
  expect(versions.next()).toBe(9_000_002n);
  nowMs = 20_000;
  expect(versions.next()).toBe(20_000_000n);
});
