import { createHash } from 'node:crypto';
import { commandText } from '../../../core/command-text.ts';
import type { AuthorizationId } from '../payment-store.ts';
import { OtherVersion } from '../store.ts';
import type { RedisConnection } from './connection.ts';

/**
 * Names of the accounts' keys in Redis. All of them are on one node, so a script may change any of them together. Each begins
 * with the deployment's prefix and the number of this layout, then says its kind, then its owner.
 */
export const LAYOUT = 2;

/** What the layout's key holds while a backup is being put back. */
export const RESTORING = 'restoring';

export interface Names {
  /** What all names begin with, but `layout`. */
  readonly root: string;
  /** Which layout the accounts have: its number, or RESTORING. Has the same name in every layout. */
  readonly layout: string;
  /** Ids of all organizations, all of the score 0 and so in the order of their bytes. */
  readonly organizations: string;
  /** Ids of the keys without an organization, likewise. */
  readonly trialKeys: string;
  /** Ids of all keys by digest. */
  readonly keyDigests: string;
  /** Open holds of all organizations by the time they are overdue: what the sweeper reads. */
  readonly openHolds: string;
  /** Payments in `settling` by the end of their lease. */
  readonly settling: string;
  /** Its name, plan and units. */
  organization(id: string): string;
  ledger(organizationId: string): string;
  /** Ids of the grants that were made. */
  grants(organizationId: string): string;
  /** States of holds by id, in the form that hold.lua writes. */
  holds(organizationId: string): string;
  /** Resolved holds by the time they would have been overdue: which are forgotten first. */
  resolvedHolds(organizationId: string): string;
  /** Open holds that the append-only file does not have yet, in the form that hold.lua writes. */
  unloggedHolds(organizationId: string): string;
  /** Ids of the organization's keys, in order. */
  keysOf(organizationId: string): string;
  key(id: string): string;
  /** What was done to the organization's keys, newest last: rows that are there never move while a copy reads them. */
  keyEvents(organizationId: string): string;
  /** Counts of an account in a month, by the fields that capture.lua writes; what the names of all of its months begin with without `month`. */
  usage(owner: string, month?: string): string;
  /** Entries of the organization's runs of SQL, or of the runs of one key, in order. */
  queries(organizationId: string, keyId: string | null): string;
  /** A run by its entry. */
  query(organizationId: string, entry: string): string;
  /** Up to when runs were forgotten, of all keys and of single ones. */
  queriesForgotten(organizationId: string): string;
  payment(entry: string): string;
  rate(key: string): string;
  reply(scope: string, key: string): string;
  /** Ids of queued jobs by their time of creation, of running ones by the end of their lease, of ended ones by their end. */
  readonly queuedJobs: string;
  readonly runningJobs: string;
  readonly endedJobs: string;
  job(id: string): string;
  /** Ids of the organization's jobs, or of the jobs of one key, newest first. */
  jobsOf(organizationId: string, keyId: string | null): string;
  /** Ids of those that have not ended. */
  unfinishedJobs(organizationId: string): string;
  result(id: string): string;
  /** Organizations that may read it. */
  resultReaders(id: string): string;
  /** Ids of results by their time of creation. */
  resultsOfQuery(queryKey: string): string;
  /** Ids of the results that it paid for, newest first. */
  resultsOf(organizationId: string): string;
  /** Ids of all results by the time at which they expire. */
  readonly expiringResults: string;
  /** A link to a result. */
  share(id: string): string;
  /** Ids of the organization's links to a result. */
  sharesOf(organizationId: string, resultId: string): string;
  /** Ids of organizations by handle, and handles by skeleton. */
  readonly handles: string;
  readonly handleSkeletons: string;
  /** A query and all of its versions, by its entry (saved-queries.ts). */
  savedQuery(entry: string): string;
  /** Slugs of the organization's queries, in order. */
  savedQueriesOf(organizationId: string): string;
  /** `<handle> <slug> <organization>` of all public queries, in order. */
  readonly publicQueries: string;
  /** Entries of the queries that are refreshed, by the time at which they are looked at next. */
  readonly refreshes: string;
  /** Runs of a query, newest last. */
  refreshRuns(entry: string): string;
  /** A table of an organization's own, by its entry (own-tables.ts). */
  ownTable(entry: string): string;
  /** Sizes of the organization's tables by name. */
  ownTablesOf(organizationId: string): string;
}

