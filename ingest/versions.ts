/**
 * `ver` of a write attempt: strictly rising, never reused, above everything the tables already hold. The clock in
 * microseconds leaves room for a million attempts a second and survives a restart without being stored; the floor covers a
 * clock that was set back. Source: engine.md 4.4 rule 1.
 */
export interface Versions {
  next(): bigint;
}

export function createVersions(floor: bigint, nowMs: () => number = Date.now): Versions {
  let last = floor;
  return {
    next() {
      const fromClock = BigInt(nowMs()) * 1000n;
      last = fromClock > last ? fromClock : last + 1n;
      return last;
    },
  };
}
