import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
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
  writeFileSync(draft, `${JSON.stringify({ sha256: digestOf(body) })}\n${body}\n`, { mode: FILE_MODE });
  syncPath(draft);
  renameSync(draft, join(directory, FILE_NAME));
  syncPath(directory);
}

/** Throws `UserError` when there is none, or it is not as it was written, or is of another form. */
export function readManifest(directory: string): Manifest {
  const [head = '', body = ''] = readText(directory).split('\n');
  if (head !== JSON.stringify({ sha256: digestOf(body) }))
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

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
