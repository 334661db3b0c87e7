import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { backupsDirOf } from '../../../clickhouse/embedded/users.ts';
import { UserError } from '../../../core/user-error.ts';
import { type EngineManifest, filesBelow, type Manifest, readManifest } from './manifest.ts';

/**
 * How an engine that this command has started reaches a directory of the user's: it was given that directory to borrow, and finds it
 * by a link in the one where it looks for backups. So nothing is copied twice. The engine of a running service has borrowed nothing:
 * engine-staging.ts.
 */

/** A backup with the ones it adds to, newest first. */
export type Chain = readonly { readonly directory: string; readonly manifest: Manifest }[];

/** A longer chain must be a cycle. */
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

/**
 * How a backup leaves the engine of a running service, which can write nowhere but in its own directory (clickhouse/embedded/walls.ts):
 * it is written there, part by part, and each part is moved away when it is whole. On one file system that moves no byte; to another one
 * the disk of the data needs room for the largest part.
 */
export interface Staging {
  /** Where parts are until they are moved. */
  readonly directory: string;
  /** Moves the parts that are there; they are whole. */
  move(): void;
  /** Removes the rest, also after a failure. */
  clear(): void;
}

/** What the engine reads of a backup that another one adds to: its list of files, and none of them. */
const LIST = '.backup';
/** Readable for other users: the engine may have a user of its own, and the directory above lets no other user pass. */
const STAGED_MODE = 0o755;

/** `home` is the engine's own directory, `into` where the backup goes; `bases` are the backups that it adds to. */
export function stageBackup(
  home: string,
  order: {
    readonly id: string;
    readonly into: string;
    readonly bases: readonly { readonly id: string; readonly directory: string }[];
  },
): Staging {
  const { id, into, bases } = order;
  const directory = join(backupsDirOf(home), id);
  const staged = [directory, ...bases.map((base) => join(backupsDirOf(home), base.id))];
  const clear = (): void => {
    for (const path of staged) rmSync(path, { recursive: true, force: true });
  };
  try {
    for (const base of bases) copyLists(base.directory, join(backupsDirOf(home), base.id));
  } catch (error) {
    clear();
    throw error;
  }
  return { directory, move: () => moveAll(directory, into), clear };
}

function copyLists(from: string, to: string): void {
  for (const path of filesBelow(from).filter((each) => each.endsWith(LIST))) {
    mkdirSync(dirname(join(to, path)), { recursive: true, mode: STAGED_MODE });
    cpSync(join(from, path), join(to, path));
  }
}

/** Also into a directory that has a part of the same name: the parts of shards lie one below the other. */
function moveAll(from: string, to: string): void {
  if (!existsSync(from)) return;
  for (const name of readdirSync(from)) moveOne(join(from, name), join(to, name));
}

function moveOne(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EXDEV')) throw error;
    cpSync(from, to, { recursive: true });
    rmSync(from, { recursive: true });
  }
}
