import { Redis } from 'ioredis';
import { dayOf } from '../../../core/domain/usage.ts';
import { UserError } from '../../../core/user-error.ts';
import { StoreUnavailable } from '../store.ts';
import { usageOwner } from '../usage-store.ts';
import { readLua } from './connection.ts';
import {
  escapeGlob,
  holdEntry,
  LAYOUT,
  layoutIn,
  type Names,
  namesOf,
  otherLayout,
  RESTORING,
  scan,
} from './layout.ts';
import { groupsOfLayout1, type RestoredLine, restoreLayout1 } from './layout-1.ts';
import { monthOf } from './usage.ts';

/**
 * Copies of the accounts in Redis, over the wire: `SYNC`, which would give one state of the whole server, is forbidden by most
 * hosts, and what it gives cannot be put back over a connection.
 *
 * Only records are copied: organizations with their usage, keys, payments, replies, own tables, saved queries without the history of their refreshes; texts of queries are not, so that what a caller has
 * forgotten is in no backup. What leads to them (lists of ids, keys by digest, open holds,
 * payments in `settling`) is made anew from them by a restore, and counters of rates are left out. Everything of one organization
 * is copied in one script, so it is of one instant and its figures agree with its ledger; so are a payment and the key that it
 * bought, so that no restored payment buys a second one. Two records are of two instants. Keys are copied before organizations:
 * an organization is always there before its keys. Rows of a ledger never change and have no end, so the script takes their
 * number and they are read after it, page by page.
 */

/** One line of a copy. `name` is a name without the deployment's prefix. */
export type CopyLine =
  /** DUMP's form, base64; `expiresAtMs` is null for what stays. */
  | { readonly name: string; readonly dump: string; readonly expiresAtMs: number | null }
  /** The next rows of a list. */
  | { readonly name: string; readonly rows: readonly string[] };

export interface RedisCopyCounts {
  organizations: number;
  ledgerRows: number;
  payments: number;
}

/** The form of the lines is the layout that they were copied from; 1 is still read. */
export const REDIS_COPY_FORM = LAYOUT;

const COMMAND_TIMEOUT_MS = 120_000;
const LEDGER_PAGE_ROWS = 1_000;
const HOLDS_PAGE = 1_000;
const COPY = readLua('copy');
/** Of either layout. */
const ORGANIZATION = /^accounts-\d+:organization:|^\{org:[^}]*\}:profile$/;
const LEDGER = /^accounts-\d+:ledger:|^\{org:[^}]*\}:ledger$/;
const PAYMENT = /^accounts-\d+:payment:|^\{pay:[^}]*\}:payment$/;

export async function openRedisForCopy(url: string): Promise<Redis> {
  const redis = new Redis(url, {
    connectionName: 'settlement-index-copy',
    commandTimeout: COMMAND_TIMEOUT_MS,
    enableOfflineQueue: false,
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    protocol: 2,
  });
  redis.on('error', () => undefined); // the command that fails says it
  try {
    await redis.connect();
    return redis;
  } catch {
    redis.disconnect();
    // Not the client's words: they may hold the URL.
    throw new StoreUnavailable(new Error('Redis cannot be reached'));
  }
}

/** The form that a copy of these accounts has. Throws `UserError` where this program cannot copy them. */
export async function copiedForm(redis: Redis, keyPrefix: string): Promise<number> {
  const found = (await layoutIn((command) => command(redis), keyPrefix)) ?? String(LAYOUT);
  if (found !== '1' && found !== String(LAYOUT)) {
    const { message, advice } = otherLayout(found, keyPrefix);
    throw new UserError(`${message}. ${advice}`);
  }
  return Number(found);
}

interface Copying {
  readonly redis: Redis;
  readonly keyPrefix: string;
  /** Is added to. */
  readonly counts: RedisCopyCounts;
}

