import { join } from 'node:path';
import type { ControlStore } from '../../src/control/control-store.ts';
import { openRedisStore } from '../../src/control/redis/redis-store.ts';
import { openSqliteStore } from '../../src/control/sqlite/sqlite-store.ts';
import { benchLog } from '../support/bench-engine.ts';
import { startGuarded } from '../support/guarded-process.ts';
import type { BenchContext } from '../support/run-bench.ts';

export type StoreName = 'sqlite' | 'redis';
export const STORE_NAMES: readonly StoreName[] = ['sqlite', 'redis'];

const READY = 'Ready to accept connections';
const PORT_FROM = 20_000;
const PORT_COUNT = 10_000;
const START_MAX_MS = 15_000;

/** A control store as it is run: a SQLite file that syncs every commit, or a Redis on loopback that syncs every write. */
export async function openStore(name: StoreName, { workspace }: BenchContext): Promise<ControlStore> {
  const log = benchLog();
  const store =
    name === 'sqlite'
      ? openSqliteStore({ path: join(workspace.dir, 'control.db'), log })
      : openRedisStore({ url: await startRedis(workspace), keyPrefix: 'bench', log });
  workspace.defer(() => store.close());
  await store.ping();
  return store;
}

async function startRedis(workspace: BenchContext['workspace']): Promise<string> {
  const port = PORT_FROM + Math.floor(Math.random() * PORT_COUNT);
  let ready: () => void = () => undefined;
  const isReady = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const server = startGuarded({
    command: 'redis-server',
    args: [
      ...['--bind', '127.0.0.1', '--port', String(port), '--dir', workspace.dir, '--save', ''],
      ...['--appendonly', 'yes', '--appendfsync', 'always'],
    ],
    onLine: (line) => {
      if (line.includes(READY)) ready();
    },
  });
  workspace.defer(() => server.stop());
  const late = AbortSignal.timeout(START_MAX_MS);
  const failed = new Promise<never>((_resolve, reject) => {
    const fail = (): void =>
      reject(new Error(`redis-server did not start: ${server.lastLines().join(' / ')}`));
    late.addEventListener('abort', fail);
    void server.exited.then(fail);
  });
  failed.catch(() => undefined); // after a good start the server ends with the bench
  await Promise.race([isReady, failed]);
  return `redis://127.0.0.1:${port}`;
}
