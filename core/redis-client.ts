import { Redis } from 'ioredis';
import type { Log } from './log.ts';

/** Shared by every Redis connection: how it reconnects, and what may be logged of it. */

const CONNECT_TIMEOUT_MS = 2_000;
const RECONNECT_FIRST_MS = 25;
/** Short: Redis is back in service within half a second of being up. */
const RECONNECT_MAX_MS = 500;
const REASON_CHARS_MAX = 200;

/** How commands behave while disconnected. */
export interface CommandRules {
  /** Absent: commands wait forever, which blocking commands need. */
  readonly commandTimeout?: number;
  readonly enableOfflineQueue: boolean;
  readonly maxRetriesPerRequest: number | null;
  readonly enableAutoPipelining?: boolean;
  readonly autoResendUnfulfilledCommands?: boolean;
}

/** A connection that reconnects by itself. The first attempt begins at once. */
export function createRedis(url: string, rules: CommandRules): Redis {
  return new Redis(url, {
    connectionName: 'settlement-index',
    connectTimeout: CONNECT_TIMEOUT_MS,
    retryStrategy: (times) => Math.min(RECONNECT_FIRST_MS * 2 ** Math.min(times, 10), RECONNECT_MAX_MS),
    // Its name may resolve to the new primary by now.
    reconnectOnError: isOfReplica,
    // RESP2 behaves the same on every version; RESP3 would add nothing here.
    protocol: 2,
    ...rules,
  });
}

/**
 * Whether this is the refusal of a primary that became a replica. Of a script Redis 6 answers `ERR Error running script (call to
 * f_…): @user_script:1: -READONLY …`, later versions the refusal itself.
 */
export function isOfReplica({ message }: Error): boolean {
  return (
    message.startsWith('READONLY') ||
    (message.startsWith('ERR Error running script') && message.includes('-READONLY '))
  );
}

/** Logs one line at disconnect and one at reconnect: the attempts in between would fill the log. */
export function tellChanges(redis: Redis, url: string, log: Log): void {
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

/**
 * The loggable part of a client error: its message, without URLs. The fields hold the arguments of the command (the password for
 * `AUTH`), and a URL in the message could hold it too.
 */
export function harmless(error: unknown, url: string): Error {
  const text = error instanceof Error ? error.message || errorCode(error) : String(error);
  const secrets = [url, ...passwordsOf(url)].filter((secret) => secret !== '');
  const clean = secrets.reduce((rest, secret) => rest.replaceAll(secret, '[secret]'), text);
  return new Error(clean.slice(0, REASON_CHARS_MAX));
}

/** A failed attempt on several addresses (`localhost` on IPv4 and IPv6) has a code but no message. */
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

/** A connection that is open but silent, for example behind a firewall, would cost every command its whole deadline. */
export function dropSilentConnection(redis: Redis, error: unknown): void {
  const silent = error instanceof Error && error.message === 'Command timed out';
  if (silent && redis.status === 'ready') redis.disconnect(true);
}

export async function closeQuietly(redis: Redis): Promise<void> {
  if (redis.status === 'ready') await redis.quit().catch(() => undefined);
  redis.disconnect();
}
