import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';

/**
 * Where a running embedded engine can be reached and as whom, for commands that work beside the service: the engine locks its
 * directory, so a second one cannot be started. The file holds this start's passwords; it is readable by this user only, lies
 * in the directory whose rows it opens anyway, and is removed when the engine stops.
 */

const UserShape = Type.Object({ user: Type.String(), password: Type.String() });

const MissingShape = Type.Object({ missing: Type.String() });

const WallsShape = Type.Object({
  landlock: Type.Union([Type.Object({ abi: Type.Number() }), MissingShape]),
  ownUser: Type.Union([Type.Object({ id: Type.Number() }), MissingShape]),
  cleanEnvironment: Type.Boolean(),
});

const AccessShape = Type.Object({
  url: Type.String({ pattern: '^http://127\\.0\\.0\\.1:[0-9]+/' }),
  writer: UserShape,
  reader: UserShape,
  guest: UserShape,
  /** What stands between this engine and the files of others; absent from the file of an older version. */
  walls: Type.Optional(WallsShape),
});

/** `EngineAccess` without the database, which every command takes from its own configuration. */
export type AccessRecord = Static<typeof AccessShape>;

const FILE_NAME = 'access.json';

/** `dataDir` is the engine's own directory. */
export function accessFileOf(dataDir: string): string {
  return join(dataDir, FILE_NAME);
}

/** Replaces the file as a whole: a reader never sees half of it. `dataDir` is the engine's own directory. */
export function writeAccessFile(dataDir: string, access: AccessRecord): void {
  const half = join(dataDir, `${FILE_NAME}.${randomBytes(6).toString('hex')}`);
  const { url, writer, reader, guest, walls } = access;
  writeFileSync(half, JSON.stringify({ url, writer, reader, guest, walls }), { mode: 0o600 });
  renameSync(half, accessFileOf(dataDir));
}

/** What the last engine of this directory wrote, or null. After a `kill -9` it may name an engine that is gone. */
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

/** Removes the file unless another engine has replaced it meanwhile. */
export function removeAccessFile(dataDir: string, access: Pick<AccessRecord, 'url'>): void {
  if (readAccessFile(dataDir)?.url === access.url) rmSync(accessFileOf(dataDir), { force: true });
}
