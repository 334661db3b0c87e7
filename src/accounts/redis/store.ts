import type { Log } from '../../../core/log.ts';
import { type ControlStore, OtherVersion, type ReplyStore } from '../store.ts';
import { redisAccounts } from './accounts.ts';
import { listOf, oneOf, openConnection, type RedisConnection, textOf } from './connection.ts';
import { warnAboutLoss } from './durability.ts';
import { redisJobs, redisResults } from './jobs.ts';
import { type Names, namesOf, requireLayout } from './layout.ts';
import { redisOwnTables } from './own-tables.ts';
import { redisPayments } from './payments.ts';
import { redisRates } from './rates.ts';
import { redisRefreshes, redisSavedQueries } from './saved-queries.ts';
import { redisShares } from './shares.ts';
import { redisUnits } from './units.ts';
import { redisUsage } from './usage.ts';

/**
 * The control store in Redis 6 or newer, for any number of API processes. All keys are on one node, and every change is one
 * script: it happens as a whole or not at all, and may be repeated.
 *
 * As durable as the server: with `appendonly yes` and `appendfsync always` a change is on disk before its promise resolves, except
 * for a hold (unit-store.ts). A replica that takes over may miss the last ones. Rows of the ledger are kept for good, two for a metered call, about 220 bytes.
 *
 * Redirections of a Redis Cluster are not followed: a node that has not all slots answers as unavailable.
 *
 * Opens at once and connects by itself; a Redis that is away shows as `StoreUnavailable`, accounts in another layout (layout.ts)
 * as `OtherVersion`.
 */
export function openRedisStore(options: {
  /** `redis://` or `rediss://`, may hold a password: never logged. */
  readonly url: string;
  readonly keyPrefix: string;
  readonly log: Log;
}): ControlStore {
  const { keyPrefix, log } = options;
  const redis = openConnection({
    url: options.url,
    log,
    onFirstReady: async (connection) => {
      await logOtherLayout(connection, keyPrefix, log);
      await warnAboutLoss(connection, log);
    },
  });
  return storeOver(redis, keyPrefix);
}

async function logOtherLayout(redis: RedisConnection, keyPrefix: string, log: Log): Promise<void> {
  try {
    await requireLayout(redis.run, keyPrefix);
  } catch (error) {
    if (!(error instanceof OtherVersion)) throw error;
    log.error({ advice: error.advice }, error.message);
  }
}

/** The store over a connection: a seam for tests that cut calls off between two commands. */
export function storeOver(connection: RedisConnection, keyPrefix: string): ControlStore {
  const redis = onKnownLayout(connection, keyPrefix);
  const names = namesOf(keyPrefix);
  return {
    accounts: redisAccounts(redis, names),
    units: redisUnits(redis, names),
    payments: redisPayments(redis, names),
    usage: redisUsage(redis, names),
    rates: redisRates(redis, names),
    replies: redisReplies(redis, names),
    jobs: redisJobs(redis, names),
    results: redisResults(redis, names),
    shares: redisShares(redis, names),
    saved: redisSavedQueries(redis, names),
    refreshes: redisRefreshes(redis, names),
    ownTables: redisOwnTables(redis, names),
    ping: async () => {
      await redis.run((client) => client.ping());
    },
    close: () => redis.close(),
  };
}

/** The connection once the layout is known to be this one. Until then every call looks again, and one look serves all. */
function onKnownLayout(connection: RedisConnection, keyPrefix: string): RedisConnection {
  let isKnown = false;
  let look: Promise<void> | undefined;
  const known = async (): Promise<void> => {
    look ??= requireLayout(connection.run, keyPrefix).finally(() => {
      look = undefined;
    });
    await look;
    isKnown = true;
  };
  return {
    run: async (command) => {
      if (!isKnown) await known();
      return await connection.run(command);
    },
    script: async (name, keys, values) => {
      if (!isKnown) await known();
      return await connection.script(name, keys, values);
    },
    close: () => connection.close(),
  };
}

/**
 * How much longer than asked Redis keeps a reply, by its own clock. Whether it still counts is decided by the caller's time; this
 * only frees memory, and must not come early where the two clocks differ.
 */
const REPLY_KEPT_LONGER_MS = 3_600_000;

function redisReplies(redis: RedisConnection, names: Names): ReplyStore {
  return {
    begin: async ({ scope, key, requestDigest, nowMs, leaseUntilMs, keepUntilMs }) => {
      const keepMs = Math.max(0, keepUntilMs - nowMs) + REPLY_KEPT_LONGER_MS;
      const values = [requestDigest, nowMs, leaseUntilMs, keepUntilMs, keepMs];
      const answer = listOf(await redis.script('beginReply', [names.reply(scope, key)], values));
      const outcome = oneOf(['begun', 'done', 'running', 'conflict'], answer[0]);
      return outcome === 'done' ? { outcome, reply: textOf(answer[1]) } : { outcome };
    },
    finish: async ({ scope, key, reply }) => {
      const values = reply === null ? ['forget', ''] : ['keep', reply];
      await redis.script('finishReply', [names.reply(scope, key)], values);
    },
  };
}
