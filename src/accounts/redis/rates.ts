import { createTable } from '../memory-rates.ts';
import type { RateDecision, RateStore } from '../store.ts';
import { listOf, numberOf, type RedisConnection } from './connection.ts';
import type { Names } from './layout.ts';

/**
 * How much longer than its window Redis keeps a counter, by its own clock. The window itself is measured by the caller's; this
 * only frees memory, so it is generous.
 */
const RATE_KEPT_LONGER_MS = 60_000;

/**
 * The most requests of a window that a process counts by itself before it asks Redis again: a limit may be exceeded by that number for each
 * further process.
 */
export const LEASED_MAX = 10;
/** The share of the remaining requests of a window: the last requests of a window are counted exactly. */
const LEASED_PER_REMAINING = 10;
/** How long an answer of Redis counts in the process that got it. */
const LEASE_MS = 1_000;
/** Windows that are leased at a time; that of a caller unseen for long is forgotten first. */
const LEASES_MAX = 20_000;

/** What this process knows of a window. Redis lacks the counts of this process alone, never the reverse: no caller is refused early. */
interface Lease {
  /** When the window opened, as Redis wrote it. */
  readonly opened: string;
  /** When Redis was asked, and what it had counted. */
  readonly askedAtMs: number;
  readonly counted: number;
  /** Requests that may still be counted here. */
  left: number;
  /** Requests that were counted here and that Redis does not know. */
  unreported: number;
}

/**
 * Rates in Redis, for all processes together. Most requests of a window that is far from its limit are counted by the process that has
 * them and reported with its next question, so that they wait for no round trip of their own.
 */
export function redisRates(redis: RedisConnection, names: Names): RateStore {
  const leases = createTable<string, Lease>(LEASES_MAX);

  const ask = async ({ key, limit, windowSeconds, nowMs }: Parameters<RateStore['take']>[0]) => {
    const known = leases.get(key);
    const [opened, unreported] = [known?.opened ?? '', known?.unreported ?? 0];
    // Whether a question that fails was counted is not known. Asked twice, it could refuse a caller below the limit.
    if (known !== undefined) known.unreported = 0;
    const windowMs = windowSeconds * 1_000;
    const values = [nowMs, windowMs, windowMs + RATE_KEPT_LONGER_MS, opened, unreported];
    const answer = listOf(await redis.script('takeRate', [names.rate(key)], values));
    const lease = {
      opened: String(answer[1]),
      askedAtMs: nowMs,
      counted: numberOf(answer[0]),
      left: 0,
      unreported: 0,
    };
    // Counted here since the question: Redis hears of it with the next one.
    const later = leases.get(key);
    if (later?.opened === lease.opened) lease.unreported = later.unreported;
    lease.left = leaseOf(limit - lease.counted) - lease.unreported;
    leases.set(key, lease);
    return decide(lease.counted, { limit, windowMs, nowMs, opened: lease.opened });
  };

  return {
    take: async (request) => {
      const { key, limit, windowSeconds, nowMs } = request;
      const lease = leases.get(key);
      const windowMs = windowSeconds * 1_000;
      if (lease === undefined || !isValid(lease, limit, windowMs, nowMs)) return await ask(request);
      lease.left -= 1;
      lease.unreported += 1;
      return decide(lease.counted + lease.unreported, { limit, windowMs, nowMs, opened: lease.opened });
    },
  };
}

function leaseOf(remaining: number): number {
  return Math.max(0, Math.min(LEASED_MAX, Math.floor(remaining / LEASED_PER_REMAINING)));
}

/** A clock that jumped, also back, ends a lease: the next request asks. */
function isValid(
  { opened, askedAtMs, counted, left, unreported }: Lease,
  limit: number,
  windowMs: number,
  nowMs: number,
): boolean {
  return (
    left > 0 &&
    counted + unreported < limit &&
    nowMs >= askedAtMs &&
    nowMs < askedAtMs + LEASE_MS &&
    isWithin(opened, windowMs, nowMs)
  );
}

function isWithin(opened: string, windowMs: number, atMs: number): boolean {
  return atMs >= Number(opened) && atMs < Number(opened) + windowMs;
}

function decide(
  taken: number,
  window: {
    readonly limit: number;
    readonly windowMs: number;
    readonly nowMs: number;
    readonly opened: string;
  },
): RateDecision {
  const { limit, windowMs, nowMs, opened } = window;
  const leftMs = Number(opened) + windowMs - nowMs;
  return {
    allowed: taken <= limit,
    limit,
    remaining: Math.max(0, limit - taken),
    resetSeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
  };
}
