import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { startEmbeddedEngine } from '../../clickhouse/embedded/supervisor.ts';
import { createWriter } from '../../clickhouse/http-engine.ts';
import { sql } from '../../clickhouse/sql.ts';
import { caughtUp, expectTruth, telemetry } from '../support/catch-up.ts';
import { type IngestProcess, startIngestProcess } from '../support/ingest-process.ts';
import { redisIsThere, startRedisServer } from '../support/redis-server.ts';
import { watchedLog, watchSecret } from '../support/secrets-watch.ts';
import { startTestService } from '../support/service.ts';
import { startTruthWorld } from '../support/truth-world.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Several ingest processes over one engine, one Redis and one chain: what they write together is what one would write. */

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

describe.skipIf(!redisIsThere())('three ingest processes', () => {
  test('share the backfill, and through reorgs, a kill -9 and a pause of the leader lose and double nothing', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-many-'));
    cleanups.push(async () => rmSync(dataDir, { recursive: true, force: true }));
    const world = await startTruthWorld(7);
    cleanups.push(() => world.stop());
    await world.grow(150);
    const redis = await startRedisServer();
    cleanups.push(() => redis.stop());
    const { asking, config: clickhouse } = await sharedEngine(dataDir);
    const config = {
      dataDir,
      logLevel: 'debug',
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

    const leader = async (): Promise<IngestProcess | undefined> => {
      const { rows } = await asking.rows({
        name: 'who-leads',
        sql: sql`SELECT argMax(owner, (token, beat_at)) FROM fences WHERE scope = 'eip155:84532'`,
        maxSeconds: 10,
        maxRows: 1,
      });
      return processes.find((each) => each.isRunning() && String(rows[0]?.[0]).includes(`:${each.pid}:`));
    };
    const first = await leader();
    await world.grow(5);
    await first?.kill();
    await world.reorganise(4);
    await expectTruth(world, api.url);

    const second = await leader();
    expect(second).toBeDefined();
    second?.freeze();
    await world.grow(3);
    await world.reorganise(6);
    await waitUntil('another one leads', async () => (await leader()) !== second, 60_000);
    second?.thaw();
    await expectTruth(world, api.url);
    await caughtUp(world, api.url);
    expect((await telemetry(api.url)).reorgs).toBeGreaterThan(0);
  });
});
