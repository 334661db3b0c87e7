import { afterAll, beforeAll, describe, test } from 'vitest';
import { expectChargedOnce } from '../../kit/charge-crash.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../kit/redis-server.ts';

describe.skipIf(!redisIsThere())('on a real Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  test('a call by use is charged once, at whatever moment its process is killed', {
    timeout: 120_000,
  }, async () => {
    await expectChargedOnce({ kind: 'redis', url: server.url, keyPrefix: 'charge' });
  });
});
