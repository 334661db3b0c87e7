import { describe, expect, test } from 'vitest';
import { idleTimeOf } from '../../../sandbox/run/idle-time.ts';

const progress = (elapsedMs: number, cpuMs: number) => ({
  readRows: 1,
  readBytes: 1,
  totalRows: 1,
  memoryBytes: 1,
  elapsedMs,
  cpuMs,
});

describe('the time that is not charged', () => {
  test.for([
    ['all of it while the threads waited', progress(10_000, 2_000), 1, 8_000],
    ['by the threads that were given, not by those that worked', progress(10_000, 10_000), 2, 5_000],
    ['nothing where they worked all the time', progress(10_000, 20_500), 2, 0],
    ['nothing where the engine does not count processor time', progress(10_000, 0), 2, 0],
    ['nothing where the query is not found', null, 2, 0],
  ] as const)('is %s', ([, seen, threads, idleMs]) => {
    expect(idleTimeOf(seen, threads)).toBe(idleMs);
  });
});
