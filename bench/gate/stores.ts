import { join } from 'node:path';
import { openRedisStore } from '../../src/accounts/redis/store.ts';
import { openSqliteStore } from '../../src/accounts/sqlite/store.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import { benchLog } from '../support/bench-engine.ts';
import { startRedis } from '../support/redis-process.ts';
import type { BenchContext } from '../support/run-bench.ts';

export type StoreName = 'sqlite' | 'redis';
export const STORE_NAMES: readonly StoreName[] = ['sqlite', 'redis'];

/** A control store as it is run: a SQLite file that syncs every commit, or a Redis on loopback that syncs every write. */
export async function openStore(name: StoreName, { workspace }: BenchContext): Promise<ControlStore> {
  const log = benchLog();
  const store =
    name === 'sqlite'
      ? openSqliteStore({ path: join(workspace.dir, 'control.db'), log })
      : openRedisStore({ url: (await startRedis(workspace)).url, keyPrefix: 'bench', log });
  workspace.defer(() => store.close());
  await store.ping();
  return store;
}
