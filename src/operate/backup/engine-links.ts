import { lstatSync, mkdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { backupsDirOf } from '../../../clickhouse/embedded/users.ts';
import { UserError } from '../../../core/user-error.ts';
import { type EngineManifest, type Manifest, readManifest } from './manifest.ts';

/**
 * How an engine that this command has started reaches a directory of the user's: it was given that directory to borrow, and finds it
 * by a link in the one where it looks for backups. So nothing is copied twice. The engine of a running service has borrowed nothing:
 * engine-staging.ts.
 */

/** A backup with the ones it adds to, newest first. */
export type Chain = readonly { readonly directory: string; readonly manifest: Manifest }[];

/** More would mean a ring. */
const CHAIN_MAX = 100;

/** Where the engine's part of a backup lies. */
export function engineDirectory(directory: string): string {
  return join(directory, 'engine');
}

/** Follows a backup to the whole one at its end. Throws `UserError` when one is missing or another. */
export function readChain(directory: string): Chain {
  const chain: { directory: string; manifest: Manifest }[] = [];
  let next: string | null = resolve(directory);
  let expected: string | null = null;
  while (next !== null) {
    const manifest: Manifest = readManifest(next);
    if (expected !== null && manifest.id !== expected)
      throw new UserError(`${next} is not the backup ${expected} that is needed there`);
    chain.push({ directory: next, manifest });
    if (chain.length > CHAIN_MAX) throw new UserError('these backups lead in a ring');
    const base: EngineManifest['base'] = manifest.engine?.base ?? null;
    expected = base?.id ?? null;
    next = base === null ? null : resolve(next, base.directory);
  }
  return chain;
}

/** Makes the links and answers how to remove them. `dataDir` is the engine's own. */
export function linkBackups(
  dataDir: string,
  links: readonly { readonly id: string; readonly directory: string }[],
): () => void {
  const made: string[] = [];
  const remove = (): void => {
    for (const path of made) rmSync(path, { force: true });
  };
  try {
    mkdirSync(backupsDirOf(dataDir), { recursive: true, mode: 0o700 });
    for (const { id, directory } of links) {
      const path = join(backupsDirOf(dataDir), id);
      // One that a killed command left behind.
      if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(path);
      symlinkSync(realpathSync(directory), path);
      made.push(path);
    }
    return remove;
  } catch (error) {
    remove();
    throw error;
  }
}
