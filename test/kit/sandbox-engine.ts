import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import { startEmbeddedEngine } from '../../clickhouse/embedded/supervisor.ts';
import type { EngineAccess, Guest, Writer } from '../../clickhouse/engine/engine.ts';
import { createWriter } from '../../clickhouse/engine/http-engine.ts';
import { createGuest } from '../../clickhouse/guest/engine.ts';
import { migrate } from '../../clickhouse/migrate/migrate.ts';
import { emptyAllTables } from './empty-tables.ts';
import { testLog } from './engine.ts';
import { createSchema, type Schema } from './schema.ts';

/** An engine of its own, as the service starts it: the guest's grants name one database. */
export interface SandboxEngine {
  readonly access: EngineAccess;
  readonly writer: Writer;
  readonly guest: Guest;
  pid(): number | undefined;
  restart(): Promise<void>;
  close(): Promise<void>;
}

const MEGABYTES = 2_048;

export async function sandboxEngine(): Promise<SandboxEngine> {
  const dataDir = mkdtempSync(join(tmpdir(), 'settlement-index-sandbox-'));
  const engine = await startEmbeddedEngine({
    dataDir,
    database: 'index_of_test',
    maxMemoryMegabytes: MEGABYTES,
    nice: 0,
    log: testLog,
  });
  // The browser's tests have no engine of the run that the schema could be taken from.
  const schema = inject('schema') as Schema | undefined;
  if (schema === undefined) await migrate(engine.access, testLog);
  else await createSchema(engine.access, schema, testLog);
  const writer = createWriter(engine.access, testLog);
  const guest = createGuest(engine.access);
  return {
    access: engine.access,
    writer,
    guest,
    pid: engine.pid,
    restart: engine.restart,
    async close() {
      await Promise.all([writer.close(), guest.close()]);
      await engine.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

let ofWorker: Promise<SandboxEngine> | undefined;

/** The one that the files of a worker share, one after the other; each finds its tables empty. Those that restart an engine start one of their own. */
export async function sandboxEngineOfWorker(): Promise<SandboxEngine> {
  ofWorker ??= sandboxEngine();
  const engine = await ofWorker;
  await emptyAllTables(engine.writer);
  return engine;
}

/** At the end of the worker. */
export async function stopSandboxEngineOfWorker(): Promise<void> {
  const engine = ofWorker;
  ofWorker = undefined;
  await (await engine)?.close();
}
