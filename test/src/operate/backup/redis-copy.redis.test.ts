import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keyDigest, mintApiKey } from '../../../../core/domain/caller.ts';
import type { QueryRun } from '../../../../core/domain/usage.ts';
import type { AuthorizationId } from '../../../../src/accounts/payment-store.ts';
import { namesOf } from '../../../../src/accounts/redis/layout.ts';
import { openRedisStore } from '../../../../src/accounts/redis/store.ts';
import type { ControlStore } from '../../../../src/accounts/store.ts';
import { backUpAccounts, refuseAccounts, restoreAccounts } from '../../../../src/operate/backup/accounts.ts';
import { createOrganization } from '../../../kit/access.ts';
import { type RedisServer, redisIsThere, startRedisServer } from '../../../kit/redis-server.ts';
import { expectBooks } from '../../../kit/unit-books.ts';

const ORGANIZATIONS = 3;
const WRITERS = 4;
const LEASE_MS = 60_000;

describe.skipIf(!redisIsThere())('a copy of the accounts in Redis', () => {
  let server: RedisServer;
  let root: string;
  let stores: ControlStore[] = [];

  beforeAll(async () => {
    server = await startRedisServer(['--appendfsync', 'no']);
    root = mkdtempSync(join(tmpdir(), 'settlement-index-redis-copy-'));
  });
  afterAll(async () => {
    for (const store of stores) await store.close();
    stores = [];
    await server?.stop();
    if (root !== undefined) rmSync(root, { recursive: true, force: true });
  });

  const open = (keyPrefix: string): ControlStore => {
    const store = openRedisStore({ url: server.url, keyPrefix, log: pino({ level: 'silent' }) });
    stores.push(store);
    return store;
  };
  const configOf = (keyPrefix: string) => ({
    control: { redisUrl: server.url, keyPrefix },
    dataDir: join(root, keyPrefix),
  });

  test('has handles, own tables with their quota, saved queries with all of their versions, and refreshes; removed ones give no number again', async () => {
    const store = open('saved');
    const ids = [
      await createOrganization(store, { units: 1 }),
      await createOrganization(store, { units: 1 }),
    ];
    const [organizationId = '', otherId = ''] = ids;
    await store.saved.claimHandle({ organizationId, handle: 'acme', skeleton: 'acme' });
    const common = { organizationId, settings: '{}', listing: '{}', atMs: 5, queriesMax: 9, versionsMax: 9 };
    const open_ = { ...common, slug: 'open', isPublic: true, refreshSeconds: 900 };
    await store.saved.put({ ...open_, content: 'one' });
    await store.saved.put({ ...open_, content: 'two' });
    const gone = { ...common, slug: 'gone', isPublic: true, refreshSeconds: 900 };
    await store.saved.put({ ...gone, content: 'one' });
    await store.saved.remove({ organizationId, slug: 'gone' });
    const table = { organizationId, name: 'labels', id: 'one', facts: '{}', bytes: 3, atMs: 1 };
    const quota = { tablesMax: 1, bytesMax: 3 };
    await store.ownTables.put({ ...table, ...quota, content: Buffer.from([0, 255, 1]) });
    const directory = mkdtempSync(join(root, 'saved-backup-'));
    await backUpAccounts(configOf('saved'), directory);
    await restoreAccounts(configOf('saved-again'), directory, 'redis');
    const restored = open('saved-again');
    const lists = async ({ saved, refreshes, ownTables }: ControlStore) => ({
      tables: await ownTables.list(organizationId),
      rows: [...((await ownTables.content(table)) ?? [])],
      own: await saved.list({ organizationId, after: null, limit: 9 }),
      public: await saved.listings({ organizationId: null, after: null, limit: 9 }),
      versions: await saved.versions({ organizationId, slug: 'open' }),
      handle: [await saved.handle({ handle: 'acme' }), await saved.handle({ organizationId })],
      due: await refreshes.claim({ nowMs: 10, untilMs: 20 }),
      second: await refreshes.claim({ nowMs: 10, untilMs: 20 }),
    });
    const found = await lists(restored);
    expect(found).toEqual(await lists(store));
    expect(found.versions).toHaveLength(2);
    expect(found.rows).toEqual([0, 255, 1]);
    const second = { ...table, ...quota, name: 'second', content: Buffer.from('x') };
    expect(await restored.ownTables.put(second)).toBe('too_many');
    expect(found.due).toMatchObject({ slug: 'open', dueAtMs: 5 });
    expect(found.second).toBeNull();
    const alike = { organizationId: otherId, handle: 'ac-me', skeleton: 'acme' };
    expect(await restored.saved.claimHandle(alike)).toBe('taken');
    expect(await restored.saved.put({ ...gone, content: 'two' })).toEqual({ outcome: 'created', version: 2 });
  });

  test('taken while units are spent and payments claimed, has books that agree, every key, and every claim that is open', async () => {
    const store = open('old');
    const organizations: string[] = [];
    for (let n = 0; n < ORGANIZATIONS; n++)
      organizations.push(await createOrganization(store, { units: 1_000_000 }));
    const [organizationId = ''] = organizations;
    await store.accounts.addKey({ ...LIVE_KEY, organizationId });
    const query = { ...QUERY, organizationId };
    await store.usage.addQueries([query]);
    const before = await claim(store, 'before');
    const key = await trialKey(store, before);
    const open_ = await claim(store, 'open');

    const stop = new AbortController();
    const spent = spend(store, organizations, stop.signal);
    const directory = join(root, 'backup');
    mkdirSync(directory);
    const copied = await backUpAccounts(configOf('old'), directory);
    stop.abort();
    const written = await spent;
    expect(written).toBeGreaterThan(ORGANIZATIONS);
    expect(copied).toMatchObject({ kind: 'redis', organizations: ORGANIZATIONS });
    // Something was written after the copy began, or the figures below prove little.
    expect(copied?.ledgerRows).toBeLessThanOrEqual(written * 2 + ORGANIZATIONS);

    if (copied === null) throw new Error('nothing was copied');
    await expect(refuseAccounts(configOf('old'), copied)).rejects.toThrow('there are accounts already');
    await refuseAccounts(configOf('new'), copied);
    await restoreAccounts(configOf('new'), directory, 'redis');

    const restored = open('new');
    let rows = 0;
    for (const organization of organizations) {
      await expectBooks(restored, organization);
      rows += (await restored.units.ledger({ organizationId: organization, after: 0, limit: 1_000_000 }))
        .length;
    }
    expect(rows).toBe(copied.ledgerRows);
    expect(await restored.accounts.findKey(key)).toMatchObject({ key: { digest: key, kind: 'trial' } });
    expect(await restored.payments.find(before)).toEqual(await store.payments.find(before));
    const later = { nowMs: Date.now() + 2 * LEASE_MS, limit: 1_000_000 };
    const unresolved = await restored.payments.unresolved(later);
    expect(unresolved.map(({ id }) => id)).toContainEqual(open_);
    expect(unresolved).toHaveLength(copied.payments - 1);
    const listed = await restored.accounts.listOrganizations({ after: null, limit: 100 });
    expect(listed.map(({ id }) => id).sort()).toEqual([...organizations].sort());
    // What was open when it was copied is swept.
    const raw = new Redis(server.url);
    const listedHolds = await raw.zcard(namesOf('new').openHolds);
    raw.disconnect();
    const overdue = await restored.units.overdueHolds({ nowMs: Date.now() + 2 * LEASE_MS, limit: 1_000_000 });
    expect(overdue.length).toBeGreaterThan(0);
    expect(listedHolds).toBe(overdue.length);
    const events = { organizationId, limit: 9 };
    expect(await restored.accounts.keyEvents(events)).toEqual(await store.accounts.keyEvents(events));
    expect(await restored.accounts.keyEvents(events)).toHaveLength(1);
    const page = { organizationId, keyId: null, before: null, limit: 9 };
    expect([await store.usage.queries(page), await restored.usage.queries(page)]).toEqual([[query], []]);
    // The restored deployment goes on where it was.
    expect(await restored.units.grant(grantTo(organizations[0] ?? ''))).toMatchObject({ outcome: 'granted' });
  });
});

