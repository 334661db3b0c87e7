import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  checkedName,
  type FilePart,
  type FilesRoom,
  isResultName,
  type ResultFiles,
  ResultFilesUnavailable,
} from './result-files.ts';

/** Results hold what organizations paid for: only the owner of the directory may read it. */
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
/** Of a file that is being written. */
const UNFINISHED = '.part';

/**
 * Kept results in a directory, which several API processes may share. A file is written under another name, synced and renamed, so that
 * no reader sees a part of it; parts that a process left behind are removed like files.
 */
export function directoryFiles(directory: string): ResultFiles {
  const pathOf = (name: string): string => join(directory, checkedName(name));
  return {
    write: (name, bytes) => asked(() => writeWhole(directory, pathOf(name), bytes)),
    read: async (name, part) => {
      const path = pathOf(name);
      return asked(() => (part === undefined ? readFile(path) : readPart(path, part)).catch(nullIfAbsent));
    },
    remove: async (name) => {
      const path = pathOf(name);
      await asked(() => rm(path, { force: true }));
    },
    writtenUntil: (question) => asked(() => writtenUntil(directory, question)),
    room: () => asked(() => roomIn(directory)),
  };
}

async function readPart(path: string, { from, to }: FilePart): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const bytes = Buffer.alloc(to - from);
    for (let read = 0; read < bytes.length; ) {
      const { bytesRead } = await file.read(bytes, read, bytes.length - read, from + read);
      if (bytesRead === 0) throw new Error('a kept result is shorter than its index says');
      read += bytesRead;
    }
    return bytes;
  } finally {
    await file.close();
  }
}

async function roomIn(directory: string): Promise<FilesRoom> {
  const names = (await readdir(directory).catch(nullIfAbsent)) ?? [];
  let usedBytes = 0;
  for (const name of names) usedBytes += (await stat(join(directory, name)).catch(nullIfAbsent))?.size ?? 0;
  const disk = (await statfs(directory).catch(nullIfAbsent)) ?? (await statfs(dirname(directory)));
  return { usedBytes, freeBytes: disk.bavail * disk.bsize };
}

async function writtenUntil(
  directory: string,
  { atMs, limit }: { readonly atMs: number; readonly limit: number },
): Promise<string[]> {
  const names = (await readdir(directory).catch(nullIfAbsent)) ?? [];
  const found: string[] = [];
  for (const name of names) {
    if (found.length === limit) break;
    const path = join(directory, name);
    const facts = await stat(path).catch(nullIfAbsent);
    if (facts === null || facts.mtimeMs > atMs) continue;
    if (isResultName(name)) found.push(name);
    else if (name.endsWith(UNFINISHED)) await rm(path, { force: true });
  }
  return found;
}

async function writeWhole(directory: string, path: string, bytes: Buffer): Promise<void> {
  await mkdir(directory, { recursive: true, mode: DIRECTORY_MODE });
  const unfinished = `${path}.${randomUUID()}${UNFINISHED}`;
  try {
    const file = await open(unfinished, 'wx', FILE_MODE);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncDirectory(directory);
}

/** A new name survives a power cut only when its directory was written. */
async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function asked<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof TypeError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    // Messages of the file system have paths.
    throw new ResultFilesUnavailable(new Error(`the file system says ${code}`), FULL.has(code));
  }
}

/** No space on the disk, or none that this user may have; a file that is larger than files may be. */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

function nullIfAbsent(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
  throw error;
}
