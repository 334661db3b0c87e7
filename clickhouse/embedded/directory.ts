import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { backupsDirOf, type EngineFiles, writeEngineFiles } from './users.ts';

/**
 * What lies in the data directory of an engine. Its own are `store` and `backups`; everything else is ours, and closed to it:
 * `access.json` with the passwords, and `config`, which it may read while it starts.
 */
export interface EngineDirectory {
  readonly dataDir: string;
  readonly store: string;
  readonly backups: string;
  /** What holds the directories of configuration of all starts. */
  readonly configRoot: string;
  /** Of this start; there only between `writeConfig` and `removeConfig`. */
  readonly configFile: string;
  writeConfig(): void;
  /** The engine reads its files once. They hold digests of passwords and the path that queries are sent to: SQL finds neither. */
  removeConfig(): void;
  /** What earlier starts left behind when they were killed. */
  removeStaleConfigs(): void;
}

const CONFIG_NAME_BYTES = 6;
/** Younger configuration directories may belong to an engine that is starting right now. */
const STALE_CONFIG_MS = 60_000;
const OURS_ALONE = 0o700;

/** Makes what is missing. */
export function makeEngineDirectory(
  dataDir: string,
  files: Omit<EngineFiles, 'directory' | 'backupsDir'>,
): EngineDirectory {
  const store = join(dataDir, 'store');
  const backups = backupsDirOf(dataDir);
  const configRoot = join(dataDir, 'config');
  for (const directory of [store, backups, configRoot])
    mkdirSync(directory, { recursive: true, mode: OURS_ALONE });
  // A directory per start: a second engine that fails on the lock must not change the first one's passwords.
  const configDir = join(configRoot, randomBytes(CONFIG_NAME_BYTES).toString('hex'));
  return {
    dataDir,
    store,
    backups,
    configRoot,
    configFile: join(configDir, 'config.xml'),
    writeConfig: () => void writeEngineFiles({ ...files, directory: configDir, backupsDir: backups }),
    removeConfig: () => rmSync(configDir, { recursive: true, force: true }),
    removeStaleConfigs: () => removeStaleConfigs(configRoot, configDir),
  };
}

function removeStaleConfigs(configRoot: string, mine: string): void {
  for (const name of readdirSync(configRoot)) {
    const path = join(configRoot, name);
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
    if (path !== mine && age > STALE_CONFIG_MS) rmSync(path, { recursive: true, force: true });
  }
}
