import type { Clock } from '../../core/clock.ts';

/**
 * The API's clock: every bench run takes place around 12:00 UTC of its day, so that always half a day is open. Each `swing`
 * moves it by an hour, forth and back, so that nothing a route remembered for less than that serves the next request.
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
