import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { sha256Of } from '../../../core/text.ts';
import { UserError } from '../../../core/user-error.ts';

/** What a backup consists of. Written last: a directory without a manifest is a backup that was not finished. */

export const MANIFEST_FORMAT = 1;
const FILE_NAME = 'manifest.json';
const FILE_MODE = 0o600;

const CopiedFile = Type.Object({
  /** Below the directory of the backup. */
  path: Type.String({ pattern: '^(?!/)(?!.*\\.\\.(/|$)).+$' }),
  bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});

const Id = Type.String({ pattern: '^[0-9a-z-]{1,64}$' });

const EnginePart = Type.Object({
  /** `here`: below `engine/` of this directory. Else a disk of the server. */
  place: Type.Union([Type.Literal('here'), Type.Literal('server')]),
  disk: Type.String({ pattern: '^[A-Za-z_][A-Za-z0-9_]{0,62}$' }),
  version: Type.String(),
  database: Type.String({ pattern: '^[a-z][a-z0-9_]{0,62}$' }),
  /** How many shards of a cluster have their part on the disk, under `shard-<n>/`; absent for an engine by itself. */
  shards: Type.Optional(Type.Integer({ minimum: 1 })),
  migrations: Type.Array(Type.Object({ version: Type.Integer({ minimum: 1 }), checksum: Type.String() })),
  tables: Type.Array(
    Type.Object({
      name: Type.String({ pattern: '^[a-z][a-z0-9_]{0,62}$' }),
      group: Type.Union([
        Type.Literal('checkpoints'),
        Type.Literal('done'),
        Type.Literal('rows'),
        Type.Literal('marks'),
      ]),
      /** Stored rows, superseded ones too, right before the copy. */
      rows: Type.Integer({ minimum: 0 }),
    }),
  ),
  /** The backup that this one only adds to: its id, and where it lies from here. */
  base: Type.Union([Type.Object({ id: Id, directory: Type.String() }), Type.Null()]),
});

const AccountsPart = Type.Object({
  kind: Type.Union([Type.Literal('sqlite'), Type.Literal('redis')]),
  /** Of the tables of SQLite, or of the form of the Redis copy. */
  schema: Type.Integer({ minimum: 0 }),
  organizations: Type.Integer({ minimum: 0 }),
  ledgerRows: Type.Integer({ minimum: 0 }),
  payments: Type.Integer({ minimum: 0 }),
});

const ManifestShape = Type.Object({
  format: Type.Integer(),
  id: Id,
  program: Type.String(),
  madeAt: Type.String(),
  engine: Type.Union([EnginePart, Type.Null()]),
  accounts: Type.Union([AccountsPart, Type.Null()]),
  /** Names below `secrets/`. */
  secrets: Type.Array(Type.String()),
  files: Type.Array(CopiedFile),
});

export type Manifest = Static<typeof ManifestShape>;
export type EngineManifest = Static<typeof EnginePart>;
export type AccountsManifest = Static<typeof AccountsPart>;
export type FileEntry = Static<typeof CopiedFile>;

/** Writes the manifest with a digest of itself, whole and synced before it gets its name. */
export function writeManifest(directory: string, manifest: Manifest): void {
  const body = JSON.stringify(manifest);
  const draft = join(directory, `${FILE_NAME}.part`);
  writeFileSync(draft, `${JSON.stringify({ sha256: sha256Of(body) })}\n${body}\n`, { mode: FILE_MODE });
  syncPath(draft);
  renameSync(draft, join(directory, FILE_NAME));
  syncPath(directory);
}

/** Throws `UserError` when there is none, or it is not as it was written, or is of another form. */
export function readManifest(directory: string): Manifest {
  const [head = '', body = ''] = readText(directory).split('\n');
  if (head !== JSON.stringify({ sha256: sha256Of(body) }))
    throw new UserError(`the manifest in ${directory} is damaged`);
  const found: unknown = JSON.parse(body);
  const format = Value.Check(Type.Object({ format: Type.Integer() }), found) ? found.format : null;
  if (format !== MANIFEST_FORMAT) {
    throw new UserError(
      `the backup in ${directory} has form ${format ?? 'unknown'}, this program reads ${MANIFEST_FORMAT}: use the version that made it`,
    );
  }
  if (!Value.Check(ManifestShape, found)) throw new UserError(`the manifest in ${directory} is damaged`);
  return found;
}

function readText(directory: string): string {
  try {
    return readFileSync(join(directory, FILE_NAME), 'utf8');
  } catch (cause) {
    throw new UserError(`${directory} holds no finished backup: there is no ${FILE_NAME} in it`, {
      cause,
    });
  }
}

export function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Named at most in one message. */
const DAMAGED_SHOWN_MAX = 5;

/** Every file below `directory`, which may be missing, sorted; paths are relative to it. */
export function filesBelow(directory: string, below = ''): string[] {
  const entries = readdirSync(join(directory, below), { withFileTypes: true });
  return entries
    .flatMap((entry) => {
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(directory, path) : [path];
    })
    .sort();
}

/** Bytes below a directory, while others write into it. */
export function bytesBelow(directory: string): number {
  try {
    return filesBelow(directory).reduce((sum, path) => sum + sizeOf(join(directory, path)), 0);
  } catch {
    return 0; // a directory that went away while it was looked at; this is a figure for a progress line
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Syncs every file to the disk and takes its digest. `onBytes` hears of each piece that was read. */
export async function digestFiles(
  directory: string,
  onBytes: (bytes: number) => void = () => undefined,
): Promise<FileEntry[]> {
  const entries: FileEntry[] = [];
  for (const path of filesBelow(directory)) {
    syncPath(join(directory, path));
    entries.push(await digestFile(directory, path, onBytes));
  }
  return entries;
}

/** Throws `UserError` when a file is missing, or is not as it was written. */
export async function checkFiles(
  directory: string,
  files: readonly FileEntry[],
  onBytes: (bytes: number) => void = () => undefined,
): Promise<void> {
  const damaged: string[] = [];
  for (const expected of files) {
    const found = await digestFile(directory, expected.path, onBytes).catch(() => null);
    if (found?.sha256 !== expected.sha256 || found.bytes !== expected.bytes) damaged.push(expected.path);
  }
  if (damaged.length === 0) return;
  throw new UserError(
    `${damaged.length} of ${files.length} files in ${directory} are missing or damaged, among them ${damaged.slice(0, DAMAGED_SHOWN_MAX).join(', ')}: use another backup`,
  );
}

async function digestFile(
  directory: string,
  path: string,
  onBytes: (bytes: number) => void,
): Promise<FileEntry> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of createReadStream(join(directory, path)) as AsyncIterable<Buffer>) {
    hash.update(piece);
    bytes += piece.length;
    onBytes(piece.length);
  }
  return { path, bytes, sha256: hash.digest('hex') };
}
