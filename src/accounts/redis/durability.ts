import type { Log } from '../../../core/log.ts';
import { openConnection, type RedisConnection } from './connection.ts';

/**
 * Logs once, at the start, how this Redis could lose what it acknowledged. The program cannot change that: units and payments are
 * as safe as the server is configured.
 */
export async function warnAboutLoss(redis: RedisConnection, log: Log): Promise<void> {
  const settings = await readDurability(redis);
  if (settings === null) {
    log.warn(
      'Redis does not let its configuration be read: make sure that appendonly is on, appendfsync is always and maxmemory-policy is noeviction, otherwise units and payments can be lost',
    );
    return;
  }
  const { appendonly, appendfsync, evicts } = settings;
  if (appendonly !== 'yes') {
    log.warn(
      { appendonly },
      'Redis keeps no append-only file: units and payments are lost when it stops. Set appendonly yes',
    );
  } else if (appendfsync !== 'always') {
    log.warn(
      { appendfsync },
      'Redis may lose the last seconds of units and payments when it is killed. Set appendfsync always',
    );
  }
  if (evicts !== 'noeviction') {
    log.warn(
      { maxmemoryPolicy: evicts },
      'Redis may forget units and payments when its memory is full. Set maxmemory-policy noeviction',
    );
  }
}

/** Values as Redis writes them. */
interface DurabilitySettings {
  readonly appendonly: string;
  readonly appendfsync: string;
  readonly evicts: string;
}

/** Null when the server forbids it, as most hosted ones do. */
async function readDurability(redis: RedisConnection): Promise<DurabilitySettings | null> {
  const read = async (name: string): Promise<string | null> => {
    const answer: unknown = await redis.run((client) => client.config('GET', name)).catch(() => null);
    return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : null;
  };
  const [appendonly, appendfsync, evicts] = await Promise.all(
    ['appendonly', 'appendfsync', 'maxmemory-policy'].map(read),
  );
  if (appendonly == null || appendfsync == null || evicts == null) return null;
  return { appendonly, appendfsync, evicts };
}

/** How a Redis is set up, for the doctor. */
export interface RedisFacts {
  /** Null when the server forbids to ask, as most hosted ones do. */
  readonly durability: DurabilitySettings | null;
  /** Unix milliseconds by its clock. */
  readonly timeMs: number;
}

const MICROS_PER_MS = 1_000;
const MS_PER_SECOND = 1_000;

/** Connects, asks and closes. `url` may hold a password: never logged. Rejects with `StoreUnavailable`. */
export async function inspectRedis(url: string, log: Log): Promise<RedisFacts> {
  const redis = openConnection({ url, log, onFirstReady: () => Promise.resolve() });
  try {
    const [seconds, micros] = await redis.run((client) => client.time());
    return {
      timeMs: Number(seconds) * MS_PER_SECOND + Math.floor(Number(micros) / MICROS_PER_MS),
      durability: await readDurability(redis),
    };
  } finally {
    await redis.close();
  }
}
