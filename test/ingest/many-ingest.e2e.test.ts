import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { startEmbeddedEngine } from '../../clickhouse/embedded/supervisor.ts';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { createWriter } from '../../clickhouse/engine/http-engine.ts';
import { sql } from '../../clickhouse/engine/sql.ts';
import { ENVIRONMENT } from '../../core/config/environment.ts';
import { closeQuietly, createRedis } from '../../core/redis-client.ts';
import { expectTruth, telemetry } from '../kit/catch-up.ts';
import { compiledSources } from '../kit/compile-sources.ts';
import { IS_NIGHTLY } from '../kit/lengths.ts';
import { redisIsThere, startRedisServer } from '../kit/redis-server.ts';
import { watchedFile, watchedLog, watchSecret } from '../kit/secrets-watch.ts';
import { startTestService } from '../kit/service.ts';
import { startTruthWorld } from '../kit/truth-world.ts';

/** In the long run only. Several ingest processes over one engine, one Redis and one chain: together they write the rows that one would write. */

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function sharedEngine(dataDir: string) {
  const engine = await startEmbeddedEngine({
    dataDir: join(dataDir, 'engine'),
    database: 'settlement_index',
    maxMemoryMegabytes: 1_024,
    nice: 0,
    log: watchedLog('engine', 'error'),
  });
  cleanups.push(engine.stop);
  const { url, database, writer, reader, guest } = engine.access;
  for (const { password } of [writer, reader, guest]) watchSecret(password);
  const asking = createWriter(engine.access);
  cleanups.push(() => asking.close());
  return { asking, config: { url, database, writer, reader, guest } };
}

describe.skipIf(!IS_NIGHTLY || !redisIsThere())('three ingest processes', () => {
  test('share a chain, and through a kill -9 of its leader, an emptied Redis, reorgs and a stop lose and double nothing', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-many-'));
    cleanups.push(async () => rmSync(dataDir, { recursive: true, force: true }));
    const [world, redis, { asking, config: clickhouse }] = await Promise.all([
      startTruthWorld(7),
      startRedisServer(),
      sharedEngine(dataDir),
    ]);
    cleanups.push(
      () => world.stop(),
      () => redis.stop(),
    );
    await world.grow(90);
    const config = {
      dataDir,
      logLevel: 'warn',
      clickhouse,
      control: { redisUrl: redis.url },
      chains: [{ ...world.serviceChain(world.chain.url), finalityDepth: 12 }],
      catalogue: world.serviceCatalogue(),
    };
    const processes = ['one', 'two', 'three'].map((name) => startIngestProcess(name, config));
    cleanups.push(() => Promise.all(processes.map((each) => each.kill())));
    const api = await startTestService({ ...config, role: 'api', access: { anonymous: 'open' } });
    cleanups.push(() => api.stop());
    await expectTruth(world, api.url);

    const first = await leaderOf(asking, processes);
    await first.kill();
    // Also the leases and the open jobs: no process waits for a lease to end.
    await emptied(redis.url);
    await world.reorganise(4);
    await expectTruth(world, api.url);

    const second = await leaderOf(asking, processes);
    expect(second).not.toBe(first);
    const stopping = second.stop();
    await world.reorganise(6);
    await stopping;
    await expectTruth(world, api.url);
    expect((await telemetry(api.url)).reorgs).toBeGreaterThan(0);
  });
});

async function emptied(redisUrl: string): Promise<void> {
  const redis = createRedis(redisUrl, { enableOfflineQueue: true, maxRetriesPerRequest: null });
  await redis.flushall();
  await closeQuietly(redis);
}

/** The living process that holds the newest token of the chain. */
async function leaderOf(asking: Writer, processes: readonly IngestProcess[]): Promise<IngestProcess> {
  const { rows } = await asking.rows({
    name: 'who-leads',
    sql: sql`SELECT argMax(owner, (token, beat_at)) FROM fences WHERE scope = 'eip155:84532'`,
    maxSeconds: 10,
    maxRows: 1,
  });
  const leader = processes.find(({ pid }) => String(rows[0]?.[0]).includes(`:${pid}:`));
  if (leader === undefined) throw new Error('none of the processes leads');
  expect(leader.isRunning()).toBe(true);
  return leader;
}

/** One of several processes with ROLE=ingest, as an operator starts them. */
interface IngestProcess {
  readonly pid: number;
  isRunning(): boolean;
  /** `kill -9`; resolves when it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** `config` is the content of its configuration file. */
function startIngestProcess(
  name: string,
  config: { readonly dataDir: string; readonly [section: string]: unknown },
): IngestProcess {
  const main = join(compiledSources(), 'src', 'main.js');
  mkdirSync(config.dataDir, { recursive: true });
  const file = join(config.dataDir, `config-${name}.json`);
  writeFileSync(file, JSON.stringify({ ...config, role: 'ingest' }));
  const log = openSync(watchedFile(`${name}.log`), 'w');
  const child = spawn(process.execPath, [main, 'start', '--config', file], {
    stdio: ['ignore', log, log],
    env: environment(),
  });
  closeSync(log);
  const endWithUs = (): void => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  child.once('exit', () => process.removeListener('exit', endWithUs));
  return {
    pid: child.pid ?? 0,
    isRunning: () => isRunning(child),
    async kill() {
      await end(child, 'SIGKILL');
    },
    stop: () => end(child, 'SIGTERM'),
  };
}

function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (!isRunning(child)) return child.exitCode;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
  return child.exitCode;
}

/** Ours, without what would override the configuration file. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !(name in ENVIRONMENT) && !name.startsWith('RPC_URL_'),
  );
  return Object.fromEntries(kept);
}
