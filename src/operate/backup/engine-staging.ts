import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { backupsDirOf } from '../../../clickhouse/embedded/users.ts';
import { filesBelow } from './checksums.ts';

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
  /** Removes what is left, also after a failure. */
  clear(): void;
}

/** What the engine reads of a backup that another one adds to: its list of files, and none of them. */
const LIST = '.backup';
/** Others than us may read them: the engine may have a user of its own, and nobody else can pass the directory above. */
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

/** Also into a directory that has a part of the same name: those of shards lie one below the other. */
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
