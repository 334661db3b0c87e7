import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CopyLine, copyRedis, loadRedis } from '../../../../src/accounts/redis/copy.ts';
import { namesOf, RESTORING } from '../../../../src/accounts/redis/layout.ts';
import { openRedisStore } from '../../../../src/accounts/redis/store.ts';
import { type ControlStore, OtherVersion } from '../../../../src/accounts/store.ts';
import { backUpAccounts, refuseAccounts, restoreAccounts } from '../../../../src/operate/backup/accounts.ts';
import { checkAccounts } from '../../../../src/operate/doctor/accounts.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../../kit/redis-server.ts';
import { waitUntil } from '../../../kit/wait-until.ts';

/**
 * What the last version with layout 1 wrote: a backup that it made, and everything that its store answered about those accounts.
 * Both were recorded once, by that version, with Redis 7.0 (an older server cannot read its values).
 */
const RECORDED = new URL('./layout-1/', import.meta.url);
const LINES: readonly CopyLine[] = readFileSync(new URL('redis.jsonl', RECORDED), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as CopyLine);
const { counts: COUNTS, ...BEFORE_SALES } = JSON.parse(
  readFileSync(new URL('accounts.json', RECORDED), 'utf8'),
);
/** That version did not record what a payment was claimed for. */
const unsold = (payment: object | null) => (payment === null ? null : { ...payment, sale: null });
const ACCOUNTS = {
  ...BEFORE_SALES,
  payments: BEFORE_SALES.payments.map(unsold),
  unresolved: BEFORE_SALES.unresolved.map(unsold),
};

const T0 = 1_750_000_000_000;
const FOREVER_MS = 4_000_000_000_000;
const ALL = { after: null, limit: 1_000 };
const NONCES = ['settling', 'left', 'settled', 'serving', 'served', 'keyed', 'dropped'];
const silent = pino({ level: 'silent' });

function authorization(nonce: string) {
  return { chain: 'eip155:8453', asset: '0xaa', payer: '0xbb', nonce };
}

/** Everything that the port shows of the recorded accounts. */
async function viewOf({ accounts, units, payments }: ControlStore) {
  const organizations = await accounts.listOrganizations(ALL);
  const each = organizations.map(async ({ id }) => ({
    id,
    keys: await accounts.listKeys({ organizationId: id, ...ALL }),
    balance: await units.balance(id),
    ledger: await units.ledger({ organizationId: id, after: 0, limit: 1_000 }),
  }));
  return {
    organizations,
    accounts: await Promise.all(each),
    trialKeys: await accounts.listKeys({ organizationId: null, ...ALL }),
    payments: await Promise.all(NONCES.map((nonce) => payments.find(authorization(nonce)))),
    unresolved: await payments.unresolved({ nowMs: FOREVER_MS, limit: 1_000 }),
    overdue: await units.overdueHolds({ nowMs: FOREVER_MS, limit: 1_000 }),
  };
}

async function* recorded(): AsyncGenerator<CopyLine> {
  yield* LINES;
}

