import { lchownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Whose files are, where we are root and the engine has a user of its own. */

/** Whether everything below a directory is known to be this user's: see `giveTo`. */
export function belongsTo(directory: string, id: number): boolean {
  return lstatSync(directory).uid === id;
}

/**
 * Makes a user the owner of a directory and of all below it. The directory itself is last: when it is the user's, everything is,
 * and nothing has to be looked through. Links are not followed.
 */
export function giveTo(directory: string, id: number): void {
  if (!belongsTo(directory, id)) give(directory, id);
}

function give(path: string, id: number): void {
  const found = lstatSync(path);
  if (found.isDirectory()) for (const name of readdirSync(path)) give(join(path, name), id);
  if (found.uid !== id) lchownSync(path, id, id);
}

/** Makes this process the owner of all below a directory that an engine's own user has written to. Only root has to and can. */
export function takeAll(directory: string): void {
  const me = process.geteuid?.();
  if (me !== 0) return;
  for (const name of readdirSync(directory)) give(join(directory, name), me);
}
