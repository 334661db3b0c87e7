import { accessSync, constants, statfsSync } from 'node:fs';

const SHARED_MEMORY = '/dev/shm';
/** Several times what the engines of a run hold; containers often get 64 MiB. */
const FREE_BYTES_MIN = 4 * 1024 ** 3;

/**
 * Makes memory the place of temporary files of this process and its children, when there is room for a test run and nobody
 * named a place. Every insert of the engine syncs a dozen files, and on a disk with other users that waiting is most of the
 * time of a run. No guarantee is lost: what a killed process wrote stays with the kernel either way, and no test cuts the power.
 */
export function keepTemporaryFilesInMemory(): void {
  if (process.env['TMPDIR'] === undefined && hasRoom()) process.env['TMPDIR'] = SHARED_MEMORY;
}

function hasRoom(): boolean {
  try {
    accessSync(SHARED_MEMORY, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize >= FREE_BYTES_MIN;
  } catch {
    return false;
  }
}
