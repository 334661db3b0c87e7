import { readAccessFile } from '../clickhouse/embedded/directory.ts';
import { EngineUnavailable } from '../clickhouse/embedded/library.ts';
import { type EmbeddedEngineOptions, startEmbeddedEngine } from '../clickhouse/embedded/supervisor.ts';
import { type EngineAccess, EngineError } from '../clickhouse/engine/engine.ts';
import { createWriter } from '../clickhouse/engine/http-engine.ts';
import type { Config } from '../core/config/config.ts';
import type { Log } from '../core/log.ts';
import { makeEngineHome } from './engine-home.ts';
import { remoteAccess } from './remote-access.ts';

/** An engine for a command that does its work and ends. */
export interface CommandEngine {
  readonly access: EngineAccess;
  /** Whether this command started it; what it borrows is then within its reach. */
  readonly isOwn: boolean;
  /** Ends the engine when this command started it; leaves it alone otherwise. */
  stop(): Promise<void>;
}

type EngineConfig = Pick<Config, 'clickhouse' | 'dataDir'>;

/**
 * The engine of the configuration: the remote one, else the one that a running service has over the same data directory, else
 * one of our own. The last reaches the directories that are `borrowed`; the others do not. Throws `EngineUnavailable` when there is none of them.
 */
export async function attachOrStartEngine(
  config: EngineConfig,
  log: Log,
  borrowed?: EmbeddedEngineOptions['borrowed'],
): Promise<CommandEngine> {
  const remote = remoteAccess(config);
  if (remote !== null) return attached(remote);
  const dataDir = makeEngineHome(config);
  const running = await runningEngine(config, dataDir, log);
  if (running !== null) return attached(running);
  try {
    const engine = await startEmbeddedEngine({
      ...config.clickhouse,
      dataDir,
      log,
      ...(borrowed === undefined ? {} : { borrowed }),
    });
    return { access: engine.access, isOwn: true, stop: engine.stop };
  } catch (error) {
    if (!(error instanceof EngineUnavailable)) throw error;
    // A service that was starting at the same moment holds the directory and is ready by now.
    const started = await runningEngine(config, dataDir, log);
    if (started === null) throw error;
    return attached(started);
  }
}

function attached(access: EngineAccess): CommandEngine {
  return { access, isOwn: false, stop: () => Promise.resolve() };
}

/** Null when no engine answers to what the access file says; a file that a killed service left behind is one such case. */
async function runningEngine(config: EngineConfig, dataDir: string, log: Log): Promise<EngineAccess | null> {
  const record = readAccessFile(dataDir);
  if (record === null) return null;
  const access = { ...record, database: config.clickhouse.database };
  // The database may not exist yet, and a connection that names a missing one fails whatever it asks.
  const writer = createWriter({ ...access, database: 'system' }, log);
  try {
    await writer.ping();
    return access;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    return null;
  } finally {
    await writer.close();
  }
}
