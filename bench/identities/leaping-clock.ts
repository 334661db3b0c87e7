import type { Clock } from '../../core/clock.ts';

/** The API's clock: each `leap` moves it ahead, so that the next request gets no cached answer. Never moves back. */
export interface LeapingClock extends Clock {
  leap(): void;
}

/** Longer than any route caches, and so little that a whole bench takes it a few weeks ahead. */
const LEAP_MS = 300_000;

export function createLeapingClock(startSeconds: number): LeapingClock {
  const began = performance.now();
  let leaptMs = 0;
  return {
    nowMs: () => Math.floor(startSeconds * 1_000 + performance.now() - began + leaptMs),
    leap() {
      leaptMs += LEAP_MS;
    },
  };
}