/** Yields the lines of a copy of that form. */
export async function* copyRedis(copying: Copying, form: number): AsyncGenerator<CopyLine> {
  const { redis, keyPrefix } = copying;
  const run = <T>(command: (client: Redis) => Promise<T>): Promise<T> => command(redis);
  const seen = new Set<string>();
  if (form === 1) {
    for await (const group of groupsOfLayout1(run, keyPrefix)) yield* copyTogether(copying, group, seen);
    return;
  }
  const names = namesOf(keyPrefix);
  /** SCAN may repeat a name; a key may have been copied with its payment. */
  async function* namesOfKind(start: string): AsyncGenerator<string> {
    for await (const name of scan(run, `${escapeGlob(start)}*`)) if (!seen.has(name)) yield name;
  }
  for (const start of [`${names.root}reply:`, names.key('')])
    for await (const name of namesOfKind(start)) yield* copyTogether(copying, [name], seen);
  const organizations = names.organization('');
  // One name for each organization and month.
  const months = new Map<string, string[]>();
  for await (const name of namesOfKind(names.usage(usageOwner({ organizationId: '' })).slice(0, -1))) {
    const owner = name.slice(0, name.lastIndexOf('/') + 1);
    months.set(owner, [...(months.get(owner) ?? []), name]);
  }
  // A charge during the copy may be the first of its month, by a clock that differs.
  const today = dayOf(Date.now());
  const latest = [...new Set([today - 1, today, today + 1].map(monthOf))];
  for await (const name of namesOfKind(organizations)) {
    const id = name.slice(organizations.length);
    const parts = [names.grants(id), names.holds(id), names.resolvedHolds(id), names.ledger(id)];
    const owner = usageOwner({ organizationId: id });
    const used = latest.map((month) => names.usage(owner, month));
    const usedBefore = months.get(names.usage(owner)) ?? [];
    const usage = new Set([...used, ...usedBefore]);
    yield* copyTogether(copying, [name, ...parts, names.keyEvents(id), ...usage], seen);
  }
  for await (const name of namesOfKind(names.usage(usageOwner({ trialKeyId: '' })).slice(0, -1)))
    yield* copyTogether(copying, [name], seen);
  for (const start of [names.savedQuery(''), names.ownTable('')])
    for await (const name of namesOfKind(start)) yield* copyTogether(copying, [name], seen);
  for await (const name of namesOfKind(names.payment('')))
    yield* copyTogether(copying, [name], seen, names.key(''));
}

/** With `keysStart` the first name is a payment's, and the key that it bought is copied with it. */
async function* copyTogether(
  { redis, keyPrefix, counts }: Copying,
  group: readonly string[],
  seen: Set<string>,
  keysStart?: string,
): AsyncGenerator<CopyLine> {
  const values = keysStart === undefined ? [] : [keysStart];
  const answer = await redis.callBuffer('EVAL', COPY, String(group.length), ...group, ...values);
  // As the script answers.
  for (const [said, dump, ttlMs, rows] of answer as [Buffer, Buffer | null, number, number][]) {
    const whole = said.toString();
    const name = whole.slice(keyPrefix.length + 1);
    if (seen.has(whole)) continue;
    seen.add(whole);
    countRecord(counts, name, { isThere: dump !== null, rows });
    if (dump !== null)
      yield { name, dump: dump.toString('base64'), expiresAtMs: ttlMs < 0 ? null : Date.now() + ttlMs };
    for (let from = 0; from < rows; from += LEDGER_PAGE_ROWS) {
      const to = Math.min(rows, from + LEDGER_PAGE_ROWS) - 1;
      yield { name, rows: await redis.lrange(whole, from, to) };
    }
  }
}

function countRecord(
  counts: RedisCopyCounts,
  name: string,
  { isThere, rows }: { readonly isThere: boolean; readonly rows: number },
): void {
  if (isThere && ORGANIZATION.test(name)) counts.organizations++;
  if (isThere && PAYMENT.test(name)) counts.payments++;
  if (LEDGER.test(name)) counts.ledgerRows += rows;
}

/**
 * Puts the lines of a copy, of either form, into a Redis that holds no accounts under the prefix. A name that is there already is
 * refused by Redis and never replaced. Until the last line the layout's key says that a restore runs, so that nothing is served from
 * half of the accounts.
 */
export async function loadRedis(
  redis: Redis,
  keyPrefix: string,
  lines: AsyncIterable<CopyLine>,
): Promise<void> {
  const names = namesOf(keyPrefix);
  await redis.set(names.layout, RESTORING);
  for await (const line of lines) {
    const { name } = line;
    const restored: RestoredLine = {
      redis,
      names,
      name,
      write: (to) => writeLine(redis, to, line),
      list: (record) => listRecord(redis, names, record),
    };
    if (name.startsWith('{')) {
      await restoreLayout1(restored);
    } else {
      await restored.write(`${keyPrefix}:${name}`);
      await restored.list(`${keyPrefix}:${name}`);
    }
  }
  await redis.set(names.layout, LAYOUT);
}

