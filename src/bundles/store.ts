import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { BundleOf } from './manifest.ts';
import type { PieceSource } from './parquet.ts';

/**
 * Where bundles lie. A name is one that this program made: of a chain, a table and a file of a manifest, never of a caller's text.
 * The port has what object stores offer as well: whole writes, reads of ranges, and a tag that changes with the content.
 */
export interface BundleStore {
  /** Null where there is no such file. */
  readText(name: BundleName): Promise<string | null>;
  /** Changes when the file does; null where there is none. */
  stamp(name: BundleName): Promise<string | null>;
  /** Null where there is no such file. */
  open(name: BundleName): Promise<StoredFile | null>;
  /** Under its name once it is whole and on the disk, or not at all. */
  writeText(name: BundleName, text: string): Promise<void>;
  /** Takes a file in whole, without a name yet. */
  draft(of: BundleOf, body: AsyncIterable<Uint8Array>): Promise<Draft>;
  /** Removes what a run that was killed left without a name. */
  sweep(of: BundleOf): Promise<void>;
}

export interface BundleName extends BundleOf {
  readonly file: string;
}

export interface StoredFile extends PieceSource {
  /** `end` is the last byte, included. */
  stream(range?: { readonly start: number; readonly end: number }): Readable;
}

export interface Draft {
  readonly bytes: number;
  readonly sha256: string;
  readonly content: PieceSource;
  /** Gives it its name, in the place of another file of that name. */
  keep(file: string): Promise<void>;
  discard(): Promise<void>;
}

const DRAFT_SUFFIX = '.part';

/** Bundles in a directory: one folder for each chain and in it one for each table. */
export function directoryStore(root: string): BundleStore {
  const folderOf = ({ chain, table }: BundleOf): string => join(root, chain.replace(':', '-'), table);
  const pathOf = (name: BundleName): string => join(folderOf(name), name.file);
  return {
    readText: (name) => orNull(() => readFile(pathOf(name), 'utf8')),
    stamp: (name) =>
      orNull(async () => {
        const { mtimeMs, size, ino } = await stat(pathOf(name));
        return `${mtimeMs}-${size}-${ino}`;
      }),
    open: (name) => orNull(() => storedFile(pathOf(name))),
    async writeText(name, text) {
      const draft = await writeDraft(folderOf(name), [Buffer.from(text, 'utf8')]);
      await giveName(draft.path, pathOf(name));
    },
    async draft(of, body) {
      const folder = folderOf(of);
      const { path, bytes, sha256 } = await writeDraft(folder, body);
      return {
        bytes,
        sha256,
        content: pieces(path, bytes),
        keep: (file) => giveName(path, join(folder, file)),
        discard: () => rm(path, { force: true }),
      };
    },
    async sweep(of) {
      const names = (await orNull(() => readdir(folderOf(of)))) ?? [];
      for (const name of names.filter((each) => each.endsWith(DRAFT_SUFFIX)))
        await rm(join(folderOf(of), name), { force: true });
    },
  };
}

async function orNull<Value>(read: () => Promise<Value>): Promise<Value | null> {
  try {
    return await read();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}

async function storedFile(path: string): Promise<StoredFile> {
  const { size } = await stat(path);
  return { ...pieces(path, size), stream: (range) => createReadStream(path, range) };
}

function pieces(path: string, byteLength: number): PieceSource {
  return {
    byteLength,
    async slice(start, end = byteLength) {
      const file = await open(path);
      try {
        const bytes = new ArrayBuffer(end - start);
        const { bytesRead } = await file.read(new Uint8Array(bytes), 0, end - start, start);
        if (bytesRead !== end - start) throw new Error(`${path} is shorter than it was`);
        return bytes;
      } finally {
        await file.close();
      }
    },
  };
}

interface WrittenDraft {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Whole and synced: a rename after a power cut must not give a name to half a file. */
async function writeDraft(
  folder: string,
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<WrittenDraft> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${randomBytes(8).toString('hex')}${DRAFT_SUFFIX}`);
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await open(path, 'wx');
  try {
    for await (const piece of body) {
      hash.update(piece);
      bytes += piece.length;
      await file.writeFile(piece);
    }
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  return { path, bytes, sha256: hash.digest('hex') };
}

async function giveName(from: string, to: string): Promise<void> {
  await rename(from, to);
  const folder = await open(dirname(to));
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
