import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** A directory that the demo may fill and remove. */
export interface DataDir {
  readonly path: string;
  remove(): void;
}

const NAME = 'demo-data';
const MARKER = '.made-by-settlement-index-demo';

/**
 * Makes a fresh `demo-data/` in the working directory. What a former demo left there is removed: its chain is gone, so its
 * rows are about nothing. Throws when the directory is somebody else's, or belongs to a demo that is still running.
 */
export function freshDataDir(): DataDir {
  const path = resolve(NAME);
  const marker = join(path, MARKER);
  if (existsSync(path)) {
    if (!existsSync(marker))
      throw new Error(
        `${path} was not made by the demo, so it is not removed; move it away or start elsewhere`,
      );
    const owner = Number(readFileSync(marker, 'utf8'));
    if (isRunning(owner))
      throw new Error(
        `a demo is already running here (process ${owner}); stop it or start in another directory`,
      );
    rmSync(path, { recursive: true, force: true });
  }
  mkdirSync(path);
  writeFileSync(marker, `${process.pid}\n`);
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function isRunning(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'; // it runs, under another user
  }
}
