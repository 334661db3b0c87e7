import { OtherVersion, StoreUnavailable } from '../store.ts';
import { NEWER_ADVICE } from './database.ts';

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
