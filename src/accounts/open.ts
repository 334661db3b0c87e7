import { join } from 'node:path';
import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import { openRedisStore } from './redis/store.ts';
import { sqliteLibrary } from './sqlite/database.ts';
import { openSqliteStore } from './sqlite/store.ts';
import type { ControlStore } from './store.ts';

/**
 * The store that the configuration names: Redis, or a SQLite file in the data directory. Opening never fails for data that is, or is not,
 * there. Throws `MissingPackage` for a SQLite file where its library is not installed.
 */
export function openControlStore({
  config,
  log,
}: {
  readonly config: Pick<Config, 'control' | 'dataDir'>;
  readonly log: Log;
}): ControlStore {
  const { redisUrl, keyPrefix } = config.control;
  if (redisUrl !== null) return openRedisStore({ url: redisUrl, keyPrefix, log });
  sqliteLibrary();
  return openSqliteStore({ path: join(config.dataDir, 'control.db'), log });
}
