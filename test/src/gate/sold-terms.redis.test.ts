import { afterAll, beforeAll, describe } from 'vitest';
import { openFreshRedis } from '../../kit/redis-control.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../kit/redis-server.ts';
import { soldTerms } from './sold-terms.ts';

describe.skipIf(!redisIsThere())('on a real Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  soldTerms(async () => openFreshRedis(server.url));
});
