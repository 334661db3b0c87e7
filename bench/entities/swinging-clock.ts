import type { Clock } from '../../core/clock.ts';

/**
 * The API's clock: every bench run takes place around 12:00 UTC of its day, so that always half a day is open. Each `swing`
 * moves it by an hour, forth and back, so that the next request gets no answer that a route cached for less than that.
 */
export interface SwingingClock extends Clock {
  swing(): void;
}

const SWING_MS = 3_600_000;

export function createSwingingClock(noonSeconds: number): SwingingClock {
  const began = performance.now();
  let away = false;
  return {
    nowMs: () => Math.floor(noonSeconds * 1_000 + performance.now() - began + (away ? SWING_MS : 0)),
    swing() {
      away = !away;
    },
  };
}
