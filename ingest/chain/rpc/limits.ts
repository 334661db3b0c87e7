import { setTimeout as delay } from 'node:timers/promises';

/** Every bound of the RPC source. Tests shorten the times; nothing else should need to. */
export interface RpcLimits {
  /** One HTTP exchange or one websocket answer, body included. */
  readonly requestTimeoutMs: number;
  /** First pause after a failure; doubles per failure in a row, with jitter. */
  readonly backOffFirstMs: number;
  readonly backOffMaxMs: number;
  /** A provider may not silence us for longer, whatever its Retry-After says. */
  readonly retryAfterMaxMs: number;
  /** HTTP exchanges under way at once per URL. */
  readonly maxInFlight: number;
  /** JSON-RPC calls in one HTTP exchange; many providers refuse more than 100. */
  readonly maxBatchCalls: number;
  /** Aim for the transactions in one batch of full blocks: Base has about 200 per block, 1 kB each. */
  readonly targetBatchTransactions: number;
  readonly maxResponseBytes: number;
  /** Tries of one call before the whole read starts afresh: its block may have been undone meanwhile. */
  readonly maxCallAttempts: number;
  /** Contradictory answers about one block after which the whole read starts afresh. */
  readonly maxSegmentAttempts: number;
  /** Time-outs, or refusals in unknown words, of one eth_getLogs after which its range is halved instead. */
  readonly maxRangeFailures: number;
  /** eth_getLogs calls of one read under way at once. */
  readonly parallelLogCalls: number;
  /** Blocks with logs whose completeness is proved per read, where the header's filter does not already prove it. */
  readonly maxSampledProofs: number;
}

export const RPC_LIMITS: RpcLimits = {
  requestTimeoutMs: 20_000,
  backOffFirstMs: 100,
  backOffMaxMs: 15_000,
  retryAfterMaxMs: 120_000,
  maxInFlight: 8,
  maxBatchCalls: 100,
  targetBatchTransactions: 2_000,
  maxResponseBytes: 256 * 1024 * 1024,
  maxCallAttempts: 6,
  maxSegmentAttempts: 20,
  maxRangeFailures: 2,
  parallelLogCalls: 4,
  maxSampledProofs: 16,
};

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
