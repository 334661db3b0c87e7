import { test as base } from 'vitest';
import { type TestApi, testApi } from './api.ts';
import { emptyAllTables } from './empty-tables.ts';
import { type TestEngine, testEngine } from './engine.ts';
import { type GateBed, openGateBed } from './gate-bed.ts';
import { type Judge, judgeOf } from './judge.ts';
import { type RedisServer, startRedisServer } from './redis-server.ts';
import { type SandboxEngine, sandboxEngineOfWorker, stopSandboxEngineOfWorker } from './sandbox-engine.ts';
import { type Customer, type SqlApi, sqlApi } from './sql-api.ts';

let database: Promise<TestEngine> | undefined;

/**
 * What tests stand on, started when a test or a hook first asks for it by name and ended by itself:
 *
 *     test('a name of the guarantee', async ({ engine, api }) => { … });
 *     test.beforeAll(async ({ engine }) => { await insertSettlements(engine.writer, rows); });
 */
export const test = base.extend<{
  $file: {
    /** The engine of the run with the database of the worker, whose hundred tables are empty when the file begins: to make them takes a second. */
    engine: TestEngine;
    /** The same with a database of the file's own, for tests that change more than rows. */
    ownEngine: TestEngine;
    /** An engine as the service starts it, with a guest; its tables are empty when the file begins. */
    sandbox: SandboxEngine;
    /** The first wall over `sandbox`. */
    judge: Judge;
    /** The application with SQL over `sandbox`. */
    sqlService: SqlApi;
    /** The application over `engine`, one for all tests of the file. */
    fileApi: TestApi;
    /** A gate over a SQLite store of the file's own. */
    gates: GateBed;
    /** A Redis of the file's own. */
    redis: RedisServer;
  };
  $worker: {
    sandboxOfWorker: () => Promise<SandboxEngine>;
    databaseOfWorker: () => Promise<TestEngine>;
  };
  $test: {
    /** The application over `engine`, with nothing cached. */
    api: TestApi;
    /** An organization with a thousand units at `sqlService`, and its key. */
    customer: Customer;
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
  databaseOfWorker: [
    // biome-ignore lint/correctness/noEmptyPattern: as above
    async ({}, use) => {
      await use(() => (database ??= testEngine()));
      const made = database;
      database = undefined;
      await (await made)?.close();
    },
    { scope: 'worker' },
  ],
  engine: [
    async ({ databaseOfWorker }, use) => {
      const engine = await databaseOfWorker();
      await emptyAllTables(engine.writer);
      await use(engine);
    },
    { scope: 'file' },
  ],
  ownEngine: [
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
  judge: [async ({ sandbox }, use) => use(judgeOf(sandbox.guest)), { scope: 'file' }],
  sqlService: [
    async ({ sandbox }, use) => {
      const service = await sqlApi({ engine: sandbox });
      await use(service);
      await service.close();
    },
    { scope: 'file' },
  ],
  gates: [
    // biome-ignore lint/correctness/noEmptyPattern: as above
    async ({}, use) => {
      const bed = openGateBed();
      await use(bed);
      await bed.close();
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
  api: async ({ engine }, use) => {
    const api = await testApi(engine.reader);
    await use(api);
    await api.close();
  },
  customer: async ({ sqlService }, use) => use(await sqlService.customer()),
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
