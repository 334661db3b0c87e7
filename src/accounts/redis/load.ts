import type { Redis } from 'ioredis';
import type { CopyLine } from './copy.ts';
import { listHoldsOf } from './open-holds.ts';
import { type Home, openClaimEntry, slotsOf } from './slots.ts';

/** What has expired meanwhile is still put back, for a moment: RESTORE takes no time in the past, and 0 would mean for ever. */
const SHORTEST_LIFE_MS = 1;

/**
 * Puts the lines of a copy into a Redis that holds nothing of a control store (redis-copy.ts), under `prefix`. A name that is there
 * already is refused by Redis and never replaced. Payments in `settling` get their entries in the list of open claims anew, so
 * that the sweeper finds every one of them, and open holds theirs in the list of those of all organizations.
 */
export async function loadRedis(
  redis: Redis,
  prefix: string,
  lines: AsyncIterable<CopyLine>,
  nowMs: () => number = Date.now,
): Promise<void> {
  for await (const line of lines) {
    const name = `${prefix}:${line.name}`;
    if ('rows' in line) {
      await redis.rpush(name, ...line.rows);
      continue;
    }
    const ttlMs = line.expiresAtMs === null ? 0 : Math.max(SHORTEST_LIFE_MS, line.expiresAtMs - nowMs());
    await redis.restore(name, ttlMs, Buffer.from(line.dump, 'base64'));
    const home = /^\{(pay:[^}]*)\}:payment$/.exec(line.name)?.[1];
    // The tag of a payment and of an organization is its home.
    if (home !== undefined) await listOpenClaim(redis, prefix, home as Home);
    const holder = /^\{(org:[^}]*)\}:open-holds$/.exec(line.name)?.[1];
    if (holder !== undefined) await listHoldsOf(redis, slotsOf(prefix), holder as Home);
  }
}

async function listOpenClaim(redis: Redis, prefix: string, home: Home): Promise<void> {
  const slots = slotsOf(prefix);
  const [state, token, leaseUntilMs] = await redis.hmget(
    slots.payment(home),
    'state',
    'claim',
    'leaseUntilMs',
  );
  if (state !== 'settling' || token == null || leaseUntilMs == null) return;
  await redis.zadd(slots.openClaims, leaseUntilMs, openClaimEntry(token, home));
}
