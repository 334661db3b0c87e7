import { randomBytes } from 'node:crypto';
import {
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { backupsDirOf, type EngineFiles, writeEngineFiles } from './users.ts';

/**
 * The data directory of an engine. The engine owns `store` and `backups`; everything else is ours and closed to it: `access.json`
 * with the passwords, and `config`, which it may read while it starts.
 */
export interface EngineDirectory {
  readonly dataDir: string;
  readonly store: string;
  readonly backups: string;
  /** Parent of the configuration directories of all starts. */
  readonly configRoot: string;
  /** Configuration of this start; exists only between `writeConfig` and `removeConfig`. */
  readonly configFile: string;
  writeConfig(): void;
  /** Removed after the engine has read it once: it holds password digests and the secret query path, which SQL must not find. */
  removeConfig(): void;
  /** Removes what killed starts left behind. */
  removeStaleConfigs(): void;
}

const CONFIG_NAME_BYTES = 6;
/** Younger configuration directories may belong to an engine that is still starting. */
const STALE_CONFIG_MS = 60_000;
const OURS_ALONE = 0o700;

/** Creates the missing ones. */
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

/** File ownership, for when we are root and the engine has a user of its own. */

/** Whether everything below a directory is known to be this user's: see `giveTo`. */
export function belongsTo(directory: string, id: number): boolean {
  return lstatSync(directory).uid === id;
}

/**
 * Makes a user the owner of a directory and everything below it. The directory itself comes last: if the user already owns it, all
 * below is done and need not be scanned. Does not follow links.
 */
export function giveTo(directory: string, id: number): void {
  if (!belongsTo(directory, id)) give(directory, id);
}

function give(path: string, id: number): void {
  const found = lstatSync(path);
  if (found.isDirectory()) for (const name of readdirSync(path)) give(join(path, name), id);
  if (found.uid !== id) lchownSync(path, id, id);
}

/** Makes this process the owner of everything below a directory that the engine's user has written to. Only root needs to, and can. */
export function takeAll(directory: string): void {
  const me = process.geteuid?.();
  if (me !== 0) return;
  for (const name of readdirSync(directory)) give(join(directory, name), me);
}

/**
 * URL and credentials of a running embedded engine, for commands that run while the service does: the engine locks its directory,
 * so they cannot start a second one. The file holds this start's passwords, is readable by this user only, and is removed when the
 * engine stops.
 */

const UserShape = Type.Object({ user: Type.String(), password: Type.String() });

const MissingShape = Type.Object({ missing: Type.String() });

const WallsShape = Type.Object({
  landlock: Type.Union([Type.Object({ abi: Type.Number() }), MissingShape]),
  ownUser: Type.Union([Type.Object({ id: Type.Number() }), MissingShape]),
  sockets: Type.Union([Type.Object({ bounded: Type.Literal(true) }), MissingShape]),
  cleanEnvironment: Type.Boolean(),
});

const AccessShape = Type.Object({
  url: Type.String({ pattern: '^http://127\\.0\\.0\\.1:[0-9]+/' }),
  writer: UserShape,
  reader: UserShape,
  guest: UserShape,
  /** The walls around this engine; absent in the file of an older version. */
  walls: Type.Optional(WallsShape),
});

/** `EngineAccess` without the database, which each command takes from its own configuration. */
export type AccessRecord = Static<typeof AccessShape>;

const FILE_NAME = 'access.json';

/** `dataDir` is the engine's own directory. */
export function accessFileOf(dataDir: string): string {
  return join(dataDir, FILE_NAME);
}

/** Replaces the file atomically, so a reader never sees part of it. `dataDir` is the engine's own directory. */
export function writeAccessFile(dataDir: string, access: AccessRecord): void {
  const half = join(dataDir, `${FILE_NAME}.${randomBytes(6).toString('hex')}`);
  const { url, writer, reader, guest, walls } = access;
  writeFileSync(half, JSON.stringify({ url, writer, reader, guest, walls }), { mode: 0o600 });
  renameSync(half, accessFileOf(dataDir));
}

/** What the last engine of this directory wrote, or null. After a `kill -9` that engine may be gone. */
export function readAccessFile(dataDir: string): AccessRecord | null {
  try {
    const record: unknown = JSON.parse(readFileSync(accessFileOf(dataDir), 'utf8'));
    return Value.Check(AccessShape, record) ? record : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Removes the file unless another engine has replaced it since. */
export function removeAccessFile(dataDir: string, access: Pick<AccessRecord, 'url'>): void {
  if (readAccessFile(dataDir)?.url === access.url) rmSync(accessFileOf(dataDir), { force: true });
}
