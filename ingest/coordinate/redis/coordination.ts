import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../../../core/log.ts';
import { closeQuietly, createRedis, dropSilentConnection, tellChanges } from '../../../core/redis-client.ts';
import { limitPerUrl, type RateLimit, type RateLimitOf } from '../../chain/rpc/limits.ts';
import { type Coordination, ownerName } from '../coordination.ts';
import { lead } from '../lead.ts';
import { type RedisScripts, redisLeases } from './leases.ts';
import { bullmqQueue } from './queue.ts';

/** Timeout of commands that must fail fast: a lease must be renewed in time, and a planner polls again in a second anyway. */
const COMMAND_TIMEOUT_MS = 2_000;
/** Timeout of commands that wait for Redis: above the ten seconds for which BullMQ lets a command block. */
const WAITING_TIMEOUT_MS = 20_000;

/** Coordination of any number of processes over the Redis at `url`. Opens at once and connects by itself. */
export function redisCoordination(url: string, keyPrefix: string, log: Log): Coordination {
  const redis = createRedis(url, {
    commandTimeout: COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
  });
  const waitingRedis = createRedis(url, {
    commandTimeout: WAITING_TIMEOUT_MS,
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
  });
  tellChanges(redis, url, log);
  waitingRedis.on('error', () => undefined); // the other connection logs it
  const owner = ownerName();
  const queues = new Map<string, ReturnType<typeof bullmqQueue>>();
  const scripts: RedisScripts = {
    async eval(lua, keys, ...keysAndValues) {
      try {
        return await redis.eval(lua, keys, ...keysAndValues);
      } catch (error) {
        dropSilentConnection(redis, error);
        throw error;
      }
    },
  };
  const leases = redisLeases({ redis: scripts, keyPrefix, owner });
  return {
    isShared: true,
    lead: (scope, deps, work) => lead({ ...deps, leases, owner }, scope, work),
    rateLimitOf: sharedRates({ redis: scripts, keyPrefix, owner }),
    queueOf(name) {
      const known = queues.get(name);
      if (known !== undefined) return known;
      const queue = bullmqQueue({ redis, waitingRedis, keyPrefix, name, log });
      queues.set(name, queue);
      return queue;
    },
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      await Promise.all([closeQuietly(redis), closeQuietly(waitingRedis)]);
    },
  };
}

/** Slots are leased for this long at once: ten round trips a second, and at most this much is left unused. */
const LEASE_MS = 100;
/** Pause after a failure of Redis. */
const ASK_AGAIN_MS = 1_000;
/** Without Redis requests cannot be counted across processes: each takes its share, given the last known number of processes or this one. */
const PROCESSES_ASSUMED = 4;
/** A process that took no slot for this long does not count. */
const PROCESS_SEEN_MS = 15_000;
/** An unused key expires after this time. */
const KEPT_MS = 60_000;
const HASH_CHARS = 32;

/**
 * Reserves the next slots with the same spacing as in one process (chain/rpc/limits.ts), by Redis's clock. Returns the time until the
 * first of them, in microseconds, and the number of processes. Keys: free, processes. Values: length of the slots in microseconds,
 * process, two times in milliseconds.
 */
const RESERVE = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local free = tonumber(redis.call('GET', KEYS[1]) or '0')
if free < now then free = now end
local length = tonumber(ARGV[1])
local kept = tonumber(ARGV[4]) + math.ceil((free - now + length) / 1000)
redis.call('SET', KEYS[1], string.format('%.0f', free + length), 'PX', string.format('%.0f', kept))
redis.call('ZADD', KEYS[2], string.format('%.0f', now), ARGV[2])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now - ARGV[3] * 1000))
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return { string.format('%.0f', free - now), redis.call('ZCARD', KEYS[2]) }`;

/**
 * The rate limit of a provider across all processes. The provider is identified by a hash of its URL, which may hold a key.
 *
 * Slots are leased from Redis in small batches. While Redis is unreachable each process keeps to its own share of the limit: rather
 * too slow than too fast.
 */
export function sharedRates(deps: {
  readonly redis: RedisScripts;
  readonly keyPrefix: string;
  readonly owner: string;
}): RateLimitOf {
  return limitPerUrl((url, perSecond) => {
    const provider = createHash('sha256').update(url).digest('hex').slice(0, HASH_CHARS);
    return sharedRate({ ...deps, key: `${deps.keyPrefix}:{ingest:rate:${provider}}` }, perSecond);
  });
}

function sharedRate(
  deps: { readonly redis: RedisScripts; readonly owner: string; readonly key: string },
  perSecond: number,
): RateLimit {
  const placeMs = 1_000 / perSecond;
  const leased = { nextMs: 0, endMs: 0 };
  let processes = PROCESSES_ASSUMED;
  let askAtMs = 0;
  let turn: Promise<unknown> = Promise.resolve();

  const reserve = async (lengthMs: number): Promise<void> => {
    const answer = await ask(deps, lengthMs);
    const nowMs = performance.now();
    if (answer !== null) processes = Math.max(1, answer.processes);
    else askAtMs = nowMs + ASK_AGAIN_MS;
    const startMs = answer === null ? Math.max(nowMs, leased.endMs) : nowMs + answer.waitMs;
    leased.nextMs = startMs;
    leased.endMs = startMs + lengthMs;
  };
  /** When `count` calls may be sent, by the monotonic clock. */
  const place = async (count: number): Promise<number> => {
    const wantedMs = count * placeMs;
    if (performance.now() < askAtMs) {
      // Redis is unreachable: use only our share.
      const startMs = Math.max(performance.now(), leased.endMs, leased.nextMs);
      leased.nextMs = leased.endMs = startMs + wantedMs * processes;
      return startMs;
    }
    // A slot whose time has passed is lost: idle time does not accumulate.
    const nextMs = Math.max(leased.nextMs, performance.now());
    if (nextMs + wantedMs > leased.endMs) {
      await reserve(Math.max(wantedMs, LEASE_MS));
      if (performance.now() < askAtMs) return place(count);
    } else leased.nextMs = nextMs;
    const startMs = leased.nextMs;
    leased.nextMs += wantedMs;
    return startMs;
  };
  return {
    async take(count, signal) {
      // Sequentially: two concurrent requests would both find the same slots free.
      const mine = turn.then(() => place(count));
      turn = mine.catch(() => undefined);
      const waitMs = (await mine) - performance.now();
      if (waitMs >= 1) await delay(waitMs, undefined, signal ? { signal } : {});
    },
  };
}

async function ask(
  { redis, owner, key }: { readonly redis: RedisScripts; readonly owner: string; readonly key: string },
  lengthMs: number,
): Promise<{ readonly waitMs: number; readonly processes: number } | null> {
  const micros = Math.ceil(lengthMs * 1_000);
  const answer: unknown = await redis
    .eval(RESERVE, 2, `${key}:free`, `${key}:processes`, micros, owner, PROCESS_SEEN_MS, KEPT_MS)
    .catch(() => null);
  if (!Array.isArray(answer)) return null;
  return { waitMs: Number(answer[0]) / 1_000, processes: Number(answer[1]) };
}
