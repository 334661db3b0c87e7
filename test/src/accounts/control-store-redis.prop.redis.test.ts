import { afterAll, beforeAll, describe, test } from 'vitest';
import { openFreshRedis } from '../../kit/redis-control.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../kit/redis-server.ts';
import { expectLikeTheModel, PROPERTY_BUDGET_MS } from '../../kit/store-commands.ts';

describe.skipIf(!redisIsThere())('on a real Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  test('Redis answers like the model, whatever is called on two handles', {
    timeout: 2 * PROPERTY_BUDGET_MS,
  }, async () => {
    await expectLikeTheModel(async () => openFreshRedis(server.url), { sharedRates: true });
  });
});
