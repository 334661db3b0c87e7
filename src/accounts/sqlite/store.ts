import type { Log } from '../../../core/log.ts';
import type { AccountStore } from '../account-store.ts';
import { createMemoryRates } from '../memory-rates.ts';
import type { PaymentStore } from '../payment-store.ts';
import { type ControlStore, StoreUnavailable } from '../store.ts';
import type { UnitStore } from '../unit-store.ts';
import { errorOf, failureOf } from './failures.ts';
import { openReads, type Reads } from './reads.ts';
import { createWriteQueue, type WriteQueue } from './write-queue.ts';

/**
 * The control store in one SQLite file, for one API process on one machine; other processes (`npm run admin`) may open the file at
 * the same time. A thread makes every change, so that the event loop never waits for the disk; the calling thread reads through
 * a connection of its own, which sees every change that was answered. Rates are counted in this process's memory.
 *
 * Opening never fails: what cannot be opened or written rejects with `StoreUnavailable` (`OtherVersion` when a newer version
 * of this program wrote it), and is tried again with every call.
 */
export function openSqliteStore(options: { readonly path: string; readonly log?: Log }): ControlStore {
  const queue = createWriteQueue(options);
  const reader = createReader(options.path, queue);
  const rates = createMemoryRates();
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    reader.close();
    await queue.close();
  };
  return {
    accounts: accountStore(queue, reader),
    units: unitStore(queue, reader),
    payments: paymentStore(queue, reader),
    rates: {
      take: (request) => (closed === undefined ? rates.take(request) : Promise.reject(closedError())),
      giveBack: (taken) => (closed === undefined ? rates.giveBack(taken) : Promise.reject(closedError())),
    },
    replies: {
      begin: (request) => queue.write('beginReply', request),
      finish: (reply) => queue.write('finishReply', reply),
    },
    ping: () => queue.write('ping', null),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
}

function accountStore(queue: WriteQueue, reader: Reader): AccountStore {
  return {
    createOrganization: (organization) => queue.write('createOrganization', organization),
    changePlan: (change) => queue.write('changePlan', change),
    findOrganization: (id) => reader.ask((reads) => reads.findOrganization(id)),
    listOrganizations: (page) => reader.ask((reads) => reads.listOrganizations(page)),
    addKey: (key) => queue.write('addKey', key),
    revokeKey: (key) => queue.write('revokeKey', key),
    listKeys: (page) => reader.ask((reads) => reads.listKeys(page)),
    findKey: (digest) => reader.ask((reads) => reads.findKey(digest)),
  };
}

function unitStore(queue: WriteQueue, reader: Reader): UnitStore {
  return {
    grant: (grant) => queue.write('grant', grant),
    hold: (hold) => queue.write('hold', hold),
    capture: (capture) => queue.write('capture', capture),
    release: (release) => queue.write('release', release),
    overdueHolds: (question) => reader.ask((reads) => reads.overdueHolds(question)),
    balance: (organizationId) => reader.ask((reads) => reads.balance(organizationId)),
    ledger: (page) => reader.ask((reads) => reads.ledger(page)),
  };
}

function paymentStore(queue: WriteQueue, reader: Reader): PaymentStore {
  return {
    find: (id) => reader.ask((reads) => reads.findPayment(id)),
    claim: (claim) => queue.write('claim', claim),
    recordSettlement: (settlement) => queue.write('recordSettlement', settlement),
    leaveOpen: (left) => queue.write('leaveOpen', left),
    dropClaim: (id) => queue.write('dropClaim', id),
    beginServing: (serving) => queue.write('beginServing', serving),
    finishServing: (finish) => queue.write('finishServing', finish),
    unresolved: (question) => reader.ask((reads) => reads.unresolved(question)),
    issueKey: (issue) => queue.write('issueKey', issue),
  };
}

interface Reader {
  ask<Answer>(question: (reads: Reads) => Answer): Promise<Answer>;
  close(): void;
}

/** The connection is opened by the first question, after the writing thread made the file, and again after any trouble. */
function createReader(path: string, queue: WriteQueue): Reader {
  let reads: Reads | undefined;
  let closed = false;
  const drop = (): void => {
    reads?.close();
    reads = undefined;
  };
  const answer = <Answer>(question: (reads: Reads) => Answer): Answer => {
    if (closed) throw closedError();
    try {
      reads ??= openReads(path);
      return question(reads);
    } catch (error) {
      drop();
      throw errorOf(failureOf(error));
    }
  };
  return {
    ask: async (question) => {
      if (reads === undefined) await queue.write('ping', null);
      return answer(question);
    },
    close: () => {
      closed = true;
      drop();
    },
  };
}

function closedError(): StoreUnavailable {
  return new StoreUnavailable(new Error('the control store is closed'));
}
