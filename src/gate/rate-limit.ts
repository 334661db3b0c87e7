import type { Clock } from '../clock.ts';

/** What a caller has left of the current minute. */
export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window starts anew, at least 1. */
  readonly resetSeconds: number;
}

export interface RateLimiter {
  /** Takes one request from `key`'s window. */
  take(key: string): RateDecision;
}

export const RATE_WINDOW_SECONDS = 60;
/** About 10 MB. The address unseen for longest is forgotten first, so a flood of addresses cannot grow the table. */
const KEYS_MAX = 50_000;

/** A fixed window per key, in this process. */
export function createRateLimiter(options: {
  readonly clock: Clock;
  readonly requestsPerMinute: number;
  readonly keysMax?: number;
}): RateLimiter {
  const { clock, requestsPerMinute, keysMax = KEYS_MAX } = options;
  const windows = new Map<string, { readonly endsMs: number; taken: number }>();
  return {
    take: (key) => {
      const nowMs = clock.nowMs();
      const known = windows.get(key);
      const window =
        known && known.endsMs > nowMs ? known : { endsMs: nowMs + RATE_WINDOW_SECONDS * 1_000, taken: 0 };
      window.taken += 1;
      // A Map keeps insertion order: taking the key out and in again makes the first key the one unseen for longest.
      windows.delete(key);
      windows.set(key, window);
      if (windows.size > keysMax) forgetOldest(windows);
      return {
        allowed: window.taken <= requestsPerMinute,
        limit: requestsPerMinute,
        remaining: Math.max(0, requestsPerMinute - window.taken),
        resetSeconds: Math.max(1, Math.ceil((window.endsMs - nowMs) / 1_000)),
      };
    },
  };
}

function forgetOldest(windows: Map<string, unknown>): void {
  const oldest = windows.keys().next();
  if (!oldest.done) windows.delete(oldest.value);
}

/** Whom an address stands for: an IPv6 customer holds a /64, so its low half says nothing. */
export function addressKey(ip: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1];
  if (mapped !== undefined) return mapped;
  if (!ip.includes(':')) return ip;
  const [head = '', tail] = ip.toLowerCase().split('%')[0]?.split('::') ?? [];
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  const groups = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
