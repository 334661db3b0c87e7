import type { Log } from '../../../core/log.ts';
import { openConnection } from './connection.ts';
import { type DurabilitySettings, readDurability } from './durability.ts';

/** How a Redis is set up, for whoever checks a deployment. */
export interface RedisFacts {
  /** Null when the server forbids to ask, as most hosted ones do. */
  readonly durability: DurabilitySettings | null;
  /** Unix milliseconds by its clock. */
  readonly timeMs: number;
}

const MICROS_PER_MS = 1_000;
const MS_PER_SECOND = 1_000;

/** Asks and leaves. `url` may hold a password: never logged. Rejects with `StoreUnavailable`. */
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
