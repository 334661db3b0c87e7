import type { Clock } from '../../core/clock.ts';
import type { KeyDigest } from '../../core/domain/caller.ts';
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
  /** Counts a request before it is known whether it belongs in this window. */
  countAhead(quota: Quota): CountAhead;
}

export interface CountAhead {
  readonly decision: Promise<RateDecision>;
  /** Takes the request out of the window again: it belongs in another one. Never rejects. */
  undo(): Promise<void>;
}

/**
 * Counts in the store, for all processes together. While the store does not answer, this process counts by itself: callers
 * who need nothing else of the store are still served, and still limited.
 */
export function createRequestCounter(rates: RateStore, clock: Clock): RequestCounter {
  const own = createMemoryRates();
  const countAt = async ({ key, requestsPerMinute }: Quota, nowMs: number) => {
    const request = { key, limit: requestsPerMinute, windowSeconds: RATE_WINDOW_SECONDS, nowMs };
    try {
      return { store: rates, decision: await rates.take(request) };
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      return { store: own, decision: await own.take(request) };
    }
  };
  return {
    count: async (quota) => (await countAt(quota, clock.nowMs())).decision,
    countAhead: (quota) => {
      const takenAtMs = clock.nowMs();
      const counted = countAt(quota, takenAtMs);
      const taken = { key: quota.key, windowSeconds: RATE_WINDOW_SECONDS, takenAtMs };
      const decision = counted.then((one) => one.decision);
      decision.catch(() => undefined); // when the key cannot be read, the decision is not awaited
      return {
        decision,
        undo: () => counted.then(({ store }) => store.giveBack(taken)).catch(() => undefined),
      };
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

/**
 * The window that a key's requests were counted in last. The store can then be asked for the key and for the count at the same
 * time, which on Redis saves a round trip of every call. Only a guess: where the key has moved to another window since (its
 * organization changed the plan, it was revoked), the count is undone and the request is counted in the right one.
 */
export interface KnownQuotas {
  guess(digest: KeyDigest): Quota | undefined;
  /** `quota` is null for a key that is no longer valid. */
  remember(digest: KeyDigest, quota: Quota | null): void;
}

/** A few hundred bytes each. */
const KEYS_MAX = 10_000;

/** Named by digest: a key in the clear is kept nowhere. */
export function createKnownQuotas(keysMax = KEYS_MAX): KnownQuotas {
  const quotas = new Map<KeyDigest, Quota>();
  return {
    guess: (digest) => quotas.get(digest),
    remember(digest, quota) {
      if (quota === null) {
        quotas.delete(digest);
        return;
      }
      if (quotas.size >= keysMax) quotas.clear();
      quotas.set(digest, quota);
    },
  };
}

export function isSameQuota(one: Quota, other: Quota): boolean {
  return one.key === other.key && one.requestsPerMinute === other.requestsPerMinute;
}
