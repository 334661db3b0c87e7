import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Log } from '../../../core/log.ts';
import {
  closeQuietly,
  createRedis,
  dropSilentConnection,
  harmless,
  tellChanges,
} from '../../../core/redis-client.ts';
import { StoreUnavailable } from '../store.ts';
import { readScripts, type ScriptName } from './script-files.ts';

/** No command is waited for longer. What it changed by then is not known: every script may be repeated. */
const COMMAND_TIMEOUT_MS = 2_000;
/** How long the first commands of a process wait for its first connection. */
const FIRST_CONNECTION_MS = 2_000;

export interface RedisConnection {
  /** Runs a command; rejects with `StoreUnavailable` when Redis does not do it in time. */
  run<T>(command: (redis: Redis) => Promise<T>): Promise<T>;
  /** Runs a script on keys of one slot. */
  script(name: ScriptName, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * One connection to Redis that comes back by itself. While it is away commands fail at once instead of queueing: a caller is
 * told 503 within milliseconds and nothing is done minutes later for callers who are gone.
 */
export function openConnection(options: {
  readonly url: string;
  readonly log: Log;
  /** Runs once, after the first connection. */
  onFirstReady(connection: RedisConnection): Promise<void>;
}): RedisConnection {
  const { log } = options;
  const scripts = readScripts();
  const redis = connect(options.url);
  const first = firstConnection(redis);
  let waiting = true;
  void first.then(() => {
    waiting = false;
  });
  tellChanges(redis, options.url, log);
  const together = togetherOn(redis);

  const run = async <T>(command: (redis: Redis) => Promise<T>): Promise<T> => {
    if (waiting) await first;
    together();
    try {
      return await command(redis);
    } catch (error) {
      dropSilentConnection(redis, error);
      throw new StoreUnavailable(harmless(error, options.url));
    }
  };

  const connection: RedisConnection = {
    run,
    script: (name, keys, values) =>
      run(async (client) => {
        const { sha1, lua } = scripts[name];
        try {
          return await client.evalsha(sha1, keys.length, ...keys, ...values);
        } catch (error) {
          // Redis forgets scripts when it restarts. Nothing has run, so sending the text does it once.
          if (!isScriptUnknown(error)) throw error;
          return await client.eval(lua, keys.length, ...keys, ...values);
        }
      }),
    close: () => closeQuietly(redis),
  };
  redis.once('ready', () => {
    options.onFirstReady(connection).catch((error: unknown) => {
      log.warn({ reason: harmless(error, options.url).message }, 'Redis was not asked how it keeps data');
    });
  });
  return connection;
}

function connect(url: string): Redis {
  return createRedis(url, {
    commandTimeout: COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
    // `together` does the same for less: a pipeline of the client's costs every question some 20 µs.
    enableAutoPipelining: false,
    autoResendUnfulfilledCommands: false,
    // Zero: what was under way when the connection broke is rejected then, not after the next attempts.
    maxRetriesPerRequest: 0,
  });
}

/**
 * To be called before a command: what is asked in one turn of the event loop leaves in one write, because a system call for each
 * would cost more than the questions do.
 */
function togetherOn(redis: Redis): () => void {
  let held: Redis['stream'] | undefined;
  return () => {
    const { stream } = redis;
    if (redis.status !== 'ready' || stream === held) return;
    held = stream;
    stream.cork();
    setImmediate(() => {
      held = undefined;
      stream.uncork();
    });
  };
}

/** Resolves with the first connection, when the first attempt fails, or after a while; commands then answer for themselves. */
async function firstConnection(redis: Redis): Promise<void> {
  const settled = new AbortController();
  const done = new Promise<void>((resolve) => {
    for (const event of ['ready', 'close', 'end'] as const) redis.once(event, () => resolve());
  });
  const late = sleep(FIRST_CONNECTION_MS, undefined, { signal: settled.signal }).catch(() => undefined);
  await Promise.race([done, late]);
  settled.abort();
}

function isScriptUnknown(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}