const LIVE_KEY = {
  id: 'key_live',
  digest: keyDigest(mintApiKey('live')),
  kind: 'live',
  label: '',
  createdAtMs: 1,
  expiresAtMs: null,
  revokedAtMs: null,
} as const;

const QUERY: QueryRun = {
  id: 'q',
  organizationId: '',
  keyId: 'key_live',
  startedAtMs: 5,
  durationMs: 1,
  surface: 'http',
  tier: 'standard',
  budgetQu: 1,
  chargedQu: 1,
  rows: 1,
  status: 'succeeded',
  text: 'SELECT 1',
  textCut: false,
};

function grantTo(organizationId: string) {
  return { organizationId, grantId: 'after', units: 5, note: '', atMs: Date.now() };
}

async function claim(store: ControlStore, nonce: string): Promise<AuthorizationId> {
  const id = { chain: 'eip155:8453', asset: '0xaa', payer: '0xbb', nonce };
  const now = Date.now();
  await store.payments.claim({
    id,
    binding: 'b',
    resource: 'GET /v0/flows',
    payTo: '0xcc',
    amount: '1',
    expiresAtMs: now + LEASE_MS,
    claimedAtMs: now,
    leaseUntilMs: now + LEASE_MS,
  });
  return id;
}

/** What a settled payment bought. */
async function trialKey(store: ControlStore, id: AuthorizationId) {
  await store.payments.recordSettlement({ id, transaction: '0xdd' });
  const digest = await keyDigest(mintApiKey('trial'));
  const key = {
    id: 'key_trial',
    digest,
    kind: 'trial' as const,
    organizationId: null,
    label: '',
    createdAtMs: Date.now(),
    expiresAtMs: null,
    revokedAtMs: null,
  };
  expect(await store.payments.issueKey({ id, key })).toMatchObject({ outcome: 'issued' });
  return digest;
}

/** Holds, captures and claims from several sides until it is stopped; answers how many holds were taken. */
async function spend(
  store: ControlStore,
  organizations: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const work = async (writer: number): Promise<number> => {
    let taken = 0;
    for (let round = 0; !signal.aborted || round === 0; round++) {
      for (const organizationId of organizations) {
        const hold = { organizationId, holdId: `${writer}-${round}`, units: 3, operation: 'list-flows' };
        const now = Date.now();
        await store.units.hold({ ...hold, heldAtMs: now, overdueAtMs: now + LEASE_MS });
        taken++;
        if (round % 3 !== 0) await store.units.capture({ ...hold, units: 1, atMs: now });
      }
      await claim(store, `${writer}-${round}`);
    }
    return taken;
  };
  const counts = await Promise.all(Array.from({ length: WRITERS }, (_, writer) => work(writer)));
  return counts.reduce((sum, count) => sum + count, 0);
}
