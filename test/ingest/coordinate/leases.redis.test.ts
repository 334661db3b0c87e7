import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { closeQuietly, createRedis } from '../../../core/redis-client.ts';
import type { Lease } from '../../../ingest/coordinate/lead.ts';
import { sharedRates } from '../../../ingest/coordinate/redis/coordination.ts';
import { type LeaseTimes, redisLeases } from '../../../ingest/coordinate/redis/leases.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../kit/redis-server.ts';
import { waitUntil } from '../../kit/wait-until.ts';

/** What several processes agree by over a real Redis: who leads, and how fast a provider is asked. */

const KEY_PREFIX = 'lease-test';
/** Longer than any test, where a lease is not meant to end. */
const LASTING: LeaseTimes = { ttlMs: 600_000, renewEveryMs: 50, holdWithoutRenewalMs: 500_000 };
/** Never renewed: as of a process that is gone or stopped. */
const FORGOTTEN: LeaseTimes = { ttlMs: 400, renewEveryMs: 500_000, holdWithoutRenewalMs: 100 };

describe.skipIf(!redisIsThere())('over Redis', () => {
  let server: RedisServer;
  let redis: ReturnType<typeof createRedis>;
  const held: Lease[] = [];
  beforeAll(async () => {
    server = await startRedisServer(['--appendonly', 'no']);
  });
  beforeEach(async () => {
    redis = createRedis(server.url, {
      commandTimeout: 1_000,
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
    });
    redis.on('error', () => undefined);
    await waitUntil('Redis is connected', () => redis.status === 'ready');
    await redis.flushall();
  });
  afterEach(async () => {
    for (const lease of held.splice(0)) await lease.release();
    await closeQuietly(redis);
  });
  afterAll(() => server?.stop());

  const acquire = async (owner: string, times = LASTING, scope = 'chain'): Promise<Lease | null> => {
    const lease = await redisLeases({ redis, keyPrefix: KEY_PREFIX, owner, times }).tryAcquire(scope);
    if (lease !== null) held.push(lease);
    return lease;
  };
  const got = async (...given: Parameters<typeof acquire>): Promise<Lease> => {
    const lease = await acquire(...given);
    if (lease === null) throw new Error('the lease is not free');
    return lease;
  };
  const leaseKey = `${KEY_PREFIX}:{ingest:lease:chain}`;

  test('of many who try at once one gets it, and the next one after its release, with a higher token', async () => {
    const tries = await Promise.all(['a', 'b', 'c', 'd'].map((owner) => acquire(owner)));
    const winners = tries.filter((lease) => lease !== null);
    expect(winners).toHaveLength(1);
    await winners[0]?.release();
    const next = await got('e');
    expect(next.token).toBeGreaterThan(winners[0]?.token ?? 0n);
    expect(winners[0]?.signal.aborted).toBe(true);
  });

  test('scopes do not know each other', async () => {
    await got('a');
    expect(await acquire('b', LASTING, 'other')).not.toBeNull();
  });

  test('a lease is renewed as long as its holder lives', async () => {
    const lease = await got('a');
    await redis.pexpire(leaseKey, 60_000);
    await waitUntil('it was renewed', async () => (await redis.pttl(leaseKey)) > 60_000);
    expect(lease.signal.aborted).toBe(false);
  });

  test('a holder that cannot renew has stopped before the lease ends by itself', async () => {
    const silent = await got('silent', FORGOTTEN);
    let next: Lease | null = null;
    await waitUntil('another one gets it', async () => {
      next ??= await acquire('next');
      return next !== null;
    });
    // An answer may be handed out before a timer that is long due.
    await sleep(0);
    expect(silent.signal.aborted).toBe(true);
  });

  test('a holder whose Redis hangs stops by its own clock', async () => {
    const lease = await got('a', { ttlMs: 600_000, renewEveryMs: 50, holdWithoutRenewalMs: 300 });
    server.freeze();
    try {
      await waitUntil('it has stopped', () => lease.signal.aborted);
    } finally {
      server.thaw();
    }
  });

  test('a Redis that was emptied gives the lease to another one, and the first holder hears of it', async () => {
    const first = await got('a');
    await redis.flushall();
    await got('b');
    await waitUntil('the first has heard', () => first.signal.aborted);
  });

  test('releasing a lease that was lost takes it from no other holder', async () => {
    const first = await got('a');
    await redis.flushall();
    const second = await got('b');
    await first.release();
    expect(await acquire('c')).toBeNull();
    expect(second.signal.aborted).toBe(false);
  });

  test('a token that the engine has given is not given again by Redis', async () => {
    const first = await got('a');
    await first.raise(50n);
    await first.release();
    expect((await got('b')).token).toBe(51n);
  });

  describe('requests a second', () => {
    const PER_SECOND = 200;
    const URL_WITH_KEY = 'https://node.example/v2/secret-key';
    const limitOf = (owner: string) =>
      sharedRates({ redis, keyPrefix: KEY_PREFIX, owner })(URL_WITH_KEY, PER_SECOND);

    /** Milliseconds that taking so many one after another took. */
    async function takeAll(limit: ReturnType<typeof limitOf>, count: number): Promise<void> {
      for (let taken = 0; taken < count; taken++) await limit.take(1, undefined);
    }

    test('are counted for all processes together', async () => {
      const beganMs = performance.now();
      await Promise.all(['a', 'b', 'c'].map((owner) => takeAll(limitOf(owner), 60)));
      // The first batch of each starts at once; a machine that is slow only takes longer.
      expect(performance.now() - beganMs).toBeGreaterThan((1_000 * (180 - 60)) / PER_SECOND);
    });

    test('go on without Redis, each process at its share', async () => {
      const limits = ['a', 'b'].map(limitOf);
      for (const limit of limits) await limit.take(1, undefined);
      await closeQuietly(redis);
      const beganMs = performance.now();
      await Promise.all(limits.map((limit) => takeAll(limit, 40)));
      expect(performance.now() - beganMs).toBeGreaterThan((1_000 * 50) / PER_SECOND);
    });

    test('nothing of a URL is in Redis', async () => {
      await limitOf('a').take(1, undefined);
      const keys = await redis.keys('*');
      expect(keys.length).toBeGreaterThan(0);
      expect(keys.join()).not.toMatch(/node|secret/);
    });
  });
});
