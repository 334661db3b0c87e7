import { VERSION_UNITS_PER_MS } from '../src/domain/version-time.ts';

/**
 * `ver` of a write attempt: strictly rising, never reused, above everything the tables already hold. The clock survives a
 * restart without being stored; the floor covers a clock that was set back. Source: engine.md 4.4 rule 1.
 *
 * Versions are `VERSION_STEP` apart. The room between is for regrades: a row that is graded anew keeps its place in time and
 * only fills that room (ingest/regrade), so whatever is written to its key later, tombstones above all, stays above it
 * however the two statements overlap.
 */
export interface Versions {
  next(): bigint;
}

/**
 * Regrades that one written row can take: a catalogue changes a few times a day at most. Leaves ten attempts a millisecond
 * before the versions run ahead of the clock, which is harmless.
 */
export const VERSION_STEP = 100_000n;

export function createVersions(floor: bigint, nowMs: () => number = Date.now): Versions {
  let last = floor - (floor % VERSION_STEP);
  return {
    next() {
      const fromClock = BigInt(nowMs()) * VERSION_UNITS_PER_MS;
      last = fromClock > last ? fromClock : last + VERSION_STEP;
      return last;
    },
  };
}
