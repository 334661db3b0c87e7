import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readAccessFile } from '../clickhouse/embedded/directory.ts';
import { EngineUnavailable } from '../clickhouse/embedded/library.ts';
import { type EmbeddedEngineOptions, startEmbeddedEngine } from '../clickhouse/embedded/supervisor.ts';
import { openForSearch } from '../clickhouse/embedded/user.ts';
import { type EngineAccess, type EngineCluster, EngineError } from '../clickhouse/engine/engine.ts';
import { createWriter } from '../clickhouse/engine/http-engine.ts';
import type { Config } from '../core/config/config.ts';
import type { Log } from '../core/log.ts';

/** Other users may not list it; the modes of its files say who may read them. */
const DIRECTORY_MODE = 0o700;

/** The embedded engine's own directory below the data directory, which also holds the service's secrets and accounts. */
export function engineHome({ dataDir }: Pick<Config, 'dataDir'>): string {
  return join(dataDir, 'clickhouse');
}

/** Makes it. When the service runs as root, the engine runs as a user of its own, which must be able to enter the data directory. */
export function makeEngineHome(config: Pick<Config, 'dataDir'>): string {
  const home = engineHome(config);
  try {
    mkdirSync(home, { recursive: true, mode: DIRECTORY_MODE });
    if (process.geteuid?.() === 0) openForSearch(config.dataDir);
  } catch {
    // The engine's start fails for the same reason, with a message for the operator.
  }
  return home;
}

/** Users of a remote engine: the reader defaults to the writer, so that one user is enough at first. Null: embedded. */
export function remoteAccess({ clickhouse }: Pick<Config, 'clickhouse'>): EngineAccess | null {
  if (clickhouse.url === null) return null;
  const writer = clickhouse.writer ?? { user: 'default', password: '' };
  const reader = clickhouse.reader ?? writer;
  const cluster = clusterOf(clickhouse);
  return {
    url: clickhouse.url,
    database: clickhouse.database,
    writer,
    reader,
    guest: clickhouse.guest ?? reader,
    ...(cluster === null ? {} : { cluster }),
  };
}

function clusterOf({ cluster, shards, replicated }: Config['clickhouse']): EngineCluster | null {
  if (cluster === null) return null;
  const filled = shards.flatMap(([first, ...others]): [string, ...string[]][] =>
    first === undefined ? [] : [[first, ...others]],
  );
  return { name: cluster, shards: filled, isReplicated: replicated };
}

/** An engine for a command that does its work and ends. */
export interface CommandEngine {
  readonly access: EngineAccess;
  /** Whether this command started it: it can then reach the borrowed directories. */
  readonly isOwn: boolean;
  /** Ends the engine when this command started it; leaves it alone otherwise. */
  stop(): Promise<void>;
}

type EngineConfig = Pick<Config, 'clickhouse' | 'dataDir'>;

/**
 * The engine of the configuration: the remote one, else the one that a running service has over the same data directory, else
 * one of our own, which alone can reach the `borrowed` directories. Throws `EngineUnavailable` when none of them is available.
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

/** Null when no engine answers at the address of the access file, which a killed service may have left behind. */
async function runningEngine(config: EngineConfig, dataDir: string, log: Log): Promise<EngineAccess | null> {
  const record = readAccessFile(dataDir);
  if (record === null) return null;
  const access = { ...record, database: config.clickhouse.database };
  // The database may not exist yet, and on a connection that names a missing database every statement fails.
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
