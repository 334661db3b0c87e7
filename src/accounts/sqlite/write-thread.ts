import { parentPort, workerData } from 'node:worker_threads';
import type Database from 'libsql';
import { type Failure, failureOf, isBusy, openForWriting } from './database.ts';
import { isLastingChange } from './lasting.ts';
import { createWrites, type WriteRequest, type Writes } from './writes.ts';

/** Entry of the thread that writes: takes batches, commits them, answers. It waits for the disk so that the event loop does not. */

/** The thread gets this at its start. */
export interface WriteThreadData {
  readonly path: string;
}

/** A batch, or the order to close the file and end. */
export type ToWriteThread = { readonly requests: readonly WriteRequest[] } | { readonly close: true };

/** The outcomes of a batch, in its order. */
export type FromWriteThread = readonly WriteOutcome[];

export type WriteOutcome = { readonly answer: unknown } | { readonly failure: Failure };

/** How long a batch waits for a lock that another process holds. */
const BUSY_TIMEOUT_MS = 10_000;
/** The pause is random, so that two processes do not collide again and again. */
const BUSY_PAUSE_MS_MAX = 5;

interface Connection {
  readonly db: Database.Database;
  readonly writes: Writes;
  /** Whether the next transaction waits for the disk. To be called between transactions only: SQLite ignores it within one. */
  syncWhen(lasting: boolean): void;
}

interface Committer {
  /** Runs all in one transaction with at most one fsync. A request that throws undoes only itself. */
  commit(requests: readonly WriteRequest[]): WriteOutcome[];
  close(): void;
}

/**
 * The one connection that writes. It is opened by the first batch and, after any trouble with the file, again by the next one.
 * Throws only when a transaction can neither be ended nor undone: then the thread must go, and the connection with it.
 */
function createCommitter(path: string): Committer {
  let open: Connection | undefined;

  const attempt = (requests: readonly WriteRequest[]): WriteOutcome[] => {
    open ??= openWith(path);
    const { db, writes } = open;
    open.syncWhen(requests.some(isLastingChange));
    db.exec('BEGIN IMMEDIATE');
    const outcomes = requests.map((request) => runOne(db, writes, request));
    db.exec('COMMIT');
    return outcomes;
  };

  const abandon = (keepOpen: boolean): void => {
    if (open?.db.inTransaction) open.db.exec('ROLLBACK');
    if (keepOpen) return;
    open?.db.close();
    open = undefined;
  };

  return {
    commit: (requests) => {
      const giveUpAtMs = performance.now() + BUSY_TIMEOUT_MS;
      for (;;) {
        try {
          return attempt(requests);
        } catch (error) {
          const busy = isBusy(error);
          abandon(busy);
          if (!busy || performance.now() > giveUpAtMs) {
            const failure = failureOf(error);
            return requests.map(() => ({ failure }));
          }
          pause(Math.random() * BUSY_PAUSE_MS_MAX);
        }
      }
    },
    close: () => {
      abandon(false);
    },
  };
}

function openWith(path: string): Connection {
  const db = openForWriting(path);
  let syncs = true;
  const syncWhen = (lasting: boolean): void => {
    if (lasting === syncs) return;
    db.exec(`PRAGMA synchronous = ${lasting ? 'FULL' : 'NORMAL'}`);
    syncs = lasting;
  };
  try {
    return { db, writes: createWrites(db), syncWhen };
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Throws only when SQLite undid the whole transaction, as it does for a full disk. */
function runOne(db: Database.Database, writes: Writes, request: WriteRequest): WriteOutcome {
  db.exec('SAVEPOINT request');
  try {
    // The name and the argument were paired by `WriteRequest` on the other side.
    const write = writes[request.name] as (argument: unknown) => unknown;
    const answer = write(request.argument);
    db.exec('RELEASE request');
    return { answer };
  } catch (error) {
    const failure = failureOf(error);
    if (failure.kind === 'unavailable' || !db.inTransaction) throw error;
    db.exec('ROLLBACK TO request');
    db.exec('RELEASE request');
    return { failure };
  }
}

/** This thread does nothing else, so it may sleep. */
function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

if (parentPort === null) throw new Error('the write thread is started by the write queue');
const port = parentPort;
// Made by the write queue from the same type.
const { path } = workerData as WriteThreadData;
const committer = createCommitter(path);

port.on('message', (message: ToWriteThread) => {
  if ('requests' in message) {
    const outcomes: FromWriteThread = committer.commit(message.requests);
    port.postMessage(outcomes);
    return;
  }
  committer.close();
  port.close();
});
