import { describe } from 'vitest';
import { test } from '../../kit/fixtures.ts';
import { openFreshRedis } from '../../kit/redis-control.ts';
import { type RedisServer, redisIsThere } from '../../kit/redis-server.ts';
import { keyRevoked } from './key-revoked.ts';
import { moneyTable } from './money-table.ts';
import { soldTerms } from './sold-terms.ts';

describe.skipIf(!redisIsThere())('on a real Redis', () => {
  let server: RedisServer;
  test.beforeAll(({ redis }) => {
    server = redis;
  });
  const open = async () => openFreshRedis(server.url);

  moneyTable(open);
  soldTerms(open);
  keyRevoked(open);
});
