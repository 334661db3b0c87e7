import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { Log } from '../../log.ts';
import { StoreUnavailable } from '../control-store.ts';
import { readScripts, type ScriptName } from './script-files.ts';

/** No command is waited for longer. What it changed by then is not known: every script may be repeated. */
const COMMAND_TIMEOUT_MS = 2_000;
const CONNECT_TIMEOUT_MS = 2_000;
/** How long the first commands of a process wait for its first connection. */
const FIRST_CONNECTION_MS = 2_000;
const RECONNECT_FIRST_MS = 25;
/** Short: Redis is back in service within half a second of being up. */
const RECONNECT_MAX_MS = 500;
const REASON_CHARS_MAX = 200;

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
  return new Redis(url, {
    connectionName: 'settlement-index',
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableOfflineQueue: false,
    // `together` does the same for less: a pipeline of the client's costs every question some 20 µs.
    enableAutoPipelining: false,
    autoResendUnfulfilledCommands: false,
    // Zero: what was under way when the connection broke is rejected then, not after the next attempts.
    maxRetriesPerRequest: 0,
    retryStrategy: (times) => Math.min(RECONNECT_FIRST_MS * 2 ** Math.min(times, 10), RECONNECT_MAX_MS),
    // A primary that became a replica refuses to write; its name may lead to the new primary by now.
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    // RESP2 answers the same on every version; RESP3 would give nothing here.
    protocol: 2,
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

/** One line when the connection goes and one when it comes: attempts in between would fill the log. */
function tellChanges(redis: Redis, url: string, log: Log): void {
  let away = false;
  let reason = 'the connection was closed';
  redis.on('error', (error: unknown) => {
    reason = harmless(error, url).message;
    if (redis.status === 'ready' || away) return;
    away = true;
    log.warn({ reason }, 'Redis does not answer');
  });
  redis.on('close', () => {
    if (away || redis.status === 'end') return;
    away = true;
    log.warn({ reason }, 'Redis does not answer');
  });
  redis.on('ready', () => {
    if (away) log.info('Redis answers again');
    away = false;
    reason = 'the connection was closed';
  });
}

/** A connection that stays open and silent, as behind a firewall, would cost every command its whole deadline. */
function dropSilentConnection(redis: Redis, error: unknown): void {
  const silent = error instanceof Error && error.message === 'Command timed out';
  if (silent && redis.status === 'ready') redis.disconnect(true);
}

function isScriptUnknown(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('NOSCRIPT');
}

/**
 * What may be logged of an error of the client: its text. Its fields hold the arguments of the command, for `AUTH` the
 * password, and a URL in a text would hold it too.
 */
function harmless(error: unknown, url: string): Error {
  const text = error instanceof Error ? error.message || errorCode(error) : String(error);
  const secrets = [url, ...passwordsOf(url)].filter((secret) => secret !== '');
  const clean = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
  return new Error(clean.slice(0, REASON_CHARS_MAX));
}

/** A failed attempt on several addresses (`localhost` on IPv4 and IPv6) has a code and no text. */
function errorCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function passwordsOf(url: string): readonly string[] {
  const written = URL.canParse(url) ? new URL(url).password : '';
  return [written, decodedOrAsIs(written)];
}

function decodedOrAsIs(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function closeQuietly(redis: Redis): Promise<void> {
  if (redis.status === 'ready') await redis.quit().catch(() => undefined);
  redis.disconnect();
}
