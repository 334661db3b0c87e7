import { afterAll, beforeAll, describe } from 'vitest';
import { openFreshRedis } from '../../kit/redis-control.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../kit/redis-server.ts';
import { keyRevoked } from './key-revoked.ts';

describe.skipIf(!redisIsThere())('on a real Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  keyRevoked(async () => openFreshRedis(server.url));
});
