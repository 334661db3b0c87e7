import { afterAll, beforeAll, describe, test } from 'vitest';
import { openFreshRedis } from '../../kit/redis-control.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../kit/redis-server.ts';
import { createSqliteBed } from '../../kit/sqlite-control.ts';
import { expectLikeOneHandle, PROPERTY_BUDGET_MS } from '../../kit/store-commands.ts';

describe.skipIf(!redisIsThere())('on a real Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  const bed = createSqliteBed();
  afterAll(() => Promise.all([server.stop(), bed.end()]));

  test('Redis answers on two handles what SQLite answers on one, whatever is called', {
    timeout: 2 * PROPERTY_BUDGET_MS,
  }, async () => {
    await expectLikeOneHandle(bed, async () => openFreshRedis(server.url), { sharedRates: true });
  });
});
