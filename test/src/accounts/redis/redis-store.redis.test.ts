import { createHash, randomUUID } from 'node:crypto';
import { Writable } from 'node:stream';
import { Redis } from 'ioredis';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { KeyDigest } from '../../../../core/domain/caller.ts';
import type { KeyRecord } from '../../../../src/accounts/account-store.ts';
import { PAYMENT_KEPT_MS } from '../../../../src/accounts/payment-store.ts';
import { openConnection, type RedisConnection } from '../../../../src/accounts/redis/connection.ts';
import { namesOf, paymentEntry } from '../../../../src/accounts/redis/layout.ts';
import { openRedisStore, storeOver } from '../../../../src/accounts/redis/store.ts';
import { type ControlStore, StoreUnavailable } from '../../../../src/accounts/store.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../../kit/redis-server.ts';
import { expectBooks } from '../../../kit/unit-books.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

/** The Redis adapter alone; the contract suite has the promises of both adapters. */

const T0 = 1_750_000_000_000;
/** A call is refused before a person would notice that the store is away. */
const REFUSAL_MS = 500;
/** The adapter's own deadline of 2 s, and room for a busy machine. */
const DEADLINE_MS = 4_000;

const silent = pino({ level: 'silent' });
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function openStore(url: string, keyPrefix = `test-${randomUUID()}`): ControlStore {
  const store = openRedisStore({ url, keyPrefix, log: silent });
  ends.push(() => store.close());
  return store;
}

async function ownServer(settings: readonly string[] = []): Promise<RedisServer> {
  const server = await startRedisServer(settings);
  ends.push(() => server.stop());
  return server;
}

function rawClient(url: string): Redis {
  const client = new Redis(url);
  ends.push(async () => client.disconnect());
  return client;
}

function digestOf(text: string): KeyDigest {
  return createHash('sha256').update(text).digest('hex') as KeyDigest;
}

function keyOf(id: string, organizationId: string | null, digest = digestOf(id)): KeyRecord {
  return {
    id,
    digest,
    kind: organizationId === null ? 'trial' : 'live',
    organizationId,
    label: '',
    createdAtMs: T0,
    expiresAtMs: null,
    revokedAtMs: null,
  };
}

function authorization(nonce: string) {
  return { chain: 'eip155:8453', asset: '0xaa', payer: '0xbb', nonce };
}

function claimOf(nonce: string, leaseUntilMs = T0 + 1_000) {
  return {
    id: authorization(nonce),
    binding: 'binding',
    resource: 'GET /v0/flows',
    payTo: '0xcc',
    amount: '1000',
    expiresAtMs: T0 + 60_000,
    claimedAtMs: T0,
    leaseUntilMs,
  };
}

function holdOf(holdId: string, organizationId = 'acme', units = 1) {
  return { organizationId, holdId, units, operation: 'sql', heldAtMs: T0, overdueAtMs: T0 + 60_000 };
}

function captureOf(holdId: string, units = 1) {
  return { organizationId: 'acme', holdId, units, atMs: T0 };
}

async function createFunded(store: ControlStore, units: number, id = 'acme'): Promise<void> {
  await store.accounts.createOrganization({ id, displayName: id, plan: 'free', createdAtMs: T0 });
  await store.units.grant({ organizationId: id, grantId: 'first', units, note: '', atMs: T0 });
}

async function settle(store: ControlStore, nonce: string): Promise<void> {
  await store.payments.claim(claimOf(nonce));
  await store.payments.recordSettlement({ id: authorization(nonce), transaction: `0x${nonce}` });
}

async function settledTime(
  call: Promise<unknown>,
): Promise<{ readonly error: unknown; readonly ms: number }> {
  const began = performance.now();
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  return { error, ms: performance.now() - began };
}

/** A log that keeps its lines. */
function recordingLog(): { readonly log: pino.Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const sink = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      done();
    },
  });
  return { log: pino({ level: 'debug' }, sink), lines };
}

