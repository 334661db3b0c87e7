import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql, text } from '../../clickhouse/engine/sql.ts';
import { closeQuietly, createRedis } from '../../core/redis-client.ts';
import { type BenchEngine, startBenchEngine } from '../support/bench-engine.ts';
import { type GuardedProcess, startGuarded } from '../support/guarded-process.ts';
import { startRedis } from '../support/redis-process.ts';
import type { Workspace } from '../support/workspace.ts';

/** Several processes with ROLE=ingest, ready to begin at the same moment. */
export interface Workers {
  /** Lets them begin; milliseconds from the moment at which one of them leads the chain to the last row. */
  backfill(settlements: number): Promise<number>;
  stop(): Promise<void>;
}

/** A node on this machine needs no protection; everything else is the default of the product. */
const REQUESTS_PER_SECOND = 100_000;
const KEY_PREFIX = 'bench';
const CHAIN = 'base-sepolia';
/** The chain's planning lease, under the product's name: while the bench holds it, no worker plans jobs. */
const SCOPE = 'eip155:84532';
const LEASE_KEY = `${KEY_PREFIX}:{ingest:lease:${SCOPE}}`;
const READY_MAX_MS = 120_000;
const BACKFILL_MAX_MS = 600_000;
const POLL_MS = 20;
/** As in production, where a worker is a child of its own (src/service.ts). */
const NODE_FLAGS = ['--max-semi-space-size=64', '--import', 'tsx'];

/** A fresh engine, a fresh Redis and `count` processes that wait for jobs. */
export async function startWorkers(
  workspace: Workspace,
  options: { readonly name: string; readonly count: number; readonly rpcUrl: string },
): Promise<Workers> {
  const { name, count } = options;
  const engine = await startBenchEngine(workspace, `${name}-engine`);
  const server = await startRedis(workspace);
  const redis = createRedis(server.url, { enableOfflineQueue: true, maxRetriesPerRequest: null });
  await redis.set(LEASE_KEY, 'the bench');
  const file = join(workspace.dir, `${name}.config.json`);
  writeFileSync(file, JSON.stringify(configOf(workspace, engine, server.url, options)));
  const workers = Array.from({ length: count }, () => startWorker(file));
  for (const worker of workers) workspace.defer(() => worker.stop());
  const died = Promise.race(workers.map((worker) => worker.exited)).then((code): never => {
    throw new Error(
      `a worker ended with code ${code}: ${workers.flatMap((one) => one.lastLines()).join(' / ')}`,
    );
  });
  died.catch(() => undefined); // its awaiter gets the rejection
  const waiting = async () => String(await redis.client('LIST')).match(/ cmd=bzpopmin /g)?.length ?? 0;
  await Promise.race([
    died,
    until('all workers wait for jobs', READY_MAX_MS, async () => (await waiting()) >= count),
  ]);
  return {
    async backfill(settlements) {
      await redis.del(LEASE_KEY);
      // Not from the first row on: much has been fetched and decoded by then, the more the more workers there are.
      await Promise.race([died, until('one leads', READY_MAX_MS, () => isLed(engine))]);
      const beganMs = performance.now();
      const all = async () => (await countRows(engine)) === settlements;
      await Promise.race([died, until('every row is there', BACKFILL_MAX_MS, all)]);
      return performance.now() - beganMs;
    },
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop()));
      await closeQuietly(redis);
      await server.stop();
      await engine.stop();
    },
  };
}

function configOf(
  workspace: Workspace,
  { access }: BenchEngine,
  redisUrl: string,
  { name, rpcUrl }: { readonly name: string; readonly rpcUrl: string },
): object {
  const { url, database, writer, reader, guest } = access;
  return {
    role: 'ingest',
    dataDir: join(workspace.dir, name),
    logLevel: 'error',
    clickhouse: { url, database, writer, reader, guest },
    control: { redisUrl, keyPrefix: KEY_PREFIX },
    chains: [{ chain: CHAIN, rpcUrls: [rpcUrl], startBlock: 0, requestsPerSecond: REQUESTS_PER_SECOND }],
  };
}

function startWorker(file: string): GuardedProcess {
  return startGuarded({
    command: process.execPath,
    args: [...NODE_FLAGS, 'src/main.ts', 'start', '--config', file],
  });
}

async function isLed({ reader }: BenchEngine): Promise<boolean> {
  const { rows } = await reader.rows({
    name: 'bench-led',
    sql: sql`SELECT count() FROM fences WHERE scope = ${text(SCOPE)}`,
    maxSeconds: 10,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]) > 0;
}

async function countRows({ reader }: BenchEngine): Promise<number> {
  const { rows } = await reader.rows({
    name: 'bench-rows',
    sql: sql`SELECT uniqExact(block_number, log_index) FROM settlements`,
    maxSeconds: 10,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}

async function until(what: string, withinMs: number, isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`gave up waiting until ${what}`);
    await sleep(POLL_MS);
  }
}
