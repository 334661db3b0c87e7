import { afterAll, beforeAll, describe } from 'vitest';
import { controlStoreContract } from '../contract/control-store.ts';
import { openFreshRedis } from '../support/redis-control.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../support/redis-server.ts';

describe.skipIf(!redisIsThere())('on a real Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  controlStoreContract('Redis', async () => openFreshRedis(server.url), { sharedRates: true });
});
