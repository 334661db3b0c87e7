import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { checkedName, isResultName, type ResultFiles, ResultFilesUnavailable } from './result-files.ts';

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
    read: async (name) => {
      const path = pathOf(name);
      return asked(() => readFile(path).catch(nullIfAbsent));
    },
    remove: async (name) => {
      const path = pathOf(name);
      await asked(() => rm(path, { force: true }));
    },
    writtenUntil: (question) => asked(() => writtenUntil(directory, question)),
  };
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
    throw error instanceof TypeError ? error : new ResultFilesUnavailable(codeOf(error));
  }
}

/** Messages of the file system have paths. */
function codeOf(error: unknown): Error {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  return new Error(`the file system says ${code}`);
}

function nullIfAbsent(error: unknown): null {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
  throw error;
}
