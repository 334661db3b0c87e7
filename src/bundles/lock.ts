import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../core/user-error.ts';

/**
 * One run at a time writes into a directory of bundles: two would each add to the manifest that they read. The file is touched while
 * its run lives, so that one that a killed run left behind is taken over: at once on the same machine, else when it is old.
 */

const LOCK_FILE = 'bundle.lock';
const TOUCH_EVERY_MS = 5_000;
const ABANDONED_AFTER_MS = 60_000;

/** Throws `UserError` while another run is at work. The function that it gives ends the lock. */
export function lockBundles(directory: string): () => void {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, LOCK_FILE);
  const mine = JSON.stringify({ id: randomUUID(), host: hostname(), pid: process.pid });
  for (let tries = 0; ; tries++) {
    if (tryToWrite(path, mine)) break;
    if (tries > 0 || !isAbandoned(path))
      throw new UserError(
        `another run of bundle is at work in ${directory}; if there is none, remove ${LOCK_FILE} there or wait a minute`,
      );
    rmSync(path, { force: true });
  }
  const touching = setInterval(() => touch(path), TOUCH_EVERY_MS);
  touching.unref();
  return () => {
    clearInterval(touching);
    if (readOwner(path) === mine) rmSync(path, { force: true });
  };
}

function tryToWrite(path: string, owner: string): boolean {
  try {
    writeFileSync(path, owner, { flag: 'wx' });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

function touch(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // It was removed by hand: the run goes on, and another one may begin.
  }
}

function isAbandoned(path: string): boolean {
  const owner = readOwner(path);
  const touchedMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (owner === null || touchedMs === undefined) return true;
  if (Date.now() - touchedMs > ABANDONED_AFTER_MS) return true;
  const { host, pid } = ownerOf(owner);
  return host === hostname() && pid !== undefined && !isAlive(pid);
}

function readOwner(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function ownerOf(text: string): { readonly host?: string; readonly pid?: number } {
  try {
    return JSON.parse(text) as { host?: string; pid?: number }; // our own file
  } catch {
    return {}; // killed while it wrote: it is taken over when it is old
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
