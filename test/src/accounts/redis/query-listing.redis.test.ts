import { Redis } from 'ioredis';
import pino from 'pino';
import { expect, test } from 'vitest';
import { namesOf } from '../../../../src/accounts/redis/layout.ts';
import { openRedisStore } from '../../../../src/accounts/redis/store.ts';
import { redisIsThere, startRedisServer } from '../../../kit/redis-server.ts';

const T0 = 1_750_000_000_000;

test.skipIf(!redisIsThere())(
  'a query of an earlier version is listed in short, made once of what was saved',
  async () => {
    const server = await startRedisServer([]);
    const store = openRedisStore({ url: server.url, keyPrefix: 'p', log: pino({ level: 'silent' }) });
    await store.accounts.createOrganization({ id: 'acme', displayName: 'A', plan: 'free', createdAtMs: T0 });
    await store.saved.claimHandle({ organizationId: 'acme', handle: 'the-acme', skeleton: 'x' });
    const parameters = Array.from({ length: 30 }, (_, at) => ({ name: `p${at}` }));
    const content = {
      title: 'T€/"',
      description: '€'.repeat(200),
      sql: 'x',
      parameters,
      tier: 'heavy',
      maxQu: 3,
    };
    await store.saved.put({
      organizationId: 'acme',
      slug: 'open',
      content: JSON.stringify(content),
      settings: JSON.stringify({ visibility: 'public', priceQu: 7 }),
      listing: '{}',
      isPublic: true,
      refreshSeconds: null,
      atMs: T0,
      queriesMax: 9,
      versionsMax: 9,
    });
    const raw = new Redis(server.url);
    const name = namesOf('p').savedQuery('acme/open');
    expect(await raw.hdel(name, 'listing')).toBe(1);
    const [listed] = await store.saved.listings({ organizationId: null, after: null, limit: 9 });
    expect(listed).toMatchObject({ handle: 'the-acme', slug: 'open', version: 1, updatedAtMs: T0 });
    expect(JSON.parse(listed?.listing ?? '')).toEqual({
      title: 'T€/"',
      description: '€'.repeat(100),
      tier: 'heavy',
      maxQu: 3,
      parameters: parameters.slice(0, 20).map((one) => one.name),
      visibility: 'public',
      priceQu: 7,
    });
    expect(await raw.hget(name, 'listing')).toBe(listed?.listing);
    raw.disconnect();
    await store.close();
    await server.stop();
  },
);
