import { join } from 'node:path';
import { startEmbeddedEngine } from '../../clickhouse/embedded/supervisor.ts';
import type { EngineAccess, Reader, Writer } from '../../clickhouse/engine/engine.ts';
import { createReader, createWriter } from '../../clickhouse/engine/http-engine.ts';
import { migrate } from '../../clickhouse/migrate/migrate.ts';
import { createLog, type Log } from '../../core/log.ts';
import type { Workspace } from './workspace.ts';

/** A fresh embedded engine with our schema and no rows. */
export interface BenchEngine {
  readonly access: EngineAccess;
  readonly reader: Reader;
  readonly writer: Writer;
  pid(): number | undefined;
  stop(): Promise<void>;
}

const MAX_MEMORY_MEGABYTES = 4_096;

/** Errors only: a bench prints its own progress. */
export function benchLog(): Log {
  return createLog('error', 'bench');
}

/** Starts the engine in a directory of its own; the workspace stops it if it still runs at the end. */
export async function startBenchEngine(
  workspace: Workspace,
  name: string,
  {
    queryLog = false,
    dataDir = join(workspace.dir, name),
  }: {
    /** Whether the engine keeps what each statement used. */
    readonly queryLog?: boolean;
    /** One that outlives the run. */
    readonly dataDir?: string | undefined;
  } = {},
): Promise<BenchEngine> {
  const log = benchLog();
  const engine = await startEmbeddedEngine({
    dataDir,
    database: 'settlement_index',
    maxMemoryMegabytes: MAX_MEMORY_MEGABYTES,
    queryLog,
    log,
  });
  workspace.defer(() => engine.stop());
  await migrate(engine.access, log);
  const reader = createReader(engine.access, log);
  const writer = createWriter(engine.access, log);
  return {
    access: engine.access,
    reader,
    writer,
    pid: engine.pid,
    async stop() {
      await Promise.all([reader.close(), writer.close()]);
      await engine.stop();
    },
  };
}
