import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';
/** Several times what the engines of a run hold; containers often get 64 MiB. */
const FREE_BYTES_MIN = 4 * 1024 ** 3;

const DIRECTORY_MODE = 0o711;

/** Names the directory of this run to its workers, which read the configuration as well. */
const RUN_DIRECTORY = 'TEST_RUN_DIRECTORY';

/**
 * Makes a directory of its own the place of temporary files of this run and its children: what tests leave lying there is removed
 * with it. In memory, when there is room for a test run and no variable names a place: every insert of the engine syncs a dozen files, and
 * on a disk with other users that waiting is most of the time of a run. No guarantee is lost: what a killed process wrote stays
 * with the kernel either way, and no test cuts the power.
 */
export function keepTemporaryFilesTogether(): void {
  // Knip reads the configuration too, and runs nothing.
  if (process.env['VITEST'] === undefined || process.env[RUN_DIRECTORY] !== undefined) return;
  const place = process.env['TMPDIR'] === undefined && hasRoom() ? SHARED_MEMORY : tmpdir();
  const directory = mkdtempSync(join(place, 'test-run-'));
  // Engines that root starts run as a user of their own, who has to pass it.
  chmodSync(directory, DIRECTORY_MODE);
  process.env[RUN_DIRECTORY] = directory;
  process.env['TMPDIR'] = directory;
}

/** For the end of the run, when nothing runs any more. */
export function removeTemporaryFiles(): void {
  const directory = process.env[RUN_DIRECTORY];
  if (directory !== undefined) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
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
