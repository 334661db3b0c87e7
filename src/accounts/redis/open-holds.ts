import type { Redis } from 'ioredis';
import type { Hold } from '../store.ts';
import { idsAfter } from './accounts.ts';
import type { RedisConnection } from './connection.ts';
import { listOf, numberOf, textOf } from './decode.ts';
import { type Home, organizationHome, organizationOf, type Slots } from './slots.ts';

/**
 * The open holds of all organizations in one sorted set, by the time they are overdue: what the sweeper reads. A hold is put on it
 * before it is made, and taken off after it was resolved; each organization's own set changes with the hold itself and is what
 * counts. So an entry may stand for no open hold, which readers pass over, but no open hold is without its entry.
 */
export interface OpenHolds {
  /** To be sent before the hold, over the same connection. Of two entries of one hold the first stands, as the hold does. */
  add(hold: Pick<Hold, 'organizationId' | 'holdId' | 'overdueAtMs'>): Promise<void>;
  /** For a hold that is not open. Should it fail, the entry is passed over until it is stale. */
  remove(hold: Pick<Hold, 'organizationId' | 'holdId'>): void;
  overdue(question: { readonly nowMs: number; readonly limit: number }): Promise<readonly Hold[]>;
}

/** How many organizations are copied at once. */
const COPY_BATCH = 256;
/**
 * A process that was started by the version before this list does not write to it, and may run beside this one for a while: what it
 * left is copied once more after this time.
 */
const COPY_AGAIN_MS = 3_600_000;
/** An entry without an open hold is taken off this long after its time, not at once: the hold may still be on its way to Redis. */
const STALE_ENTRY_MS = 3_600_000;

export function openHolds(redis: RedisConnection, slots: Slots): OpenHolds {
  const remove = (entry: string): void => {
    void redis.run((client) => client.zrem(slots.allOpenHolds, entry)).catch(() => undefined);
  };
  const isCopyDue = copyTimes();
  return {
    add: async ({ organizationId, holdId, overdueAtMs }) => {
      const entry = entryOf(organizationId, holdId);
      await redis.run((client) => client.zadd(slots.allOpenHolds, 'NX', overdueAtMs, entry));
    },
    remove: ({ organizationId, holdId }) => remove(entryOf(organizationId, holdId)),
    overdue: async (question) => {
      if (isCopyDue.at(question.nowMs)) {
        await copyAll(redis, slots);
        isCopyDue.done(question.nowMs);
      }
      return readOverdue({ redis, slots, remove }, question);
    },
  };
}

/** With the first question of a process, and once more a while later. */
function copyTimes() {
  const doneAtMs: number[] = [];
  return {
    at(nowMs: number): boolean {
      const [first, second] = doneAtMs;
      return first === undefined || (second === undefined && nowMs - first >= COPY_AGAIN_MS);
    },
    done(nowMs: number): void {
      doneAtMs.push(nowMs);
    },
  };
}

/** Puts on the list what is open and was made before there was one. */
async function copyAll(redis: RedisConnection, slots: Slots): Promise<void> {
  let after: string | null = null;
  for (;;) {
    const ids: readonly string[] = await idsAfter(redis, slots.organizations, after, COPY_BATCH);
    await Promise.all(
      ids.map((id) => redis.run((client) => listHoldsOf(client, slots, organizationHome(id)))),
    );
    after = ids.at(-1) ?? null;
    if (ids.length < COPY_BATCH) return;
  }
}

/** Puts the open holds of one organization on the list of all. */
export async function listHoldsOf(redis: Redis, slots: Slots, home: Home): Promise<void> {
  const found = pairsOf(await redis.zrangebyscore(slots.openHolds(home), '-inf', '+inf', 'WITHSCORES'));
  if (found.length === 0) return;
  const organizationId = organizationOf(home);
  const entries = found.flatMap(({ member, score }) => [score, entryOf(organizationId, member)]);
  await redis.zadd(slots.allOpenHolds, 'NX', ...entries);
}

interface Reading {
  readonly redis: RedisConnection;
  readonly slots: Slots;
  remove(entry: string): void;
}

async function readOverdue(
  reading: Reading,
  { nowMs, limit }: { readonly nowMs: number; readonly limit: number },
): Promise<readonly Hold[]> {
  const { redis, slots } = reading;
  const found: Hold[] = [];
  let seen = 0;
  while (found.length < limit) {
    const from = seen;
    const wanted = limit - found.length;
    const flat = await redis.run((client) =>
      client.zrangebyscore(slots.allOpenHolds, '-inf', nowMs, 'WITHSCORES', 'LIMIT', from, wanted),
    );
    const entries = pairsOf(flat);
    const holds = await Promise.all(entries.map((entry) => holdBehind(reading, entry, nowMs)));
    for (const hold of holds) if (hold !== null) found.push(hold);
    seen += entries.length;
    if (entries.length < wanted) break;
  }
  return found;
}

interface Scored {
  readonly member: string;
  readonly score: number;
}

async function holdBehind(
  { redis, slots, remove }: Reading,
  { member, score }: Scored,
  nowMs: number,
): Promise<Hold | null> {
  const [organizationId, holdId] = listOf(JSON.parse(member)).map(textOf);
  if (organizationId === undefined || holdId === undefined) return null;
  const home = organizationHome(organizationId);
  const state = await redis.run((client) => client.hget(slots.holds(home), holdId));
  const hold = decodeOpenHold(organizationId, holdId, state ?? '');
  // Taken off later than read, so the entries after it may move up and be missed once: the next sweep sees them.
  if (hold === null && score <= nowMs - STALE_ENTRY_MS) remove(member);
  return hold === null || hold.overdueAtMs > nowMs ? null : hold;
}

/** The form that hold.lua writes; null when the hold was resolved since, or never made. */
function decodeOpenHold(organizationId: string, holdId: string, state: string): Hold | null {
  const [, units, heldAtMs, overdueAtMs, operation] = /^open (\d+) (\S+) (\S+) (.*)$/s.exec(state) ?? [];
  if (units === undefined || operation === undefined) return null;
  return {
    organizationId,
    holdId,
    units: numberOf(units),
    operation,
    heldAtMs: numberOf(heldAtMs),
    overdueAtMs: numberOf(overdueAtMs),
  };
}

/** Both are free texts. */
function entryOf(organizationId: string, holdId: string): string {
  return JSON.stringify([organizationId, holdId]);
}

/** Members and scores in turn, as ZRANGEBYSCORE answers. */
function pairsOf(flat: readonly string[]): readonly Scored[] {
  return flat.flatMap((member, i) => (i % 2 === 0 ? [{ member, score: numberOf(flat[i + 1]) }] : []));
}
