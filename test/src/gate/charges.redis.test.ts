import { describe } from 'vitest';
import { expectChargedOnce } from '../../kit/charge-crash.ts';
import { test } from '../../kit/fixtures.ts';
import { expectExactlyTheUnits } from '../../kit/metered-processes.ts';
import { redisIsThere } from '../../kit/redis-server.ts';

describe.skipIf(!redisIsThere())('on a real Redis', () => {
  test('a call by use is charged once, at whatever moment its process is killed', {
    timeout: 120_000,
  }, async ({ redis }) => {
    await expectChargedOnce({ kind: 'redis', url: redis.url, keyPrefix: 'charge' });
  });

  test('1,000 metered calls at once in two processes on 100 units: exactly 100 are captured', async ({
    redis,
  }) => {
    await expectExactlyTheUnits({ kind: 'redis', url: redis.url, keyPrefix: 'metered' });
  });
});
