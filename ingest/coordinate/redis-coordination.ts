import type { Log } from '../../core/log.ts';
import { closeQuietly, createRedis, dropSilentConnection, tellChanges } from '../../core/redis-client.ts';
import { bullmqQueue } from './bullmq-queue.ts';
import type { Coordination } from './coordination.ts';
import { ownerName } from './owner-name.ts';
import { redisLeases } from './redis-leases.ts';
import type { RedisScripts } from './redis-scripts.ts';
import { sharedRates } from './shared-rate.ts';

/** What cannot wait: a lease must be renewed in time, and a planner looks again in a second anyway. */
const COMMAND_TIMEOUT_MS = 2_000;
/** Of the connections that wait: above the ten seconds for which BullMQ lets a command block. */
const PATIENT_TIMEOUT_MS = 20_000;

/** Coordination that ends its connections. */
export type ClosableCoordination = Coordination & { close(): Promise<void> };

/** Over the Redis at `url`. Opens at once and connects by itself. */
export function redisCoordination(url: string, keyPrefix: string, log: Log): ClosableCoordination {
  const redis = createRedis(url, {
    commandTimeout: COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
  });
  const patientRedis = createRedis(url, {
    commandTimeout: PATIENT_TIMEOUT_MS,
    enableOfflineQueue: true,
    maxRetriesPerRequest: null,
  });
  tellChanges(redis, url, log);
  patientRedis.on('error', () => undefined); // the other connection tells
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
  return {
    owner,
    leases: redisLeases({ redis: scripts, keyPrefix, owner }),
    rateLimitOf: sharedRates({ redis: scripts, keyPrefix, owner }),
    queueOf(name) {
      const known = queues.get(name);
      if (known !== undefined) return known;
      const queue = bullmqQueue({ redis, patientRedis, keyPrefix, name, log });
      queues.set(name, queue);
      return queue;
    },
    async close() {
      await Promise.all([...queues.values()].map((queue) => queue.close()));
      await Promise.all([closeQuietly(redis), closeQuietly(patientRedis)]);
    },
  };
}
