import type { Log } from '../../../core/log.ts';
import type { ControlStore } from '../store.ts';
import { redisAccounts } from './accounts.ts';
import { openConnection, type RedisConnection } from './connection.ts';
import { warnAboutLoss } from './durability.ts';
import { keyRegistry } from './key-registry.ts';
import { redisPayments } from './payments.ts';
import { redisRates } from './rates.ts';
import { redisReplies } from './replies.ts';
import { slotsOf } from './slots.ts';
import { redisUnits } from './units.ts';

/**
 * The control store in Redis 6 or newer, for any number of API processes. Everything of one organization lies in one slot, so
 * does everything of one payment, and every change is one script in one slot. Changes that need two slots write first what leads
 * to the record and the record last: until then nothing has happened, and the same call may be repeated.
 *
 * As durable as the server: with `appendonly yes` and `appendfsync always` a change is on disk before its promise resolves.
 * A replica that takes over may miss the last ones. Rows of the ledger are kept for good, two for a metered call, about 220 bytes.
 *
 * Speaks to one node. Keys and scripts are laid out for a Redis Cluster, but its redirections are not followed: a node that has not
 * all slots answers as unavailable.
 *
 * Opens at once and connects by itself; a Redis that is away shows as `StoreUnavailable`.
 */
export function openRedisStore(options: {
  /** `redis://` or `rediss://`, may hold a password: never logged. */
  readonly url: string;
  readonly keyPrefix: string;
  readonly log: Log;
}): ControlStore {
  const { log } = options;
  const redis = openConnection({
    url: options.url,
    log,
    onFirstReady: (connection) => warnAboutLoss(connection, log),
  });
  return storeOver(redis, options.keyPrefix);
}

/** The store over a connection: a seam for tests that cut calls off between two commands. */
export function storeOver(redis: RedisConnection, keyPrefix: string): ControlStore {
  const slots = slotsOf(keyPrefix);
  const parts = { redis, slots, registry: keyRegistry(redis, slots) };
  return {
    accounts: redisAccounts(parts),
    units: redisUnits(redis, slots),
    payments: redisPayments(parts),
    rates: redisRates(redis, slots),
    replies: redisReplies(redis, slots),
    ping: async () => {
      await redis.run((client) => client.ping());
    },
    close: () => redis.close(),
  };
}
