import { createRequire } from 'node:module';
import type Database from 'libsql';
import { isMissingPackage, MissingPackage } from '../../../core/user-error.ts';

const load = createRequire(import.meta.url);

/**
 * The SQLite library. Its binary is an optional package for each platform, and loading the library fails without it, so it is loaded by
 * the first that opens a file: accounts in Redis do without it. Throws `MissingPackage`.
 */
export function sqliteLibrary(): typeof Database {
  try {
    return load('libsql') as typeof Database; // what the package exports
  } catch (cause) {
    if (!isMissingPackage(cause)) throw cause;
    throw new MissingPackage({
      purpose: 'Keeping accounts in a SQLite file',
      packages: `@libsql/* (the one for ${process.platform}-${process.arch})`,
      otherwise: 'Or keep the accounts in Redis: set REDIS_URL.',
      cause,
    });
  }
}
