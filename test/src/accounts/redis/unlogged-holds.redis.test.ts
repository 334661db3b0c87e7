import { Redis } from 'ioredis';
import pino from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { openRedisStore } from '../../../../src/accounts/redis/store.ts';
import type { ControlStore } from '../../../../src/accounts/store.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../../kit/redis-server.ts';
import { expectBooks, readLedger } from '../../../kit/unit-books.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

/** Holds are kept out of the append-only file until another change of their organization: what the death of Redis makes of that. */

const T0 = 1_750_000_000_000;
const FAR_MS = 8_639_999_999_999_000;
const UNITS = 1_000;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function startRedis(): Promise<RedisServer> {
  // Without the usual wait of 5 s for more replicas.
  const server = await startRedisServer(['--repl-diskless-sync-delay', '0']);
  ends.push(() => server.stop());
  return server;
}

function openStore({ url }: RedisServer): ControlStore {
  const store = openRedisStore({ url, keyPrefix: 'unlogged', log: pino({ level: 'silent' }) });
  ends.push(() => store.close());
  return store;
}

async function openFunded(server: RedisServer): Promise<ControlStore> {
  const store = openStore(server);
  await store.accounts.createOrganization({ id: 'org', displayName: 'O', plan: 'free', createdAtMs: T0 });
  await store.units.grant({ organizationId: 'org', grantId: 'g', units: UNITS, note: '', atMs: T0 });
  return store;
}

const HELD = { units: 2, operation: 'op "ü"/', heldAtMs: T0, overdueAtMs: T0 + 60_000 };

async function hold({ units }: ControlStore, ...holdIds: readonly string[]): Promise<void> {
  for (const holdId of holdIds)
    expect((await units.hold({ organizationId: 'org', holdId, ...HELD })).outcome).toBe('held');
}

async function capture({ units }: ControlStore, holdId: string): Promise<string> {
  const { outcome } = await units.capture({ organizationId: 'org', holdId, units: 1, atMs: T0 + 1 });
  return outcome;
}

/** What the ledger says, after the books were found in order and the list of open holds to agree with it. */
async function rowsOf(store: ControlStore): Promise<readonly string[]> {
  const { held } = await expectBooks(store, 'org');
  const open = await store.units.overdueHolds({ nowMs: FAR_MS, limit: 1_000 });
  expect(open.reduce((sum, { units }) => sum + units, 0)).toBe(held);
  return (await readLedger(store, 'org')).map(({ kind, subject }) => `${kind} ${subject}`);
}

async function killAndStart(server: RedisServer, store: ControlStore): Promise<void> {
  await server.kill();
  await server.start();
  await answers(store);
}

async function answers(store: ControlStore): Promise<void> {
  await waitUntil('the store answers', () =>
    store.ping().then(
      () => true,
      () => false,
    ),
  );
}

function rawClient({ url }: RedisServer): Redis {
  const client = new Redis(url);
  client.on('error', () => undefined); // it is killed
  ends.push(async () => client.disconnect());
  return client;
}

async function rewriteLog(server: RedisServer): Promise<void> {
  const client = rawClient(server);
  await client.bgrewriteaof();
  await waitUntil('the log is rewritten', async () => {
    const info = await client.info('persistence');
    return /aof_rewrite_in_progress:0/.test(info) && /aof_rewrite_scheduled:0/.test(info);
  });
}

