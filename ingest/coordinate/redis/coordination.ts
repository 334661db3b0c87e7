import type { Log } from '../../../core/log.ts';
import { closeQuietly, createRedis, dropSilentConnection, tellChanges } from '../../../core/redis-client.ts';
import { type Coordination, ownerName } from '../coordination.ts';
import { lead } from '../lead.ts';
import { type RedisScripts, redisLeases } from './leases.ts';
import { bullmqQueue } from './queue.ts';
import { sharedRates } from './rates.ts';

/** Of commands that fail fast: a lease must be renewed in time, and a planner looks again in a second anyway. */
const COMMAND_TIMEOUT_MS = 2_000;
/** Of commands that wait for Redis: above the ten seconds for which BullMQ lets a command block. */
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
