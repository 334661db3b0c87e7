import { afterAll, beforeAll, describe } from 'vitest';
import { openFreshRedis } from '../../kit/redis-control.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../kit/redis-server.ts';
import { controlStoreContract } from './control-store.ts';
import { jobStoreContract } from './job-contract.ts';
import { ownTableContract } from './own-table-contract.ts';
import { savedQueryContract } from './saved-query-contract.ts';
import { usageStoreContract } from './usage-store.ts';

describe.skipIf(!redisIsThere())('on a real Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  controlStoreContract('Redis', async () => openFreshRedis(server.url), { sharedRates: true });
  usageStoreContract('Redis', async () => openFreshRedis(server.url));
  jobStoreContract('Redis', async () => openFreshRedis(server.url));
  savedQueryContract('Redis', async () => openFreshRedis(server.url));
  ownTableContract('Redis', async () => openFreshRedis(server.url));
});