/** A name that expired during the copy is written all the same, for a moment: RESTORE takes no time in the past, and 0 means no end. */
const SHORTEST_LIFE_MS = 1;

async function writeLine(redis: Redis, name: string, line: CopyLine): Promise<void> {
  if ('rows' in line) {
    await redis.rpush(name, ...line.rows);
    return;
  }
  const ttlMs = line.expiresAtMs === null ? 0 : Math.max(SHORTEST_LIFE_MS, line.expiresAtMs - Date.now());
  await redis.restore(name, ttlMs, Buffer.from(line.dump, 'base64'));
}

/** Puts a record on the lists that lead to it; nothing for a record on none. */
async function listRecord(redis: Redis, names: Names, name: string): Promise<void> {
  const idAfter = (start: string): string | null =>
    name.startsWith(start) ? name.slice(start.length) : null;
  const organizationId = idAfter(names.organization(''));
  if (organizationId !== null) await listOrganization(redis, names, organizationId);
  const query = idAfter(names.savedQuery(''));
  if (query !== null) await listSavedQuery(redis, names, query);
  const table = idAfter(names.ownTable(''));
  if (table !== null) await listOwnTable(redis, names, table);
  const keyId = idAfter(names.key(''));
  if (keyId !== null) {
    const [digest, owner] = await redis.hmget(name, 'digest', 'organizationId');
    if (digest != null) await redis.hset(names.keyDigests, digest, keyId);
    await redis.zadd(owner == null ? names.trialKeys : names.keysOf(owner), 0, keyId);
  }
  const holder = idAfter(names.holds(''));
  if (holder !== null) await listOpenHolds(redis, names, holder);
  const entry = idAfter(names.payment(''));
  if (entry !== null) {
    const [state, leaseUntilMs] = await redis.hmget(name, 'state', 'leaseUntilMs');
    if (state === 'settling' && leaseUntilMs != null) await redis.zadd(names.settling, leaseUntilMs, entry);
  }
}

async function listOrganization(redis: Redis, names: Names, id: string): Promise<void> {
  await redis.zadd(names.organizations, 0, id);
  const [handle, skeleton] = await redis.hmget(names.organization(id), 'handle', 'handleSkeleton');
  if (handle == null || skeleton == null) return;
  await redis.hset(names.handles, handle, id);
  await redis.hset(names.handleSkeletons, skeleton, handle);
}

async function listSavedQuery(redis: Redis, names: Names, entry: string): Promise<void> {
  const [settings, handle, isPublic, dueAtMs] = await redis.hmget(
    names.savedQuery(entry),
    'settings',
    'handle',
    'isPublic',
    'dueAtMs',
  );
  // One that was removed: only the number of its latest version is left.
  if (settings == null) return;
  const end = entry.indexOf('/');
  const [owner, slug] = [entry.slice(0, end), entry.slice(end + 1)];
  await redis.zadd(names.savedQueriesOf(decodeURIComponent(owner)), 0, slug);
  if (isPublic === '1') await redis.zadd(names.publicQueries, 0, `${handle} ${slug} ${owner}`);
  if (dueAtMs != null) await redis.zadd(names.refreshes, dueAtMs, entry);
}

async function listOwnTable(redis: Redis, names: Names, entry: string): Promise<void> {
  const bytes = await redis.hget(names.ownTable(entry), 'bytes');
  const [owner = '', name = ''] = entry.split('/');
  if (bytes !== null) await redis.hset(names.ownTablesOf(decodeURIComponent(owner)), name, bytes);
}

async function listOpenHolds(redis: Redis, names: Names, organizationId: string): Promise<void> {
  let cursor = '0';
  do {
    const [next, flat] = await redis.hscan(names.holds(organizationId), cursor, 'COUNT', HOLDS_PAGE);
    cursor = next;
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const overdueAtMs = /^open \d+ \S+ (\S+) /.exec(flat[i + 1] ?? '')?.[1];
      if (overdueAtMs !== undefined)
        await redis.zadd(names.openHolds, overdueAtMs, holdEntry(organizationId, flat[i] ?? ''));
    }
  } while (cursor !== '0');
}
