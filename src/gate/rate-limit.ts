import type { Clock } from '../clock.ts';
import { type RateDecision, type RateStore, StoreUnavailable } from '../control/control-store.ts';
import { createMemoryRates } from '../control/memory-rates.ts';
import { fail } from '../errors.ts';

/** Requests a minute: every request is counted once, whatever becomes of it. */

export const RATE_WINDOW_SECONDS = 60;

/** Whose window a request counts in, and how many fit. */
export interface Quota {
  /** Names the window; holds no key, no token and no name of a person. */
  readonly key: string;
  readonly requestsPerMinute: number;
  /** For the caller who is refused. */
  readonly whose: string;
}

export type CountRequest = (quota: Quota) => Promise<RateDecision>;

/**
 * Counts in the store, for all processes together. While the store does not answer this process counts for itself: callers
 * who need nothing else of the store are served on, and still limited.
 */
export function createRequestCounter(rates: RateStore, clock: Clock): CountRequest {
  const own = createMemoryRates();
  return async ({ key, requestsPerMinute }) => {
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
  };
}

export function refuseOverLimit({ allowed, limit, resetSeconds }: RateDecision, { whose }: Quota): void {
  if (allowed) return;
  throw fail('rate_limited', {
    detail: `More than ${limit} requests in a minute came from ${whose}.`,
    retryAfterSeconds: resetSeconds,
  });
}

/** Whom an address stands for: an IPv6 customer holds a /64, so its low half says nothing. */
export function addressKey(ip: string): string {
  if (!ip.includes(':')) return ip;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = ip.toLowerCase().split('%')[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
