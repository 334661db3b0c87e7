import { Redis } from 'ioredis';
import { StoreUnavailable } from '../store.ts';
import { HOME_PARTS } from './slots.ts';

/**
 * Copies of what the control store keeps in Redis, over the wire: `SYNC`, which would give one state of the whole server, is
 * forbidden by most hosts, and what it gives cannot be put back over a connection.
 *
 * Everything of one organization or payment is copied in one script, so it is of one instant: its figures agree with its ledger.
 * Two of them are of two instants. Rows of a ledger never change and have no end, so the script takes their number and they are
 * read behind it, page by page. Records come first and what leads to them second: a claim is written before its record and stays.
 * Left out are counters of rates, and the lists of open claims and of all open holds, which `loadRedis` makes anew from the payments
 * and from the holds of each organization.
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

/** The form of the lines. */
export const REDIS_COPY_FORM = 1;

const COMMAND_TIMEOUT_MS = 120_000;
const SCAN_COUNT = 1_000;
const LEDGER_PAGE_ROWS = 1_000;
const LEDGER = 'ledger';
/** Hash tags of what has a home of its own, and of what leads to it or is kept for a while (slots.ts). */
const RECORDS = /^(org|pay|key):/;
const LEADS = /^(key-id:|reply:)|^(organizations|trial-keys)$/;

/** KEYS: values, then a list. Answers each value as DUMP and PTTL give it, and the length of the list. */
const COPY_HOME = `
local out = {}
for i = 1, #KEYS - 1 do out[i] = { redis.call('DUMP', KEYS[i]), redis.call('PTTL', KEYS[i]) } end
out[#KEYS] = redis.call('LLEN', KEYS[#KEYS])
return out`;

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
  redis.on('error', () => undefined); // told by the command that fails
  try {
    await redis.connect();
    return redis;
  } catch {
    redis.disconnect();
    // Not the client's words: they may hold the URL.
    throw new StoreUnavailable(new Error('Redis cannot be reached'));
  }
}

/** Yields the lines and counts what they hold. */
export async function* copyRedis(
  redis: Redis,
  prefix: string,
  counts: RedisCopyCounts,
  nowMs: () => number = Date.now,
): AsyncGenerator<CopyLine> {
  const seen = new Set<string>();
  for await (const tag of tags(redis, prefix)) {
    if (!RECORDS.test(tag) || seen.has(tag)) continue;
    seen.add(tag);
    yield* copyHome({ redis, prefix, nowMs }, tag, counts);
  }
  const leads = new Set<string>();
  for await (const tag of tags(redis, prefix)) {
    const isNewClaim = tag.startsWith('key:') && !seen.has(tag);
    if (isNewClaim || LEADS.test(tag)) leads.add(tag);
  }
  for (const tag of leads) yield* copyLead({ redis, prefix, nowMs }, tag);
}

interface Copying {
  readonly redis: Redis;
  readonly prefix: string;
  nowMs(): number;
}

/** The hash tags under the prefix, each as often as it has names, and some more: SCAN may repeat itself. */
async function* tags(redis: Redis, prefix: string): AsyncGenerator<string> {
  for await (const name of names(redis, prefix)) {
    const tag = /^\{([^}]*)\}/.exec(name.slice(prefix.length + 1))?.[1];
    if (tag !== undefined) yield tag;
  }
}

async function* names(redis: Redis, prefix: string): AsyncGenerator<string> {
  let cursor = '0';
  do {
    const [next, found] = await redis.scan(cursor, 'MATCH', `${escapeGlob(prefix)}:{*`, 'COUNT', SCAN_COUNT);
    cursor = next;
    yield* found;
  } while (cursor !== '0');
}

function escapeGlob(text: string): string {
  return text.replace(/[*?[\]\\]/g, '\\$&');
}

/** Whether there is anything of a control store. Counters of rates, and what ingest shares under the same prefix, are not. */
export async function isRedisFilled(redis: Redis, prefix: string): Promise<boolean> {
  for await (const tag of tags(redis, prefix)) if (RECORDS.test(tag) || LEADS.test(tag)) return true;
  return false;
}

async function* copyHome(
  { redis, prefix, nowMs }: Copying,
  tag: string,
  counts: RedisCopyCounts,
): AsyncGenerator<CopyLine> {
  const parts = HOME_PARTS.filter((part) => part !== LEDGER).map((part) => `{${tag}}:${part}`);
  const ledger = `{${tag}}:${LEDGER}`;
  const all = [...parts, ledger].map((name) => `${prefix}:${name}`);
  const answer = (await redis.callBuffer('EVAL', COPY_HOME, String(all.length), ...all)) as [
    ...(readonly [Buffer | null, number])[],
    number,
  ]; // as the script above says
  const rows = Number(answer.at(-1));
  for (const [index, name] of parts.entries()) {
    const [dump, ttlMs] = answer[index] as readonly [Buffer | null, number];
    if (dump === null) continue;
    if (name.endsWith(':profile')) counts.organizations++;
    if (name.endsWith(':payment')) counts.payments++;
    yield { name, dump: dump.toString('base64'), expiresAtMs: ttlMs < 0 ? null : nowMs() + ttlMs };
  }
  counts.ledgerRows += rows;
  for (let from = 0; from < rows; from += LEDGER_PAGE_ROWS) {
    const to = Math.min(rows, from + LEDGER_PAGE_ROWS) - 1;
    yield { name: ledger, rows: await redis.lrange(`${prefix}:${ledger}`, from, to) };
  }
}

/** A claim is below its tag, a reply and a list of ids are named by the tag alone. */
async function* copyLead({ redis, prefix, nowMs }: Copying, tag: string): AsyncGenerator<CopyLine> {
  for (const name of [`{${tag}}`, `{${tag}}:claim`]) {
    const [dump, ttlMs] = await Promise.all([
      redis.dumpBuffer(`${prefix}:${name}`),
      redis.pttl(`${prefix}:${name}`),
    ]);
    if (dump !== null)
      yield { name, dump: dump.toString('base64'), expiresAtMs: ttlMs < 0 ? null : nowMs() + ttlMs };
  }
}
