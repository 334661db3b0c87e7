import type { Log } from '../../../core/log.ts';
import type { AccountStore } from '../account-store.ts';
import type { JobStore } from '../job-store.ts';
import { createMemoryRates } from '../memory-rates.ts';
import type { OwnTableStore } from '../own-table-store.ts';
import type { PaymentStore } from '../payment-store.ts';
import type { ResultStore } from '../result-store.ts';
import type { RefreshStore, SavedQueryStore } from '../saved-query-store.ts';
import { type ControlStore, StoreUnavailable } from '../store.ts';
import type { UnitStore } from '../unit-store.ts';
import type { UsageStore } from '../usage-store.ts';
import { errorOf, failureOf } from './database.ts';
import { openReads, type Reads } from './reads.ts';
import { createUnitChanges, type UnitChanges } from './unit-changes.ts';
import { createWriteQueue, type WriteQueue } from './write-queue.ts';

/**
 * The control store in one SQLite file, for one API process on one machine; other processes (`npm run admin`) may open the file at
 * the same time. A thread makes every change that waits for the disk, so that the event loop never does; the calling thread reads through
 * a connection of its own, which sees every change that was answered. Rates are counted in this process's memory.
 *
 * Opening never fails: what cannot be opened or written rejects with `StoreUnavailable` (`OtherVersion` when a newer version
 * of this program wrote it), and is tried again with every call.
 */
export function openSqliteStore(options: { readonly path: string; readonly log?: Log }): ControlStore {
  const queue = createWriteQueue(options);
  const reader = createReader(options.path, queue);
  const units = createUnitChanges(options.path, queue);
  const rates = createMemoryRates();
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    reader.close();
    units.close();
    await queue.close();
  };
  return {
    accounts: accountStore(queue, reader),
    units: unitStore({ queue, reader, units }),
    payments: paymentStore(queue, reader),
    usage: usageStore(queue, reader),
    rates: {
      take: (request) => (closed === undefined ? rates.take(request) : Promise.reject(closedError())),
    },
    replies: {
      begin: (request) => queue.write('beginReply', request),
      finish: (reply) => queue.write('finishReply', reply),
    },
    jobs: jobStore(queue, reader),
    results: resultStore(queue, reader),
    shares: {
      add: (share) => queue.write('addShare', share),
      find: (id) => reader.ask((reads) => reads.findShare(id)),
      list: (of) => reader.ask((reads) => reads.listShares(of)),
      revoke: (share) => queue.write('revokeShare', share),
    },
    saved: savedQueryStore(queue, reader),
    refreshes: refreshStore(queue, reader),
    ownTables: ownTableStore(queue, reader),
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
    changeKey: (change) => queue.write('changeKey', change),
    revokeKey: (key) => queue.write('revokeKey', key),
    listKeys: (page) => reader.ask((reads) => reads.listKeys(page)),
    findKey: (digest) => reader.ask((reads) => reads.findKey(digest)),
    keyEvents: (page) => reader.ask((reads) => reads.keyEvents(page)),
  };
}

function unitStore({
  queue,
  reader,
  units,
}: {
  readonly queue: WriteQueue;
  readonly reader: Reader;
  readonly units: UnitChanges;
}): UnitStore {
  return {
    grant: (grant) => queue.write('grant', grant),
    grantSale: (sale) => queue.write('grantSale', sale),
    hold: units.hold,
    capture: units.capture,
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

function usageStore(queue: WriteQueue, reader: Reader): UsageStore {
  return {
    count: (batch) => queue.write('count', batch),
    usage: (question) => reader.ask((reads) => reads.usage(question)),
    addQueries: (runs) => queue.write('addQueries', runs),
    queries: (page) => reader.ask((reads) => reads.queries(page)),
    forgetQueries: (forget) => queue.write('forgetQueries', forget),
  };
}

function jobStore(queue: WriteQueue, reader: Reader): JobStore {
  return {
    add: (job) => queue.write('addJob', job),
    claim: (claim) => queue.write('claimJob', claim),
    renew: (claim) => queue.write('renewJob', claim),
    putBack: (claim) => queue.write('putBackJob', claim),
    end: (claim) => queue.write('endJob', claim),
    cancel: (job) => queue.write('cancelJob', job),
    find: (job) => reader.ask((reads) => reads.findJob(job)),
    list: (page) => reader.ask((reads) => reads.listJobs(page)),
    unfinished: (organizationId) => reader.ask((reads) => reads.unfinishedJobs(organizationId)),
    forget: (old) => queue.write('forgetJobs', old),
  };
}

function resultStore(queue: WriteQueue, reader: Reader): ResultStore {
  return {
    add: (result) => queue.write('addResult', result),
    allow: (asked) => queue.write('allowResult', asked),
    find: (question) => reader.ask((reads) => reads.findResult(question)),
    mayRead: (asked) => reader.ask((reads) => reads.mayRead(asked)),
    newest: (question) => reader.ask((reads) => reads.newest(question)),
    paidBy: (page) => reader.ask((reads) => reads.paidBy(page)),
    expired: (question) => reader.ask((reads) => reads.expired(question)),
    remove: (id) => queue.write('removeResult', id),
  };
}

function savedQueryStore(queue: WriteQueue, reader: Reader): SavedQueryStore {
  return {
    claimHandle: (claim) => queue.write('claimHandle', claim),
    handle: (question) => reader.ask((reads) => reads.handle(question)),
    put: (query) => queue.write('putQuery', query),
    find: (query) => reader.ask((reads) => reads.findQuery(query)),
    list: (page) => reader.ask((reads) => reads.listSaved(page)),
    versions: (query) => reader.ask((reads) => reads.versions(query)),
    listings: (page) => reader.ask((reads) => reads.listings(page)),
    remove: (query) => queue.write('removeQuery', query),
  };
}

function refreshStore(queue: WriteQueue, reader: Reader): RefreshStore {
  return {
    claim: (claim) => queue.write('claimRefresh', claim),
    pause: (paused) => queue.write('pauseRefresh', paused),
    finish: (ended) => queue.write('finishRefresh', ended),
    runs: (query) => reader.ask((reads) => reads.refreshRuns(query)),
  };
}

function ownTableStore(queue: WriteQueue, reader: Reader): OwnTableStore {
  return {
    put: (table) => queue.write('putOwnTable', table),
    list: (organizationId) => reader.ask((reads) => reads.listOwnTables(organizationId)),
    content: (table) => reader.ask((reads) => reads.ownContent(table)),
    remove: (table) => queue.write('removeOwnTable', table),
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
