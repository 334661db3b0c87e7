import { chmodSync } from 'node:fs';
import { READER_BUSY_TIMEOUT_MS, schemaVersion } from './database.ts';
import { sqliteLibrary } from './library.ts';

/** What a copy of the store holds. */
export interface CopiedStore {
  /** Of its tables: the number of the last migration. */
  readonly schema: number;
  readonly organizations: number;
  readonly ledgerRows: number;
  readonly payments: number;
}

const FILE_MODE = 0o600;

/**
 * Copies a database that others read and write: one statement sees one state of it, and the copy is whole, without a log beside
 * it. `target` must not exist. Throws what libsql throws.
 */
export function copyDatabase(source: string, target: string): CopiedStore {
  // Not `openForReading`: a connection that may only query is refused its copy.
  const db = new (sqliteLibrary())(source);
  try {
    db.exec(`PRAGMA busy_timeout = ${READER_BUSY_TIMEOUT_MS}`);
    db.prepare('VACUUM INTO ?').run(target);
  } finally {
    db.close();
  }
  chmodSync(target, FILE_MODE);
  return inspectCopy(target);
}

/** Throws when the file is not a whole database of ours. */
export function inspectCopy(path: string): CopiedStore {
  const db = new (sqliteLibrary())(path);
  try {
    db.exec('PRAGMA query_only = ON');
    const said = db.prepare('PRAGMA integrity_check').get() as { readonly integrity_check: string };
    if (said.integrity_check !== 'ok') throw new Error('the copied database is damaged');
    const counted = (table: string): number =>
      (db.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { readonly n: number }).n;
    return {
      schema: schemaVersion(db),
      organizations: counted('organization'),
      ledgerRows: counted('ledger'),
      payments: counted('payment'),
    };
  } finally {
    db.close();
  }
}
