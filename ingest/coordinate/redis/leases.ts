import type { Lease, Leases } from '../lead.ts';

/** The one command that leases and rates are made of: a script that Redis runs as a whole. */
export interface RedisScripts {
  eval(lua: string, keys: number, ...keysAndValues: readonly (string | number)[]): Promise<unknown>;
}

/** How long a dead process keeps its leases, by Redis's clock; its chains are not followed for that long. */
const TTL_MS = 10_000;
const RENEW_EVERY_MS = 2_000;
/** Without a renewal for this long, by its own monotonic clock, the holder stops: four seconds before the lease can expire. */
const HOLD_WITHOUT_RENEWAL_MS = 6_000;

/** Tests shorten them. */
export interface LeaseTimes {
  readonly ttlMs: number;
  readonly renewEveryMs: number;
  readonly holdWithoutRenewalMs: number;
}

const LEASE_TIMES: LeaseTimes = {
  ttlMs: TTL_MS,
  renewEveryMs: RENEW_EVERY_MS,
  holdWithoutRenewalMs: HOLD_WITHOUT_RENEWAL_MS,
};

/** Takes the lease and a higher token than before, or returns nothing if it is held. Keys: lease, token. */
const ACQUIRE = `
if not redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return false end
return redis.call('INCR', KEYS[2])`;
const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;
/** Lua's numbers are exact up to 2^53, far above any token. */
const RAISE = `
local known = tonumber(redis.call('GET', KEYS[1]) or '0')
if known < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end
return 1`;

/** Leases in Redis: a key with a time to live, and a counter of tokens. */
export function redisLeases(deps: {
  readonly redis: RedisScripts;
  readonly keyPrefix: string;
  /** This process and this start of it. */
  readonly owner: string;
  readonly times?: LeaseTimes;
}): Leases {
  const { redis, keyPrefix, owner, times = LEASE_TIMES } = deps;
  const keysOf = (scope: string) => {
    const lease = `${keyPrefix}:{ingest:lease:${scope}}`;
    return { lease, token: `${lease}:token` };
  };
  return {
    async tryAcquire(scope) {
      const keys = keysOf(scope);
      const sentMs = performance.now();
      const token: unknown = await redis
        .eval(ACQUIRE, 2, keys.lease, keys.token, owner, times.ttlMs)
        .catch(() => null);
      if (typeof token !== 'number') return null;
      return holdLease({ redis, keys, owner, times, scope, token: BigInt(token), sentMs });
    },
  };
}

interface Held {
  readonly redis: RedisScripts;
  readonly keys: { readonly lease: string; readonly token: string };
  readonly owner: string;
  readonly times: LeaseTimes;
  readonly scope: string;
  readonly token: bigint;
  readonly sentMs: number;
}

/**
 * Renews the lease until it is released or lost. The deadline counts from when a renewal was sent, not answered, because Redis may
 * have renewed it at any time in between.
 */
function holdLease({ redis, keys, owner, times, scope, token, sentMs }: Held): Lease {
  const lost = new AbortController();
  let renewedMs = sentMs;
  const end = (): void => {
    clearInterval(renewing);
    clearTimeout(deadline);
    lost.abort(new Error(`the lease on ${scope} is lost`));
  };
  const watch = (): NodeJS.Timeout =>
    setTimeout(end, Math.max(0, renewedMs + times.holdWithoutRenewalMs - performance.now()));
  let deadline = watch();
  const renew = async (): Promise<void> => {
    const askedMs = performance.now();
    // A process that was suspended resumes here or at its deadline, whichever timer fires first.
    if (askedMs - renewedMs >= times.holdWithoutRenewalMs) return end();
    const answer: unknown = await redis.eval(RENEW, 1, keys.lease, owner, times.ttlMs).catch(() => null);
    if (lost.signal.aborted || answer === null) return; // without an answer the deadline still applies
    if (answer !== 1) return end();
    renewedMs = Math.max(renewedMs, askedMs);
    clearTimeout(deadline);
    deadline = watch();
  };
  const renewing = setInterval(() => void renew(), times.renewEveryMs);
  return {
    scope,
    token,
    signal: lost.signal,
    async raise(higher) {
      await redis.eval(RAISE, 1, keys.token, String(higher)).catch(() => undefined);
    },
    async release() {
      end();
      await redis.eval(RELEASE, 1, keys.lease, owner).catch(() => undefined);
    },
  };
}
