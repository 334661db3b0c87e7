import type { Clock } from '../../core/clock.ts';
import { fail } from '../../core/errors.ts';
import { createMemoryRates } from '../accounts/memory-rates.ts';
import { type RateDecision, type RateStore, StoreUnavailable } from '../accounts/store.ts';

/** Requests a minute: every request is counted once, also one that is refused. */

export const RATE_WINDOW_SECONDS = 60;

/** Whose window a request counts in, and how many fit. */
export interface Quota {
  /** Names the window; holds no key, no token and no name of a person. */
  readonly key: string;
  readonly requestsPerMinute: number;
  /** For the caller who is refused. */
  readonly whose: string;
}

export interface RequestCounter {
  count(quota: Quota): Promise<RateDecision>;
}

/**
 * Counts in the store, for all processes together. While the store does not answer, this process counts by itself: callers
 * who need nothing else of the store are still served, and still limited.
 */
export function createRequestCounter(rates: RateStore, clock: Clock): RequestCounter {
  const own = createMemoryRates();
  return {
    async count({ key, requestsPerMinute }) {
      const request = {
        key,
        limit: requestsPerMinute,
        windowSeconds: RATE_WINDOW_SECONDS,
        nowMs: clock.nowMs(),
      };
      try {
        return await rates.take(request);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        return own.take(request);
      }
    },
  };
}

export function refuseOverLimit({ allowed, limit, resetSeconds }: RateDecision, { whose }: Quota): void {
  if (allowed) return;
  throw fail('rate_limited', {
    detail: `More than ${limit} requests in a minute came from ${whose}.`,
    retryAfterSeconds: resetSeconds,
  });
}