describe.skipIf(!redisIsThere())('on a real Redis', () => {
  test('a Redis that dies loses the holds since the last other change, and nothing else', async () => {
    const server = await startRedis();
    const store = await openFunded(server);
    await hold(store, 'a', 'b', 'c');
    await capture(store, 'b');
    await hold(store, 'd', 'e');
    await killAndStart(server, store);
    expect(await rowsOf(store)).toEqual(['grant g', 'hold a', 'hold b', 'hold c', 'capture b']);
    expect(await capture(store, 'a')).toBe('captured');
    expect(await capture(store, 'd')).toBe('unknown');
    const lost = { organizationId: 'org', holdId: 'd', units: 1, atMs: T0 + 1, held: HELD };
    expect((await store.units.capture(lost)).outcome).toBe('captured');
    expect((await rowsOf(store)).slice(5)).toEqual(['capture a', 'hold d', 'capture d']);
  });

  test.each([
    [
      'a release',
      (store: ControlStore) =>
        store.units.release({ organizationId: 'org', holdId: 'a', kind: 'overdue', note: '', atMs: T0 }),
    ],
    [
      'a grant',
      (store: ControlStore) =>
        store.units.grant({ organizationId: 'org', grantId: 'h', units: 1, note: '', atMs: T0 }),
    ],
  ])('%s puts all earlier holds on disk', async (_, change) => {
    const server = await startRedis();
    const store = await openFunded(server);
    await hold(store, 'a', 'b');
    await change(store);
    const rows = await rowsOf(store);
    await killAndStart(server, store);
    expect(await rowsOf(store)).toEqual(rows);
    expect(rows.slice(0, 3)).toEqual(['grant g', 'hold a', 'hold b']);
  });

  test('a log that was rewritten with holds in it has each of them once', async () => {
    const server = await startRedis();
    const store = await openFunded(server);
    await hold(store, 'a', 'b');
    await rewriteLog(server);
    await killAndStart(server, store);
    const rows = ['grant g', 'hold a', 'hold b'];
    expect(await rowsOf(store)).toEqual(rows);
    await hold(store, 'c');
    await rewriteLog(server);
    await hold(store, 'd');
    await capture(store, 'c');
    await killAndStart(server, store);
    expect(await rowsOf(store)).toEqual([...rows, 'hold c', 'hold d', 'capture c']);
  });

  test('a replica that takes over has every change but the last holds, in order', async () => {
    const [server, second] = [await startRedis(), await startRedis()];
    const store = await openFunded(server);
    await hold(store, 'a', 'b');
    const replica = rawClient(second);
    await replica.replicaof('127.0.0.1', server.port);
    await waitUntil('the replica has a copy', async () =>
      (await replica.info('replication')).includes('master_link_status:up'),
    );
    await hold(store, 'c');
    await capture(store, 'a');
    await hold(store, 'd');
    await rawClient(server).wait(1, 5_000);
    await server.kill();
    await replica.call('REPLICAOF', 'NO', 'ONE');
    expect(await rowsOf(openStore(second))).toEqual(['grant g', 'hold a', 'hold b', 'hold c', 'capture a']);
  });

  test('no more than a few hundred holds are kept out of the log', async () => {
    const server = await startRedis();
    const store = await openFunded(server);
    const ids = Array.from({ length: 450 }, (_, index) => `h${index}`);
    await hold(store, ...ids);
    await killAndStart(server, store);
    const rows = await rowsOf(store);
    expect(rows.length).toBeGreaterThan(400);
    expect(rows).toEqual(['grant g', ...ids.slice(0, rows.length - 1).map((id) => `hold ${id}`)]);
  });

  test('two stores on one Redis never hold more than there is, also across its death', async () => {
    const server = await startRedis();
    const stores = [await openFunded(server), openStore(server)];
    const crowd = async (name: string) =>
      Promise.all(
        Array.from({ length: 400 }, async (_, index) => {
          const { units } = stores[index % 2] as ControlStore; // there are two
          return (await units.hold({ organizationId: 'org', holdId: `${name}${index}`, ...HELD })).outcome;
        }),
      );
    expect(new Set(await crowd('a'))).toEqual(new Set(['held']));
    expect((await crowd('b')).filter((outcome) => outcome === 'held')).toHaveLength(UNITS / 2 - 400);
    for (const store of stores) await killAndStart(server, store);
    for (const store of stores) await answers(store);
    const { held } = await expectBooks(stores[0] as ControlStore, 'org');
    const more = (await crowd('c')).filter((outcome) => outcome === 'held').length;
    expect(held + 2 * more).toBe(Math.min(UNITS, held + 800));
  });
});
