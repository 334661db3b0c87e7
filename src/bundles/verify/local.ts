import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { UserError } from '../../../core/user-error.ts';
import type { PublicKey } from '../keys.ts';
import {
  currentEntries,
  type Entry,
  isSigned,
  MANIFEST_FILE,
  type Manifest,
  manifestFaults,
  parseManifest,
} from '../manifest.ts';
import { openParquet, type ParquetRows, type PieceSource } from '../parquet.ts';
import { rowsHash } from '../rows.ts';
import { isBundleTable } from '../tables.ts';

/** What can be checked of a bundle without a service: its signature, its log, its files and their rows. */

export interface LocalBundle {
  /** As it was found, for messages. */
  readonly path: string;
  readonly directory: string;
  readonly manifest: Manifest;
}

/** A directory may hold one bundle or, in folders, several. */
const FOLDERS_DEEP = 4;

/** Throws `UserError` where there is none, or one that cannot be read. */
export async function findBundles(path: string): Promise<LocalBundle[]> {
  const found = await stat(path).catch(() => null);
  if (found === null) throw new UserError(`there is no ${path}`);
  const manifests = found.isDirectory() ? await manifestsBelow(path, FOLDERS_DEEP) : [path];
  if (manifests.length === 0) throw new UserError(`${path} holds no ${MANIFEST_FILE}`);
  return Promise.all(manifests.map(readBundle));
}

async function manifestsBelow(directory: string, deep: number): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const here = entries.filter((entry) => entry.isFile() && entry.name === MANIFEST_FILE);
  const folders = deep === 0 ? [] : entries.filter((entry) => entry.isDirectory());
  const below = await Promise.all(folders.map(({ name }) => manifestsBelow(join(directory, name), deep - 1)));
  return [...here.map(({ name }) => join(directory, name)), ...below.flat()].sort();
}

async function readBundle(path: string): Promise<LocalBundle> {
  const manifest = parseManifest(await readFile(path, 'utf8'));
  if (manifest === null) throw new UserError(`${path} is no manifest that this version reads`);
  return { path, directory: dirname(path), manifest };
}

/** The faults of signature and log, in words; empty for nothing. `trusted`: the keys that the service publishes, null for unknown. */
export function manifestProblems({ manifest }: LocalBundle, trusted: readonly PublicKey[] | null): string[] {
  return [...signatureProblems(manifest, trusted), ...manifestFaults(manifest)];
}

function signatureProblems(manifest: Manifest, trusted: readonly PublicKey[] | null): string[] {
  const { key, public_key: x } = manifest.signature;
  if (!isSigned(manifest)) return ['the signature does not fit the manifest'];
  if (trusted === null) return [];
  return trusted.some(({ kid, x: known }) => kid === key && known === x)
    ? []
    : [`the signature is by the key ${key}, which the service does not publish`];
}

/** The days that are looked at, oldest first. */
export interface Days {
  readonly since: string | null;
  readonly until: string | null;
}

export function wantedEntries({ manifest }: LocalBundle, { since, until }: Days): Entry[] {
  return currentEntries(manifest.entries).filter(
    ({ day }) => (since === null || day >= since) && (until === null || day <= until),
  );
}

/** The fault of the file of an entry, in words; null for nothing. */
export async function fileProblem(bundle: LocalBundle, entry: Entry): Promise<string | null> {
  const path = pathOf(bundle, entry);
  const size = (await stat(path).catch(() => null))?.size;
  if (size === undefined) return 'the file is missing';
  if (size !== entry.bytes) return `the file has ${size} bytes, and the manifest says ${entry.bytes}`;
  if ((await sha256Of(path)) !== entry.sha256) return 'the file was changed: its SHA-256 is another';
  return rowsProblem(bundle, entry);
}

async function rowsProblem(bundle: LocalBundle, entry: Entry): Promise<string | null> {
  try {
    const { columns, rows } = await openEntry(bundle, entry);
    const hash = rowsHash(columns.map(({ name }) => name));
    for await (const row of rows()) hash.add(row);
    if (hash.rows !== entry.rows)
      return `the file has ${hash.rows} rows, and the manifest says ${entry.rows}`;
    return hash.digest() === entry.rows_sha256 ? null : 'the hash of its rows is not that of the manifest';
  } catch (error) {
    return `the file cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path) as AsyncIterable<Buffer>) hash.update(piece);
  return hash.digest('hex');
}

/** The rows of a day. The manifest may come from a stranger: its file is only ever one next to it. */
export async function openEntry(bundle: LocalBundle, entry: Entry): Promise<ParquetRows> {
  const { table } = bundle.manifest;
  if (!isBundleTable(table))
    throw new UserError(`${bundle.path} is of a table ${table} that this version does not know`);
  return openParquet(await piecesOf(pathOf(bundle, entry)), table);
}

function pathOf({ directory }: LocalBundle, { file }: Entry): string {
  return join(directory, basename(file));
}

async function piecesOf(path: string): Promise<PieceSource> {
  const { size } = await stat(path);
  return {
    byteLength: size,
    async slice(start, end = size) {
      const file = await open(path);
      try {
        const bytes = new ArrayBuffer(end - start);
        await file.read(new Uint8Array(bytes), 0, end - start, start);
        return bytes;
      } finally {
        await file.close();
      }
    },
  };
}