export function namesOf(keyPrefix: string): Names {
  const root = `${keyPrefix}:accounts-${LAYOUT}:`;
  return {
    root,
    layout: `${keyPrefix}:accounts-layout`,
    organizations: `${root}organizations`,
    trialKeys: `${root}trial-keys`,
    keyDigests: `${root}key-digests`,
    openHolds: `${root}open-holds`,
    settling: `${root}settling`,
    organization: (id) => `${root}organization:${id}`,
    ledger: (organizationId) => `${root}ledger:${organizationId}`,
    grants: (organizationId) => `${root}grants:${organizationId}`,
    holds: (organizationId) => `${root}holds:${organizationId}`,
    resolvedHolds: (organizationId) => `${root}resolved-holds:${organizationId}`,
    unloggedHolds: (organizationId) => `${root}unlogged-holds:${organizationId}`,
    keysOf: (organizationId) => `${root}keys-of:${organizationId}`,
    key: (id) => `${root}key:${id}`,
    keyEvents: (organizationId) => `${root}key-events:${organizationId}`,
    usage: (owner, month = '') => `${root}usage:${encodeURIComponent(owner)}/${month}`,
    queries: (organizationId, keyId) => {
      const list = `${root}queries:${encodeURIComponent(organizationId)}/`;
      return keyId === null ? list : `${list}of/${encodeURIComponent(keyId)}`;
    },
    query: (organizationId, entry) => `${root}query:${encodeURIComponent(organizationId)}/${entry}`,
    queriesForgotten: (organizationId) => `${root}queries-forgotten:${organizationId}`,
    payment: (entry) => `${root}payment:${entry}`,
    rate: (key) => `${root}rate:${key}`,
    // The key comes from a caller and may be long.
    reply: (scope, key) =>
      `${root}reply:${createHash('sha256')
        .update(JSON.stringify([scope, key]))
        .digest('hex')}`,
    queuedJobs: `${root}queued-jobs`,
    runningJobs: `${root}running-jobs`,
    endedJobs: `${root}ended-jobs`,
    job: (id) => `${root}job:${id}`,
    jobsOf: (organizationId, keyId) =>
      keyId === null ? `${root}jobs-of:${organizationId}` : `${root}jobs-of-key:${keyId}`,
    unfinishedJobs: (organizationId) => `${root}unfinished-jobs:${organizationId}`,
    result: (id) => `${root}result:${id}`,
    resultReaders: (id) => `${root}result-readers:${id}`,
    resultsOfQuery: (queryKey) => `${root}results-of-query:${queryKey}`,
    resultsOf: (organizationId) => `${root}results-of:${organizationId}`,
    expiringResults: `${root}expiring-results`,
    share: (id) => `${root}share:${id}`,
    sharesOf: (organizationId, resultId) =>
      `${root}shares-of:${encodeURIComponent(organizationId)}/${resultId}`,
    handles: `${root}handles`,
    handleSkeletons: `${root}handle-skeletons`,
    savedQuery: (entry) => `${root}saved-query:${entry}`,
    savedQueriesOf: (organizationId) => `${root}saved-queries-of:${organizationId}`,
    publicQueries: `${root}public-queries`,
    refreshes: `${root}refreshes`,
    refreshRuns: (entry) => `${root}refresh-runs:${entry}`,
    ownTable: (entry) => `${root}own-table:${entry}`,
    ownTablesOf: (organizationId) => `${root}own-tables-of:${organizationId}`,
  };
}

