import { test as base } from 'vitest';
import { type TestApi, testApi } from './api.ts';
import { emptyTables } from './empty-tables.ts';
import { type TestEngine, testEngine } from './engine.ts';
import { type RedisServer, startRedisServer } from './redis-server.ts';
import { type SandboxEngine, sandboxEngineOfWorker, stopSandboxEngineOfWorker } from './sandbox-engine.ts';
import { type SqlApi, sqlApi } from './sql-api.ts';

/**
 * What tests stand on, started when a test or a hook first asks for it by name and ended by itself:
 *
 *     test('a name of the guarantee', async ({ emptyEngine, api }) => { … });
 *     test.beforeAll(async ({ engine }) => { await insertSettlements(engine.writer, rows); });
 */
export const test = base.extend<{
  /** The engine of the run with a database of the file's own. */
  $file: {
    engine: TestEngine;
    /** An engine as the service starts it, with a guest; its tables are empty when the file begins. */
    sandbox: SandboxEngine;
    /** The application with SQL over `sandbox`. */
    sqlService: SqlApi;
    /** The application over `engine`, one for all tests of the file. */
    fileApi: TestApi;
    /** A Redis of the file's own. */
    redis: RedisServer;
  };
  $worker: { sandboxOfWorker: () => Promise<SandboxEngine> };
  $test: {
    /** `engine` without the rows of the tests before. */
    emptyEngine: TestEngine;
    /** The application over `engine`, with nothing cached. */
    api: TestApi;
    /** A second database, for one test to leave empty or to damage, and the application over it. */
    spareEngine: TestEngine;
    spareApi: TestApi;
  };
}>({
  sandboxOfWorker: [
    // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names that a fixture uses from the pattern
    async ({}, use) => {
      await use(sandboxEngineOfWorker);
      await stopSandboxEngineOfWorker();
    },
    { scope: 'worker' },
  ],
  engine: [
    // biome-ignore lint/correctness/noEmptyPattern: as above
    async ({}, use) => {
      const engine = await testEngine();
      await use(engine);
      await engine.close();
    },
    { scope: 'file' },
  ],
  fileApi: [
    async ({ engine }, use) => {
      const api = await testApi(engine.reader);
      await use(api);
      await api.close();
    },
    { scope: 'file' },
  ],
  sandbox: [async ({ sandboxOfWorker }, use) => use(await sandboxOfWorker()), { scope: 'file' }],
  sqlService: [
    async ({ sandbox }, use) => {
      const service = await sqlApi({ engine: sandbox });
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
  redis: [
    // biome-ignore lint/correctness/noEmptyPattern: as above
    async ({}, use) => {
      const redis = await startRedisServer();
      await use(redis);
      await redis.stop();
    },
    { scope: 'file' },
  ],
  emptyEngine: async ({ engine }, use) => {
    await emptyTables(engine.writer);
    await use(engine);
  },
  api: async ({ engine }, use) => {
    const api = await testApi(engine.reader);
    await use(api);
    await api.close();
  },
  // biome-ignore lint/correctness/noEmptyPattern: as above
  spareEngine: async ({}, use) => {
    const engine = await testEngine();
    await use(engine);
    await engine.close();
  },
  spareApi: async ({ spareEngine }, use) => {
    const api = await testApi(spareEngine.reader);
    await use(api);
    await api.close();
  },
});