describe.skipIf(!redisIsThere())('the Redis adapter', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedisServer();
  });
  afterAll(() => server.stop());

  describe('when Redis is killed', () => {
    test('changes that were acknowledged are there after kill -9, and the books agree', async () => {
      const own = await ownServer();
      const store = openStore(own.url);
      await createFunded(store, 1_000);
      const captured = new Set<string>();
      const claimed = new Set<string>();
      const keys = new Set<string>();

      for (let round = 0; round < 5; round++) {
        let stopped = false;
        const worker = async (name: string) => {
          for (let i = 0; !stopped; i++) {
            const id = `${round}-${name}-${i}`;
            try {
              await store.units.hold(holdOf(id));
              await store.units.capture(captureOf(id));
              captured.add(id);
              await store.payments.claim(claimOf(id));
              claimed.add(id);
              await store.accounts.addKey(keyOf(id, 'acme'));
              keys.add(id);
            } catch (error) {
              if (!(error instanceof StoreUnavailable)) throw error;
              return;
            }
          }
        };
        const target = captured.size + 10 + round * 3;
        const work = Promise.all(['a', 'b', 'c', 'd'].map(worker));
        await waitUntil('some work is done', () => captured.size >= target);
        await own.kill();
        stopped = true;
        await work;
        await own.start();
        await untilBack(store);
      }

      expect(captured.size).toBeGreaterThan(50);
      for (const id of captured) expect((await store.units.capture(captureOf(id))).outcome).toBe('replayed');
      for (const id of claimed) expect(await store.payments.find(authorization(id))).not.toBeNull();
      for (const id of keys) expect(await store.accounts.findKey(digestOf(id))).not.toBeNull();
      const units = await expectBooks(store, 'acme');
      expect(units.spent).toBeGreaterThanOrEqual(captured.size);
    });

    test('calls are refused at once while it is down, and served again when it is back', async () => {
      const own = await ownServer();
      const store = openStore(own.url);
      await createFunded(store, 10);
      await own.kill();
      await waitUntil('the loss is noticed', async () => (await settledTime(store.ping())).error !== null);

      const calls = [
        store.ping(),
        store.accounts.findKey(digestOf('x')),
        store.accounts.addKey(keyOf('x', null)),
        store.units.hold(holdOf('h')),
        store.units.overdueHolds({ nowMs: T0, limit: 1 }),
        store.payments.claim(claimOf('1')),
        store.payments.unresolved({ nowMs: T0, limit: 1 }),
        store.rates.take({ key: 'k', limit: 1, windowSeconds: 60, nowMs: T0 }),
        store.replies.finish({ scope: 's', key: 'k', reply: null }),
      ];
      for (const { error, ms } of await Promise.all(calls.map(settledTime))) {
        expect(error).toBeInstanceOf(StoreUnavailable);
        expect(ms).toBeLessThan(REFUSAL_MS);
      }

      await own.start();
      await untilBack(store);
      expect((await store.units.hold(holdOf('h'))).outcome).toBe('held');
    });

    test('a store opened while it is down is refused, and served when it comes', async () => {
      const own = await ownServer();
      await own.kill();
      const store = openStore(own.url);
      const { error, ms } = await settledTime(store.ping());
      expect(error).toBeInstanceOf(StoreUnavailable);
      expect(ms).toBeLessThan(REFUSAL_MS);
      await own.start();
      await untilBack(store);
    });

    test('a Redis that hangs is given up after the deadline, then refused at once, then served again', async () => {
      const own = await ownServer();
      const store = openStore(own.url);
      await store.ping();
      own.freeze();
      const first = await settledTime(store.ping());
      expect(first.error).toBeInstanceOf(StoreUnavailable);
      expect(first.ms).toBeLessThan(DEADLINE_MS);
      const second = await settledTime(store.ping());
      expect(second.error).toBeInstanceOf(StoreUnavailable);
      expect(second.ms).toBeLessThan(REFUSAL_MS);
      own.thaw();
      await untilBack(store);
    });

    test('a Redis that became a replica is refused, and served when it is primary again', async () => {
      const own = await ownServer();
      const store = openStore(own.url);
      await createFunded(store, 10);
      const operator = rawClient(own.url);
      await operator.replicaof('127.0.0.1', server.port);
      const before = await connectionsOf(operator);
      const { error } = await settledTime(store.units.hold(holdOf('named-in-the-command')));
      expect(error).toBeInstanceOf(StoreUnavailable);
      expect(everythingOf(error)).toContain('READONLY');
      expect(everythingOf(error)).not.toContain('named-in-the-command');
      // Its name may lead to the new primary by now.
      await waitUntil('it connected anew', async () => {
        const now = await connectionsOf(operator);
        return now.length === 1 && now[0] !== before[0];
      });
      await operator.call('REPLICAOF', 'NO', 'ONE');
      await untilBack(store);
      await waitUntil('it writes again', async () => {
        const { error: now } = await settledTime(
          store.rates.take({ key: 'k', limit: 1, windowSeconds: 1, nowMs: T0 }),
        );
        return now === null;
      });
    });
  });

  test('scripts are loaded again after Redis forgot them', async () => {
    const own = await ownServer();
    const store = openStore(own.url);
    await createFunded(store, 10);
    await rawClient(own.url).script('FLUSH');
    expect((await store.units.hold(holdOf('flushed'))).outcome).toBe('held');
    await own.kill();
    await own.start();
    await untilBack(store);
    const { organizationId: _organization, holdId: _hold, ...held } = holdOf('flushed');
    expect((await store.units.capture({ ...captureOf('flushed'), held })).outcome).toBe('captured');
    expect((await store.units.hold(holdOf('restarted'))).outcome).toBe('held');
  });

  test('a served payment ends by itself PAYMENT_KEPT_MS after it expired, one that waits never does', async () => {
    const keyPrefix = `test-${randomUUID()}`;
    const { payments } = openStore(server.url, keyPrefix);
    const operator = rawClient(server.url);
    const endsInMs = async (nonce: string) => {
      const [name] = await operator.keys(`${keyPrefix}:*:payment:*:${nonce}`);
      return name === undefined ? null : await operator.pttl(name);
    };
    const serveAt = async (nonce: string, nowMs: number, answered: boolean) => {
      await payments.claim(claimOf(nonce));
      const { id } = claimOf(nonce);
      await payments.recordSettlement({ id, transaction: '0xd' });
      const begun = await payments.beginServing({ id, nowMs, leaseUntilMs: nowMs + 1, attemptsMax: 2 });
      await payments.finishServing({ id, attempt: begun.attempt, answered });
    };
    await serveAt('1', T0, true);
    const left = (await endsInMs('1')) ?? 0;
    expect(left).toBeGreaterThan(60_000 + PAYMENT_KEPT_MS);
    expect(left).toBeLessThan(60_000 + PAYMENT_KEPT_MS + 2 * 3_600_000);
    await serveAt('2', T0 + 2 * PAYMENT_KEPT_MS, true);
    expect(await endsInMs('2')).toBeGreaterThan(0);
    await serveAt('3', T0, false);
    expect(await endsInMs('3')).toBe(-1);
  });

  test('a request that is counted and a hold cost no write to disk, a capture does', async () => {
    const store = openStore(server.url);
    await createFunded(store, 10);
    const operator = rawClient(server.url);
    const written = async () => /aof_current_size:(\d+)/.exec(await operator.info('persistence'))?.[1];
    const before = await written();
    await store.rates.take({ key: 'k', limit: 1, windowSeconds: 60, nowMs: T0 });
    await store.rates.take({ key: 'k', limit: 1, windowSeconds: 60, nowMs: T0 });
    await store.units.hold(holdOf('h'));
    expect(await written()).toBe(before);
    await store.units.capture(captureOf('h'));
    expect(await written()).not.toBe(before);
  });

  describe('the log', () => {
    const cases = [
      ['says that nothing is kept', ['--appendonly', 'no'], 'Redis keeps no append-only file'],
      ['says that the last seconds can be lost', ['--appendfsync', 'everysec'], 'may lose the last seconds'],
      [
        'says that units can be evicted',
        ['--maxmemory-policy', 'allkeys-lru'],
        'may forget units and payments',
      ],
      [
        'says that nothing could be checked',
        ['--rename-command', 'CONFIG', ''],
        'does not let its configuration',
      ],
    ] as const;
    test.each(cases)('%s, once', async (_, settings, warning) => {
      const own = await ownServer(settings);
      const { log, lines } = recordingLog();
      const store = openRedisStore({ url: own.url, keyPrefix: 'six', log });
      ends.push(() => store.close());
      await waitUntil('it is said', () => lines.some((line) => line.includes(warning)));
      await own.kill();
      await own.start();
      await untilBack(store);
      await waitUntil('the return is said', () => lines.some((line) => line.includes('answers again')));
      expect(lines.filter((line) => line.includes(warning))).toHaveLength(1);
    });

    test('says nothing about a Redis that keeps everything', async () => {
      const { log, lines } = recordingLog();
      const store = openRedisStore({ url: server.url, keyPrefix: 'six', log });
      ends.push(() => store.close());
      // The questions go out with the first ping at the latest; the third round trip comes after all their answers.
      for (let trips = 0; trips < 3; trips++) await store.ping();
      expect(lines).toEqual([]);
    });

    test.each([
      ['rejected', 'wr0ng-s%2Fcret'],
      ['accepted by a server that then dies', 'r1ght-secret'],
    ])('never has a password that is %s', async (_, password) => {
      const own = await ownServer(['--requirepass', 'r1ght-secret']);
      const { log, lines } = recordingLog();
      const url = own.url.replace('redis://', `redis://:${password}@`);
      const store = openRedisStore({ url, keyPrefix: 'six', log });
      ends.push(() => store.close());
      await settledTime(store.ping());
      await own.kill();
      await waitUntil('the loss is said', () => lines.some((line) => line.includes('does not answer')));
      const { error } = await settledTime(store.ping());
      expect(error).toBeInstanceOf(StoreUnavailable);
      log.error({ err: error }, 'as a caller would log it');
      const written = [lines.join(''), everythingOf(error)].join('\n');
      expect(written).toContain('control store does not answer');
      expect(written).not.toMatch(/wr0ng-s|r1ght-secret/);
    });
  });

  describe('a call that is cut off between two commands', () => {
    test.each(['before it was sent', 'after it was done'] as const)(
      'adding a key, cut %s, is repeated without a trace',
      async (when) => {
        await forEveryCut(server.url, when, async (cut, plain) => {
          await createFunded(plain, 1);
          const key = keyOf('k', 'acme');
          const done = await cut(async (store) => store.accounts.addKey(key));
          const found = await plain.accounts.findKey(key.digest);
          if (found === null) expect(await plain.accounts.addKey(key)).toBe('added');
          expect(await plain.accounts.addKey(key)).toBe('exists');
          expect((await plain.accounts.findKey(key.digest))?.key).toEqual(key);
          expect(await plain.accounts.listKeys({ organizationId: 'acme', after: null, limit: 9 })).toEqual([
            key,
          ]);
          expect(await plain.accounts.revokeKey({ keyId: 'k', atMs: T0 })).toBe('revoked');
          return done;
        });
      },
    );

    test.each(['before it was sent', 'after it was done'] as const)(
      'issuing a key, cut %s, gives one key when its buyer comes again under another id',
      async (when) => {
        await forEveryCut(server.url, when, async (cut, plain) => {
          await settle(plain, '1');
          const id = authorization('1');
          const digest = digestOf('derived from the Idempotency-Key');
          const done = await cut(async (store) =>
            store.payments.issueKey({ id, key: keyOf('first', null, digest) }),
          );
          const again = await plain.payments.issueKey({ id, key: keyOf('second', null, digest) });
          const keyId = (await plain.payments.find(id))?.keyId;
          expect(again.keyId).toBe(keyId);
          expect((await plain.accounts.findKey(digest))?.key.id).toBe(keyId);
          const listed = await plain.accounts.listKeys({ organizationId: null, after: null, limit: 9 });
          expect(listed.map((key) => key.id)).toEqual([keyId]);
          return done;
        });
      },
    );

    test.each(['before it was sent', 'after it was done'] as const)(
      'issuing a key, cut %s, gives one key when its buyer comes again for a random one',
      async (when) => {
        await forEveryCut(server.url, when, async (cut, plain) => {
          await settle(plain, '1');
          const id = authorization('1');
          const done = await cut(async (store) => store.payments.issueKey({ id, key: keyOf('first', null) }));
          const again = await plain.payments.issueKey({ id, key: keyOf('second', null) });
          const found = await Promise.all(
            ['first', 'second'].map((name) => plain.accounts.findKey(digestOf(name))),
          );
          expect(found.flatMap((credential) => credential?.key.id ?? [])).toEqual([again.keyId]);
          return done;
        });
      },
    );

    test.each(['before it was sent', 'after it was done'] as const)(
      'a claim, cut %s, is on the list of the unresolved exactly when the payment is claimed',
      async (when) => {
        await forEveryCut(server.url, when, async (cut, plain) => {
          const done = await cut(async (store) => store.payments.claim(claimOf('1')));
          const claimed = (await plain.payments.find(authorization('1'))) !== null;
          const listed = await plain.payments.unresolved({ nowMs: T0 + 1_000, limit: 9 });
          expect(listed).toHaveLength(claimed ? 1 : 0);
          return done;
        });
      },
    );

    test.each(['before it was sent', 'after it was done'] as const)(
      'a hold, cut %s, is swept exactly when it was made',
      async (when) => {
        await forEveryCut(server.url, when, async (cut, plain) => {
          await createFunded(plain, 1);
          const done = await cut(async (store) => store.units.hold(holdOf('h')));
          const held = (await plain.units.balance('acme'))?.held;
          const question = { nowMs: T0 + 60_000, limit: 9 };
          await plain.units.overdueHolds(question);
          expect(await plain.units.overdueHolds(question)).toHaveLength(held ?? Number.NaN);
          return done;
        });
      },
    );

    test.each(['before it was sent', 'after it was done'] as const)(
      'creating an organization, cut %s, is repeated and listed once',
      async (when) => {
        await forEveryCut(server.url, when, async (cut, plain) => {
          const acme = { id: 'acme', displayName: '', plan: 'free', createdAtMs: T0 } as const;
          const done = await cut(async (store) => store.accounts.createOrganization(acme));
          const listed = await plain.accounts.listOrganizations({ after: null, limit: 9 });
          const found = await plain.accounts.findOrganization('acme');
          expect(listed).toEqual(found === null ? [] : [acme]);
          await plain.accounts.createOrganization(acme);
          expect(await plain.accounts.listOrganizations({ after: null, limit: 9 })).toEqual([acme]);
          return done;
        });
      },
    );
  });

  describe('lists of all organizations', () => {
    /** Every organization with one hold, the last one overdue first. */
    const holdOfEach = async (store: ControlStore, count: number): Promise<readonly string[]> => {
      const ids = Array.from({ length: count }, (_, i) => `org-${String(i).padStart(3, '0')}`);
      await Promise.all(ids.map((id) => createFunded(store, 1, id)));
      await Promise.all(
        ids.map((id, i) => store.units.hold({ ...holdOf(`hold-${id}`, id), overdueAtMs: T0 + 1_000 - i })),
      );
      return ids;
    };
    const holdersOf = async (store: ControlStore, nowMs: number) =>
      (await store.units.overdueHolds({ nowMs, limit: 1_000 })).map((hold) => hold.organizationId);

    test('the sweeper finds overdue holds in one list, and asks no organization that holds nothing', async () => {
      const keyPrefix = `test-${randomUUID()}`;
      const plain = openStore(server.url, keyPrefix);
      const ids = Array.from({ length: 300 }, (_, i) => `org-${i}`);
      await Promise.all(ids.map((id) => createFunded(plain, 1, id)));
      const connection = openConnection({ url: server.url, log: silent, onFirstReady: async () => {} });
      ends.push(() => connection.close());
      let asked = 0;
      const store = storeOver(
        {
          ...connection,
          run: (command) => {
            asked += 1;
            return connection.run(command);
          },
        },
        keyPrefix,
      );
      expect(await holdersOf(store, T0)).toEqual([]);
      await plain.units.hold(holdOf('h', 'org-7'));
      asked = 0;
      expect(await holdersOf(store, T0 + 60_000)).toEqual(['org-7']);
      // The list, and the hold that it names.
      expect(asked).toBe(2);
    });

    test('the list of open holds names those that are open and no others', async () => {
      const keyPrefix = `test-${randomUUID()}`;
      const store = openStore(server.url, keyPrefix);
      await createFunded(store, 3);
      for (const id of ['open', 'captured', 'released']) await store.units.hold(holdOf(id));
      await store.units.hold({ ...holdOf('open'), overdueAtMs: T0 + 1 });
      await store.units.capture(captureOf('captured'));
      await store.units.release({ ...captureOf('released'), kind: 'overdue', note: '' });
      expect((await store.units.hold(holdOf('insufficient', 'acme', 99))).outcome).toBe('insufficient');
      expect((await store.units.hold(holdOf('unknown', 'no-such'))).outcome).toBe('unknown');
      const { openHolds } = namesOf(keyPrefix);
      const raw = rawClient(server.url);
      expect(await raw.zrange(openHolds, '0', '-1', 'WITHSCORES')).toEqual([
        JSON.stringify(['acme', 'open']),
        String(T0 + 60_000),
      ]);
    });

    test('the sweeper sees the overdue holds of more organizations than it asks at once, oldest first', async () => {
      const store = openStore(server.url);
      const ids = await holdOfEach(store, 300);
      const all = await store.units.overdueHolds({ nowMs: T0 + 1_000, limit: 1_000 });
      expect(all.map((hold) => hold.organizationId)).toEqual([...ids].reverse());
      const oldest = await store.units.overdueHolds({ nowMs: T0 + 1_000, limit: 3 });
      expect(oldest).toEqual(all.slice(0, 3));
    });

    test('the list of the unresolved names payments in settling and no others', async () => {
      const keyPrefix = `test-${randomUUID()}`;
      const { payments } = openStore(server.url, keyPrefix);
      for (const nonce of ['claimed', 'left', 'settled', 'dropped', 'again'])
        await payments.claim(claimOf(nonce));
      await payments.claim(claimOf('claimed', T0 + 5_000));
      await payments.leaveOpen({ id: authorization('left'), atMs: T0, transaction: null });
      await payments.recordSettlement({ id: authorization('settled'), transaction: '0xd' });
      await payments.dropClaim(authorization('dropped'));
      await payments.dropClaim(authorization('again'));
      await payments.claim(claimOf('again', T0 + 2_000));
      const { settling } = namesOf(keyPrefix);
      const listed = await rawClient(server.url).zrange(settling, '0', '-1', 'WITHSCORES');
      expect(listed).toEqual([
        ...[paymentEntry(authorization('claimed')), String(T0 + 1_000)],
        ...[paymentEntry(authorization('left')), String(T0 + 1_000)],
        ...[paymentEntry(authorization('again')), String(T0 + 2_000)],
      ]);
    });
  });
});