describe.skipIf(!redisIsThere())('the layout of accounts in Redis', () => {
  let server: RedisServer;
  let redis: Redis;
  let directory: string;
  let stores: ControlStore[];

  beforeEach(async () => {
    server = await startRedisServer(['--appendfsync', 'no']);
    redis = new Redis(server.url);
    directory = mkdtempSync(join(tmpdir(), 'settlement-index-layout-'));
    stores = [];
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    redis.disconnect();
    await server.stop();
    rmSync(directory, { recursive: true });
  });

  const open = (keyPrefix: string, log = silent): ControlStore => {
    const store = openRedisStore({ url: server.url, keyPrefix, log });
    stores.push(store);
    return store;
  };
  const configOf = (keyPrefix: string) => ({
    control: { redisUrl: server.url, keyPrefix },
    dataDir: directory,
    console: { visitorKey: null },
  });
  /** As the earlier version left it. */
  const writeLayout1 = async (keyPrefix: string, isWanted: (name: string) => boolean = () => true) => {
    for (const line of LINES.filter(({ name }) => isWanted(name))) {
      const name = `${keyPrefix}:${line.name}`;
      if ('rows' in line) await redis.rpush(name, ...line.rows);
      else await redis.restore(name, 0, Buffer.from(line.dump, 'base64'));
    }
  };
  const everyName = async () => (await redis.keys('*')).sort();

  test('a backup of the earlier layout restores: every account, key, hold, payment and reply is there, and works', async () => {
    await loadRedis(redis, 'six', recorded());
    const store = open('six');
    expect(await viewOf(store)).toEqual(ACCOUNTS);
    for (const { keys } of [...ACCOUNTS.accounts, { keys: ACCOUNTS.trialKeys }])
      for (const key of keys) expect((await store.accounts.findKey(key.digest))?.key).toEqual(key);

    // Finished work is not done again, and open work can be ended.
    const { units, payments, replies } = store;
    const grant = { organizationId: 'acme', grantId: 'gift', units: 7, note: '', atMs: T0 };
    expect((await units.grant(grant)).outcome).toBe('replayed');
    const capture = { organizationId: 'acme', holdId: 'open ü:{1}', units: 1, atMs: T0 };
    expect((await units.capture({ ...capture, holdId: 'captured ü:{1}' })).outcome).toBe('replayed');
    expect((await units.capture({ ...capture, holdId: 'released ü:{1}' })).outcome).toBe('released');
    expect((await units.capture(capture)).outcome).toBe('captured');
    const left = await units.overdueHolds({ nowMs: FOREVER_MS, limit: 9 });
    expect(left).toHaveLength(ACCOUNTS.overdue.length - 1);
    expect(
      (await payments.issueKey({ id: authorization('keyed'), key: ACCOUNTS.trialKeys[0] })).outcome,
    ).toBe('already_issued');
    expect(await payments.dropClaim(authorization('settling'))).toBe('dropped');
    const reply = { scope: 'acme', requestDigest: 'r', nowMs: T0, leaseUntilMs: T0 + 1, keepUntilMs: T0 + 2 };
    expect(await replies.begin({ ...reply, key: 'kept' })).toEqual({
      outcome: 'done',
      reply: '{"answer":1}',
    });
    // Nothing is left that no reader knows.
    const { root, layout } = namesOf('six');
    for (const name of await everyName()) expect(name === layout || name.startsWith(root), name).toBe(true);
    expect(await redis.exists(`${root}restoring`)).toBe(0);
  });

  test.each([
    ['everything', () => true],
    ['a payment alone', (name: string) => name.endsWith(':served}:payment')],
    ['a trial key alone', (name: string) => name.startsWith('{key')],
  ])(
    '%s in the earlier layout refuses every call, changes nothing, and says how to copy it',
    async (_, isWanted) => {
      await writeLayout1('six', isWanted);
      const before = await everyName();
      const lines: string[] = [];
      const store = open('six', pino({ level: 'error' }, { write: (line) => void lines.push(line) }));
      const calls = [
        store.ping(),
        store.units.balance('acme'),
        store.payments.find(authorization('served')),
        store.accounts.createOrganization({ id: 'new', displayName: '', plan: 'free', createdAtMs: T0 }),
        store.rates.take({ key: 'k', limit: 1, windowSeconds: 1, nowMs: T0 }),
      ];
      for (const call of calls) await expect(call).rejects.toBeInstanceOf(OtherVersion);
      await waitUntil('it is logged', () => lines.length > 0);
      expect(lines.join('')).toMatch(/under the key prefix six have the layout of an earlier version/);
      expect(lines.join('')).toMatch(
        /backup <directory> --only accounts.*control\.keyPrefix.*restore <directory>/,
      );
      expect(await everyName()).toEqual(before);
      const findings = await checkAccounts({ config: configOf('six'), store, nowMs: () => T0, log: silent });
      expect(JSON.stringify(findings)).toContain('control.keyPrefix to another name');
    },
  );

  test('the way that the refusal names keeps every account: backup, another prefix, restore', async () => {
    await writeLayout1('six');
    const copied = await backUpAccounts(configOf('six'), directory);
    expect(copied).toEqual({ kind: 'redis', schema: 1, ...COUNTS });
    if (copied === null) throw new Error('nothing was copied');
    await expect(refuseAccounts(configOf('six'), copied)).rejects.toThrow('there are accounts already');
    await refuseAccounts(configOf('seven'), copied);
    await restoreAccounts(configOf('seven'), directory, 'redis');
    expect(await viewOf(open('seven'))).toEqual(ACCOUNTS);
    await expect(open('six').ping()).rejects.toBeInstanceOf(OtherVersion);
  });

  test('a backup of this layout restores into an empty Redis and is the same again', async () => {
    await loadRedis(redis, 'six', recorded());
    mkdirSync(join(directory, 'again'));
    const copied = await backUpAccounts(configOf('six'), join(directory, 'again'));
    expect(copied).toEqual({ kind: 'redis', schema: 2, ...COUNTS });
    if (copied === null) throw new Error('nothing was copied');
    await refuseAccounts(configOf('seven'), copied);
    await restoreAccounts(configOf('seven'), join(directory, 'again'), 'redis');
    expect(await viewOf(open('seven'))).toEqual(ACCOUNTS);
    const namesUnder = async (prefix: string) =>
      (await everyName()).filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length));
    expect(await namesUnder('seven:')).toEqual(await namesUnder('six:'));
  });

  test('a key that is bought while payments are copied is copied with its payment', async () => {
    await loadRedis(redis, 'six', recorded());
    const store = open('six');
    const key = { ...ACCOUNTS.trialKeys[0], id: 'key_late', digest: 'e'.repeat(64) };
    const lines: CopyLine[] = [];
    const counts = { organizations: 0, ledgerRows: 0, payments: 0 };
    for await (const line of copyRedis({ redis, keyPrefix: 'six', counts }, 2)) {
      // Keys were copied by then.
      if (line.name.includes(':organization:acme'))
        expect(await store.payments.issueKey({ id: authorization('served'), key })).toMatchObject({
          outcome: 'issued',
        });
      lines.push(line);
    }
    await loadRedis(
      redis,
      'seven',
      (async function* () {
        yield* lines;
      })(),
    );
    const restored = open('seven');
    expect((await restored.payments.find(authorization('served')))?.keyId).toBe('key_late');
    expect((await restored.accounts.findKey(key.digest))?.key).toEqual(key);
  });

  test('half of a restore, and a newer layout, are refused and not restored over', async () => {
    const { layout } = namesOf('six');
    await expect(
      loadRedis(
        redis,
        'six',
        (async function* () {
          yield* LINES.slice(0, 20);
          throw new Error('the disk is gone');
        })(),
      ),
    ).rejects.toThrow('the disk is gone');
    expect(await redis.get(layout)).toBe(RESTORING);
    const store = open('six');
    const copied = { kind: 'redis', schema: 2, ...COUNTS };
    await expect(store.units.balance('acme')).rejects.toThrow('did not finish');
    await expect(refuseAccounts(configOf('six'), copied)).rejects.toThrow('there are accounts already');
    await redis.set(layout, '3');
    await expect(store.units.balance('acme')).rejects.toThrow('newer version');
    await expect(backUpAccounts(configOf('six'), directory)).rejects.toThrow('newer version');
    await redis.set(layout, '2');
    await store.ping();
  });
});
