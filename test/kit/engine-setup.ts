import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedEngine } from '../../clickhouse/embedded/supervisor.ts';
import type { EngineAccess } from '../../clickhouse/engine/engine.ts';
import { createLog } from '../../core/log.ts';
import { readSchema, type Schema } from './schema.ts';

declare module 'vitest' {
  interface ProvidedContext {
    engineAccess: EngineAccess;
    schema: Schema;
  }
}

/** One real engine for the run, in a directory of its own; every test file takes a fresh database in it. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const log = createLog('warn', 'test-engine');
  const dataDir = await mkdtemp(join(tmpdir(), 'settlement-index-engine-'));
  const engine = await startEmbeddedEngine({
    dataDir,
    database: 'test_shared',
    maxMemoryMegabytes: 2048,
    readerDatabases: ['test_*'],
    log,
  });
  project.provide('engineAccess', engine.access);
  project.provide('schema', await readSchema(engine.access, log));
  return async () => {
    await engine.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}