describe.skipIf(!redisIsThere())('on a node of a Redis Cluster', () => {
  test('changes are refused as unavailable, and nothing of them is left', async () => {
    const own = await ownServer(['--cluster-enabled', 'yes']);
    const operator = rawClient(own.url);
    await operator.cluster('ADDSLOTSRANGE', 0, 16_383);
    await waitUntil('the cluster serves', async () =>
      String(await operator.cluster('INFO')).includes('cluster_state:ok'),
    );
    const store = openStore(own.url);
    await store.ping();
    const before = await operator.dbsize();
    const { error } = await settledTime(createFunded(store, 1));
    expect(error).toBeInstanceOf(StoreUnavailable);
    expect(everythingOf(error)).toContain('CROSSSLOT');
    expect(await operator.dbsize()).toBe(before);
  });
});

async function untilBack(store: ControlStore): Promise<void> {
  await waitUntil('the store answers again', async () => (await settledTime(store.ping())).error === null);
}

/** Ids of the connections that stores have open. */
async function connectionsOf(operator: Redis): Promise<readonly string[]> {
  const list = String(await operator.client('LIST')).split('\n');
  return list.flatMap((line) => (line.includes('name=settlement-index') ? [line.split(' ')[0] ?? ''] : []));
}

/** Every text in an error, its causes and their fields. */
function everythingOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const names = Object.getOwnPropertyNames(error);
  const fields = names.map((name) => {
    const value: unknown = Reflect.get(error, name);
    return name === 'cause' ? everythingOf(value) : JSON.stringify(value);
  });
  return fields.join('\n');
}

