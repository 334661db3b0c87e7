import { afterAll, beforeAll, describe, test } from 'vitest';
import { expectExactlyTheUnits } from '../../kit/metered-processes.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../kit/redis-server.ts';

describe.skipIf(!redisIsThere())('on a real Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  test('1,000 metered calls at once in two processes on 100 units: exactly 100 are captured', async () => {
    await expectExactlyTheUnits({ kind: 'redis', url: server.url, keyPrefix: 'metered' });
  });
});
