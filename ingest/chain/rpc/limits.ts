import { setTimeout as delay } from 'node:timers/promises';

/** Every limit of the RPC source. Only tests should change the times. */
export interface RpcLimits {
  /** One HTTP exchange or one websocket answer, body included. */
  readonly requestTimeoutMs: number;
  /** First pause after a failure; doubles per failure in a row, with jitter. */
  readonly backOffFirstMs: number;
  readonly backOffMaxMs: number;
  /** Upper bound for a provider's Retry-After. */
  readonly retryAfterMaxMs: number;
  /** Concurrent HTTP exchanges per URL. */
  readonly maxInFlight: number;
  /** JSON-RPC calls in one HTTP exchange; many providers refuse more than 100. */
  readonly maxBatchCalls: number;
  /** Aim for the transactions in one batch of full blocks: Base has about 200 per block, 1 kB each. */
  readonly targetBatchTransactions: number;
  readonly maxResponseBytes: number;
  /** Attempts of one call before the whole read restarts: a reorg may have undone its block. */
  readonly maxCallAttempts: number;
  /** Contradictory answers about one block after which the whole read restarts. */
  readonly maxSegmentAttempts: number;
  /** Time-outs, or refusals with an unknown message, of one eth_getLogs after which its range is halved. */
  readonly maxRangeFailures: number;
  /** Concurrent eth_getLogs calls of one read. */
  readonly parallelLogCalls: number;
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
};

export interface RateLimit {
  /** Resolves when `count` calls may be sent. First come, first served. */
  take(count: number, signal: AbortSignal | undefined): Promise<void>;
}

/** The limit for the node behind a URL. Sources, and with Redis processes, that read from one node are counted together. */
export type RateLimitOf = (url: string, perSecond: number) => RateLimit;

/**
 * Spaces calls evenly at `perSecond` on average; a batch of n takes n slots. Idle time does not accumulate into a burst: providers
 * count in short windows and penalise bursts.
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
