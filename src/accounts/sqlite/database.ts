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
import { dirname } from 'node:path';
import type Database from 'libsql';
import { StoreUnavailable } from '../store.ts';
import { NewerStore } from './failures.ts';
import { sqliteLibrary } from './library.ts';

/** The file holds digests of keys and what every organization does: nobody else on the machine may read it. */
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const MODE_BITS = 0o777;
/** SQLite's own waiting polls ever more rarely, up to every 100 ms; the writer repeats a short wait instead. */
const WRITER_BUSY_TIMEOUT_MS = 50;
/** A reader waits only while another process opens or recovers the file. */
export const READER_BUSY_TIMEOUT_MS = 1_000;
const MIGRATIONS_DIRECTORY = new URL('./migrations/', import.meta.url);

/** Opens the file for writing, made and brought up to date as needed. Throws what libsql throws, and `NewerStore`. */
export function openForWriting(path: string): Database.Database {
  makeFile(path);
  const db = new (sqliteLibrary())(path);
  try {
    db.exec(`PRAGMA busy_timeout = ${WRITER_BUSY_TIMEOUT_MS}`);
    db.exec('PRAGMA foreign_keys = ON');
    useWriteAheadLog(db);
    // Every commit is on disk before it is answered; in WAL mode NORMAL would lose the last ones with the power.
    db.exec('PRAGMA synchronous = FULL');
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
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

/** SQLite would make the file readable to all; it gives its WAL the mode of the file. */
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
      throw new NewerStore(
        `the control store was written by a newer version of this program: its schema is ${version}, the newest known here is ${scripts.length}`,
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
export function schemaVersion(db: Database.Database): number {
  const row = db.prepare('PRAGMA user_version').get() as { readonly user_version: number };
  return row.user_version;
}