type Cut = 'before it was sent' | 'after it was done';

/** Runs the scenario on fresh data, cutting the call at its first command, its second, and so on, until it is not cut any more. */
async function forEveryCut(
  url: string,
  when: Cut,
  scenario: (
    cut: (call: (store: ControlStore) => Promise<unknown>) => Promise<'cut' | 'done'>,
    plain: ControlStore,
  ) => Promise<'cut' | 'done'>,
): Promise<void> {
  const connection = openConnection({ url, log: silent, onFirstReady: async () => {} });
  ends.push(() => connection.close());
  let cuts = 0;
  for (;;) {
    const keyPrefix = `test-${randomUUID()}`;
    const at = cuts;
    const result = await scenario(
      async (call) => {
        const { error } = await settledTime(call(storeOver(cutAfter(connection, at, when), keyPrefix)));
        if (error !== null) expect(error).toBeInstanceOf(StoreUnavailable);
        return error === null ? 'done' : 'cut';
      },
      storeOver(connection, keyPrefix),
    );
    if (result === 'done') break;
    cuts++;
  }
  expect(cuts).toBeGreaterThanOrEqual(2);
}

/** A process that dies: `count` commands are done, the next is not sent or not answered, and none after it. */
function cutAfter(connection: RedisConnection, count: number, when: Cut): RedisConnection {
  let left = count;
  const guard = async <T>(command: () => Promise<T>): Promise<T> => {
    left--;
    if (left >= 0) return await command();
    if (left === -1 && when === 'after it was done') await command();
    throw new StoreUnavailable(new Error('cut off by the test'));
  };
  return {
    run: (command) => guard(() => connection.run(command)),
    script: (name, keys, values) => guard(() => connection.script(name, keys, values)),
    close: () => connection.close(),
  };
}
