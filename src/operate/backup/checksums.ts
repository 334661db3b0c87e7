import { createHash } from 'node:crypto';
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../core/user-error.ts';
import { type FileEntry, syncPath } from './manifest.ts';

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
