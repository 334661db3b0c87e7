import {
  chmodSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type Database from 'libsql';
import { isMissingPackage, MissingPackage } from '../../../core/user-error.ts';
import { OtherVersion, StoreUnavailable } from '../store.ts';

/** The file: how it is opened, brought up to date and copied. What its errors mean: failures.ts. */

const load = createRequire(import.meta.url);

/** The file holds digests of keys and the ledgers of all organizations: only its owner may read it. */
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const MODE_BITS = 0o777;
/** SQLite's own waiting polls ever more rarely, up to every 100 ms; the writer repeats a short wait instead. */
const WRITER_BUSY_TIMEOUT_MS = 50;
/** A reader waits only while another process opens or recovers the file. */
const READER_BUSY_TIMEOUT_MS = 1_000;
const MIGRATIONS_DIRECTORY = new URL('./migrations/', import.meta.url);

const NEWER_ADVICE =
  'Run the version that wrote it, or restore a backup of before into another data directory.';

/** Opens the file for writing, made and brought up to date as needed. Throws what libsql throws, and `OtherVersion`. */
export function openForWriting(path: string): Database.Database {
  makeFile(path);
  const db = new (sqliteLibrary())(path);
  try {
    db.exec(`PRAGMA busy_timeout = ${WRITER_BUSY_TIMEOUT_MS}`);
    db.exec('PRAGMA foreign_keys = ON');
    useWriteAheadLog(db);
    // Every commit is on disk before it is answered; in WAL mode NORMAL would lose the last ones with the power.
    db.exec('PRAGMA synchronous = FULL');
    // A query that its caller has forgotten is overwritten, not only left out.
    db.exec('PRAGMA secure_delete = ON');
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Opens a file that `openForWriting` has made, for changes that need not outlive the machine. It never waits: a lock that is taken is
 * an error at once, and copying the log into the file, which syncs, is left to the other connections.
 */
export function openWithoutWaiting(path: string): Database.Database {
  const db = new (sqliteLibrary())(path);
  db.exec('PRAGMA busy_timeout = 0');
  db.exec('PRAGMA foreign_keys = ON');
  db.exec('PRAGMA synchronous = NORMAL');
  db.exec('PRAGMA wal_autocheckpoint = 0');
  return db;
}

/** Opens a file that `openForWriting` has made. Every statement sees all that was committed before it began. */
export function openForReading(path: string): Database.Database {
  const db = new (sqliteLibrary())(path);
  db.exec(`PRAGMA busy_timeout = ${READER_BUSY_TIMEOUT_MS}`);
  // libsql knows no `readonly` option.
  db.exec('PRAGMA query_only = ON');
  return db;
}

/** Readers never wait for the writer then, nor it for them. Some file systems cannot, and SQLite only says so in its answer. */
function useWriteAheadLog(db: Database.Database): void {
  const row = db.prepare('PRAGMA journal_mode = WAL').get() as { readonly journal_mode: string };
  if (row.journal_mode !== 'wal') {
    throw new StoreUnavailable(new Error('the file system of the control store cannot share memory (WAL)'));
  }
}

/** SQLite would create it readable for everyone. Its WAL gets the mode of the file. */
function makeFile(path: string): void {
  const directory = dirname(path);
  mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
  const known = statSync(path, { throwIfNoEntry: false });
  if (known === undefined) {
    closeSync(openSync(path, 'a', FILE_MODE));
    syncDirectory(directory);
  } else if (known.isFile() && (known.mode & MODE_BITS) !== FILE_MODE) {
    chmodSync(path, FILE_MODE);
  }
}

/** A new file's name survives a power cut only when its directory was written. */
function syncDirectory(directory: string): void {
  const handle = openSync(directory, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Applies the numbered files that the database has not seen, all or none; two processes may try at once. */
function migrate(db: Database.Database): void {
  const scripts = migrations();
  if (schemaVersion(db) === scripts.length) return;
  db.exec('BEGIN IMMEDIATE');
  try {
    const version = schemaVersion(db);
    if (version > scripts.length) {
      throw new OtherVersion(
        `the control store was written by a newer version of this program: its schema is ${version}, the newest known here is ${scripts.length}`,
        NEWER_ADVICE,
      );
    }
    for (const script of scripts.slice(version)) db.exec(script);
    db.exec(`PRAGMA user_version = ${scripts.length}`);
    db.exec('COMMIT');
  } catch (error) {
    if (db.inTransaction) db.exec('ROLLBACK');
    throw error;
  }
}

/** The number of the newest migration of this program. */
export function newestSchema(): number {
  return migrations().length;
}

/** In order; the number of a file is its place. */
function migrations(): string[] {
  return readdirSync(MIGRATIONS_DIRECTORY)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((name) => readFileSync(new URL(name, MIGRATIONS_DIRECTORY), 'utf8'));
}

/** The number of the last migration that a database has seen. */
function schemaVersion(db: Database.Database): number {
  const row = db.prepare('PRAGMA user_version').get() as { readonly user_version: number };
  return row.user_version;
}

/**
 * The SQLite library. Its binary is an optional package for each platform, without which loading it fails; so it is loaded when the
 * first file is opened, and accounts in Redis do without it. Throws `MissingPackage`.
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

/** What a copy of the store holds. */
interface CopiedStore {
  /** Of its tables: the number of the last migration. */
  readonly schema: number;
  readonly organizations: number;
  readonly ledgerRows: number;
  readonly payments: number;
}

/**
 * Copies a database while other processes use it: the one statement sees one state of it, and the copy needs no write-ahead log.
 * `target` must not exist. Throws what libsql throws.
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
  forgetTexts(target);
  return inspectCopy(target);
}

/** A copy has no texts of queries, so that what a caller has forgotten is in no backup. Their bytes are overwritten. */
function forgetTexts(path: string): void {
  const db = new (sqliteLibrary())(path);
  try {
    db.exec('PRAGMA secure_delete = ON');
    const table = db.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'query_run'`).get();
    // A file of an earlier version has none.
    if (table !== undefined) db.exec('DELETE FROM query_run');
  } finally {
    db.close();
  }
}

/** Throws when the file is not a whole database of ours. */
function inspectCopy(path: string): CopiedStore {
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

/** A failure in a form that crosses a thread. */
export interface Failure {
  /** range: a bug of the caller that the port names. bug: one that it does not. */
  readonly kind: 'unavailable' | 'newer' | 'range' | 'bug';
  readonly message: string;
}

/** SQLite's result codes (sqlite.org/rescode.html); the low byte of an extended code is the code. */
const SQLITE_BUSY = 5;
const SQLITE_CONSTRAINT = 19;
const SQLITE_MISMATCH = 20;
const PRIMARY_CODE = 0xff;

/**
 * What an error of libsql, or of our own in a transaction, is to the caller. A broken constraint and a value that cannot be
 * bound are bugs; everything else that SQLite says is about its file. SQLite names columns in its messages, never values.
 */
export function failureOf(error: unknown): Failure {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof OtherVersion) return { kind: 'newer', message };
  if (error instanceof RangeError) return { kind: 'range', message };
  if (error instanceof StoreUnavailable) return { kind: 'unavailable', message };
  const code = resultCode(error);
  if (code === undefined && !isAboutTheFile(error, message)) return { kind: 'bug', message };
  const bug = code === SQLITE_CONSTRAINT || code === SQLITE_MISMATCH;
  return { kind: bug ? 'bug' : 'unavailable', message };
}

/** The failure as the port rejects with it. */
export function errorOf({ kind, message }: Failure): Error {
  switch (kind) {
    case 'unavailable':
      return new StoreUnavailable(new Error(message));
    case 'newer':
      return new OtherVersion(message, NEWER_ADVICE);
    case 'range':
      return new RangeError(message);
    case 'bug':
      return new Error(`the control store refused a change that its rules forbid: ${message}`);
  }
}

/** Another process holds the lock that is needed; it is free again soon. */
export function isBusy(error: unknown): boolean {
  return resultCode(error) === SQLITE_BUSY;
}

function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('rawCode' in error)) return undefined;
  return typeof error.rawCode === 'number' ? error.rawCode & PRIMARY_CODE : undefined;
}

/** Node's errors name the system call. libsql reports a file that it cannot open without a code, a closed one as a TypeError. */
function isAboutTheFile(error: unknown, message: string): boolean {
  if (error instanceof Error && 'syscall' in error) return true;
  return message.startsWith('ConnectionFailed') || message.includes('database connection is not open');
}
