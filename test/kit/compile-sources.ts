import { existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inject } from 'vitest';
import { compileTree, PROGRAM_FOLDERS } from '../../scripts/compile-tree.mjs';

/**
 * The sources as JavaScript, so that a process that is started dozens of times starts in a fraction of the time that it takes from
 * its sources. The first caller in a run makes it, for all that come after. Types are not checked here. Answers the directory,
 * in which everything stands where it does in the repository.
 */
export function compiledSources(): string {
  const directory = join(inject('scratch'), 'compiled');
  if (existsSync(directory)) return directory;
  const making = mkdtempSync(join(inject('scratch'), 'compiling-'));
  compileTree(making, [...PROGRAM_FOLDERS, 'test/kit']);
  try {
    // Whole or not at all, for those that look at the same time.
    renameSync(making, directory);
  } catch (error) {
    rmSync(making, { recursive: true });
    if (!existsSync(directory)) throw error;
  }
  return directory;
}

/** A module of the compiled program. The processes that it starts run compiled too: from the sources each costs a second of a core more. */
export function importCompiled<Module>(path: string): Promise<Module> {
  return import(pathToFileURL(join(compiledSources(), path)).href) as Promise<Module>; // the caller names the source as its type
}
