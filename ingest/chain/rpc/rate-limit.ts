import { setTimeout as delay } from 'node:timers/promises';

export interface RateLimit {
  /** Resolves when `count` calls may be sent. Waiters go in the order they came. */
  take(count: number, signal: AbortSignal | undefined): Promise<void>;
}

/** The limit for the node behind a URL. Sources, and with Redis processes, that read from one node are counted together. */
export type RateLimitOf = (url: string, perSecond: number) => RateLimit;

/**
 * Spaces calls so that no second sees more than `perSecond` of them on average; a batch of n uses up n places. No burst is
 * saved up while idle: providers count in short windows, and a burst is what they punish.
 */
export function createRateLimit(perSecond: number, nowMs: () => number = () => performance.now()): RateLimit {
  let freeAtMs = 0;
  return {
    async take(count, signal) {
      const startMs = Math.max(nowMs(), freeAtMs);
      freeAtMs = startMs + (count * 1_000) / perSecond;
      const waitMs = startMs - nowMs();
      // Timers are coarser than a millisecond; waiting for less would cost more than it spaces.
      if (waitMs >= 1) await delay(waitMs, undefined, signal ? { signal } : {});
    },
  };
}

/** One limit for each URL and rate, made at its first use: sources that read from one node keep to it together. */
export function limitPerUrl(create: RateLimitOf): RateLimitOf {
  const limits = new Map<string, RateLimit>();
  return (url, perSecond) => {
    const key = `${perSecond} ${url}`;
    const limit = limits.get(key) ?? create(url, perSecond);
    limits.set(key, limit);
    return limit;
  };
}