/** A payment among those that are settling, and in its own name. Two different ids never become one entry. */
export function paymentEntry({ chain, asset, payer, nonce }: AuthorizationId): string {
  // Braces too, which only layout 1 needed: its payments keep their entries.
  const escaped = (text: string): string =>
    text.replace(/[%{}:]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return [chain, asset, payer, nonce].map(escaped).join(':');
}

/** A hold among the open ones of all organizations. Both ids are free texts. */
export function holdEntry(organizationId: string, holdId: string): string {
  return JSON.stringify([organizationId, holdId]);
}

export type RedisRun = RedisConnection['run'];

/** Names in the layout of earlier versions that are there while any account is, behind the prefix. */
const LAYOUT_1_NAME = /^\{(?:org:|pay:|key:|key-id:|reply:|organizations\}|trial-keys\})/;

/** Which layout the accounts under the prefix have, as the layout's key says it; null where there are none. */
export async function layoutIn(run: RedisRun, keyPrefix: string): Promise<string | null> {
  const written = await run((redis) => redis.get(namesOf(keyPrefix).layout));
  if (written !== null) return written;
  // Layout 1 has no such key.
  const isThere = await hasName(run, `${escapeGlob(keyPrefix)}:{*`, (name) =>
    LAYOUT_1_NAME.test(name.slice(keyPrefix.length + 1)),
  );
  return isThere ? '1' : null;
}

/**
 * Resolves when the accounts have this layout, or there are none. Rejects with `OtherVersion` when they have another: nothing may
 * be read or written then, because every balance would count as zero.
 */
export async function requireLayout(run: RedisRun, keyPrefix: string): Promise<void> {
  const found = await layoutIn(run, keyPrefix);
  if (found === null) {
    const written = await run((redis) => redis.set(namesOf(keyPrefix).layout, LAYOUT, 'NX'));
    // Null: another process has written it, to begin as well or to restore.
    if (written === null) await requireLayout(run, keyPrefix);
  } else if (found !== String(LAYOUT)) {
    throw otherLayout(found, keyPrefix);
  }
}

/** Whether there are accounts under the prefix, in any layout. Counters of rates, and what ingest shares, are none. */
export async function hasAccounts(run: RedisRun, keyPrefix: string): Promise<boolean> {
  const found = await layoutIn(run, keyPrefix);
  if (found !== null && found !== String(LAYOUT)) return true;
  const { root } = namesOf(keyPrefix);
  return await hasName(run, `${escapeGlob(root)}*`, (name) => !name.startsWith(`${root}rate:`));
}

async function hasName(
  run: RedisRun,
  pattern: string,
  isWanted: (name: string) => boolean,
): Promise<boolean> {
  for await (const name of scan(run, pattern)) if (isWanted(name)) return true;
  return false;
}

const SCAN_COUNT = 1_000;

/** Names that match; SCAN may repeat some. */
export async function* scan(run: RedisRun, pattern: string): AsyncGenerator<string> {
  let cursor = '0';
  do {
    const from = cursor;
    const [next, found] = await run((redis) => redis.scan(from, 'MATCH', pattern, 'COUNT', SCAN_COUNT));
    cursor = next;
    yield* found;
  } while (cursor !== '0');
}

export function escapeGlob(text: string): string {
  return text.replace(/[*?[\]\\]/g, '\\$&');
}

export function otherLayout(found: string, keyPrefix: string): OtherVersion {
  const accounts = `accounts in Redis under the key prefix ${keyPrefix}`;
  switch (found) {
    case '1':
      return new OtherVersion(
        `the ${accounts} have the layout of an earlier version`,
        `Copy them once: stop every process, run ${commandText('backup <directory> --only accounts')}, set control.keyPrefix to another name, run ${commandText('restore <directory> --only accounts')}, and start. The old keys stay as they are.`,
      );
    case RESTORING:
      return new OtherVersion(
        `a restore of the ${accounts} did not finish`,
        `Wait if one runs. Otherwise remove its keys, or set control.keyPrefix to another name, and run ${commandText('restore <directory> --only accounts')} again.`,
      );
    default:
      return new OtherVersion(
        `the ${accounts} have the layout of a newer version`,
        'Run the version that wrote them, or restore a backup of before under another control.keyPrefix.',
      );
  }
}
