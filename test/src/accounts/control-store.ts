import { createHash, randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import type { KeyDigest } from '../../../core/domain/caller.ts';
import { NO_UNITS, UNITS_MAX } from '../../../core/domain/plan.ts';
import type { KeyRecord, Organization } from '../../../src/accounts/account-store.ts';
import {
  type AuthorizationId,
  PAYMENT_KEPT_MS,
  type PaymentRecord,
} from '../../../src/accounts/payment-store.ts';
import { type ControlStore, StoreUnavailable } from '../../../src/accounts/store.ts';
import { HOLD_KEPT_MS, HOLDS_FORGOTTEN_PER_END, type Hold } from '../../../src/accounts/unit-store.ts';
import { expectBooks, readLedger, troubleOf } from '../../kit/unit-books.ts';

/** A store without data (its windows of rates may come from an earlier test), and further handles on the same data. */
export interface OpenedStore {
  readonly store: ControlStore;
  reopen(): Promise<ControlStore>;
  /** The test is over: handles and data are not needed any more. */
  close(): Promise<void>;
}

type Open = () => Promise<OpenedStore>;

/** What the contract leaves to an adapter. */
export interface AdapterTraits {
  /** Whether handles count the windows of rates together. An adapter for one API process may count in its memory. */
  readonly sharedRates: boolean;
}

const T0 = 1_750_000_000_123;
/** The last times a Date can hold, with every digit in use: seventeen digits of a float show a store that rounds. */
const FAR_MS = 8_639_999_999_999_987;

/** Texts that separators, patterns, number columns, escapes, hash tags or plain objects could trip over. */
const ODD_TEXTS = [
  'with space',
  ' around ',
  'around',
  'a:b',
  'a::b',
  '{braces}',
  '{}',
  '}{',
  'a{b}c',
  '{',
  `it's "quoted"`,
  'back\\slash',
  '%_*?[x]^',
  'ünïcödé',
  'u\u0308 in two',
  'ü in one',
  '日本語',
  '😀',
  '\uff5e above the surrogates',
  'line\nbreak\ttab\r',
  '\u200b',
  '__proto__',
  'constructor',
  '1',
  '1.0',
  '01',
  '1e0',
  '-1',
  '12345678901234567890',
  'null',
  'Case',
  'case',
  `'; DROP TABLE organizations; --`,
  '../..',
  '$1 ?1 :a @b',
  'x'.repeat(200),
  '€'.repeat(200),
] as const;

/** The contract of `ControlStore`, over whatever `open` gives. */
export function controlStoreContract(name: string, open: Open, { sharedRates }: AdapterTraits): void {
  const opened: OpenedStore[] = [];
  const fresh: Open = async () => {
    const one = await open();
    opened.push(one);
    return one;
  };
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  describe(name, () => {
    organizations(fresh);
    keys(fresh);
    grantsAndHolds(fresh);
    capturesAndReleases(fresh);
    forgottenHolds(fresh);
    ledgers(fresh);
    claims(fresh);
    unresolvedPages(fresh);
    servings(fresh);
    issuedKeys(fresh);
    rates(fresh);
    if (sharedRates) ratesOfAllHandles(fresh);
    replies(fresh);
    oddTexts(fresh);
    crowds(fresh);
    handles(fresh);
  });
}

function hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function organization(id: string, changes: Partial<Organization> = {}): Organization {
  return { id, displayName: `Display of ${id}`, plan: 'free', createdAtMs: T0, ...changes };
}

function liveKey(id: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id,
    digest: hex(id) as KeyDigest,
    kind: 'live',
    organizationId: 'org',
    label: `Label of ${id}`,
    createdAtMs: T0,
    expiresAtMs: null,
    revokedAtMs: null,
    ...changes,
  };
}

function trialKey(id: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  return liveKey(id, { kind: 'trial', organizationId: null, expiresAtMs: T0 + 86_400_000, ...changes });
}

function authorization(nonce: string, changes: Partial<AuthorizationId> = {}): AuthorizationId {
  return {
    chain: 'eip155:8453',
    asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
    payer: '0x00000000000000000000000000000000000000aa',
    nonce: `0x${hex(nonce)}`,
    ...changes,
  };
}

type Claim = Parameters<ControlStore['payments']['claim']>[0];

function claimOf(id: AuthorizationId, changes: Partial<Claim> = {}): Claim {
  return {
    id,
    binding: hex('GET /v0/flows'),
    resource: 'GET /v0/flows',
    payTo: '0x00000000000000000000000000000000000000bb',
    amount: '10000',
    expiresAtMs: T0 + 300_000,
    claimedAtMs: T0,
    leaseUntilMs: T0 + 30_000,
    ...changes,
  };
}

const TRANSACTION = `0x${hex('transaction')}`;

function holdOf(holdId: string, units: number, changes: Partial<Hold> = {}): Hold {
  return {
    organizationId: 'org',
    holdId,
    units,
    operation: 'sql.run',
    heldAtMs: T0 + 1,
    overdueAtMs: T0 + 60_000,
    ...changes,
  };
}

/** A store with the organization `org`, which has `units`. */
async function funded(fresh: Open, units: number): Promise<OpenedStore> {
  const opened = await fresh();
  await opened.store.accounts.createOrganization(organization('org'));
  if (units > 0) await grant(opened.store, 'first', units);
  return opened;
}

function grant(store: ControlStore, grantId: string, units: number, organizationId = 'org') {
  return store.units.grant({ organizationId, grantId, units, note: `why ${grantId}`, atMs: T0 });
}

function capture(store: ControlStore, holdId: string, units: number, organizationId = 'org') {
  return store.units.capture({ organizationId, holdId, units, atMs: T0 + 2 });
}

function release(store: ControlStore, holdId: string, kind: 'release' | 'overdue' = 'release') {
  return store.units.release({
    organizationId: 'org',
    holdId,
    kind,
    note: `why ${kind} ${holdId}`,
    atMs: T0 + 3,
  });
}

/** How often each outcome came. */
function tally(answers: readonly ({ readonly outcome: string } | string)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const outcome = typeof answer === 'string' ? answer : answer.outcome;
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

/** Opening one takes long where it starts a thread. */
const otherHandles = new WeakMap<OpenedStore, ControlStore>();

/** `count` calls at once, taking turns on two handles of one store. */
async function crowd<T>(
  opened: OpenedStore,
  count: number,
  call: (store: ControlStore, index: number) => Promise<T>,
): Promise<T[]> {
  const { store } = opened;
  const other = await (otherHandles.get(opened) ?? opened.reopen());
  otherHandles.set(opened, other);
  return Promise.all(
    Array.from({ length: count }, (_, index) => call(index % 2 === 0 ? store : other, index)),
  );
}

/** All pages of a list by id. */
async function allPages<T extends { readonly id: string }>(
  read: (after: string | null) => Promise<readonly T[]>,
): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const page = await read(all.at(-1)?.id ?? null);
    if (page.length === 0) return all;
    all.push(...page);
  }
}

function byBytes(texts: readonly string[]): string[] {
  return [...texts].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}

function idsOf(records: readonly { readonly id: string }[]): string[] {
  return records.map(({ id }) => id);
}

function organizations(fresh: Open): void {
  test('an organization is found as it was created, and unknown ones are null', async () => {
    const { store } = await fresh();
    const acme = organization('acme', { plan: 'pro', createdAtMs: 0 });
    expect(await store.accounts.createOrganization(acme)).toBe('created');
    expect(await store.accounts.findOrganization('acme')).toEqual(acme);
    expect(await store.accounts.findOrganization('acm')).toBeNull();
    expect(await store.units.balance('acme')).toEqual(NO_UNITS);
    expect(await store.units.balance('acm')).toBeNull();
  });

  test('a taken id is refused, also for an identical organization, and the first one stays', async () => {
    const { store } = await fresh();
    const acme = organization('acme');
    await store.accounts.createOrganization(acme);
    await grant(store, 'first', 7, 'acme');
    expect(await store.accounts.createOrganization(acme)).toBe('exists');
    const other = organization('acme', { displayName: 'Other', plan: 'enterprise', createdAtMs: T0 + 1 });
    expect(await store.accounts.createOrganization(other)).toBe('exists');
    expect(await store.accounts.findOrganization('acme')).toEqual(acme);
    expect(await expectBooks(store, 'acme')).toMatchObject({ balance: 7 });
  });

  test('a plan changes alone, and the keys of the organization show it at once', async () => {
    const { store } = await fresh();
    await store.accounts.createOrganization(organization('org'));
    await store.accounts.addKey(liveKey('k'));
    const change = { organizationId: 'org', plan: 'enterprise' } as const;
    expect(await store.accounts.changePlan(change)).toBe('changed');
    expect(await store.accounts.changePlan(change)).toBe('changed');
    expect(await store.accounts.changePlan({ ...change, organizationId: 'other' })).toBe('unknown');
    const changed = organization('org', { plan: 'enterprise' });
    expect(await store.accounts.findOrganization('org')).toEqual(changed);
    expect(await store.accounts.findKey(liveKey('k').digest)).toEqual({
      key: liveKey('k'),
      organization: changed,
    });
    expect(await store.accounts.findOrganization('other')).toBeNull();
  });

  test('organizations are listed by the bytes of their ids, in pages without gap or repetition', async () => {
    const { store } = await fresh();
    const ids = Array.from({ length: 25 }, (_, index) => `org-${(index * 7) % 25}`);
    for (const id of ids) await store.accounts.createOrganization(organization(id));
    for (const limit of [1, 7, 25, 1_000]) {
      const all = await allPages((after) => store.accounts.listOrganizations({ after, limit }));
      expect(all).toEqual(byBytes(ids).map((id) => organization(id)));
    }
    expect(idsOf(await store.accounts.listOrganizations({ after: 'org-1', limit: 2 }))).toEqual([
      'org-10',
      'org-11',
    ]);
    expect(idsOf(await store.accounts.listOrganizations({ after: 'org-1z', limit: 1 }))).toEqual(['org-2']);
    expect(await store.accounts.listOrganizations({ after: 'zzz', limit: 5 })).toEqual([]);
  });

  test('lists of an empty store are empty', async () => {
    const { store } = await fresh();
    expect(await store.accounts.listOrganizations({ after: null, limit: 10 })).toEqual([]);
    expect(await store.accounts.listKeys({ organizationId: null, after: null, limit: 10 })).toEqual([]);
    expect(await store.accounts.listKeys({ organizationId: 'org', after: null, limit: 10 })).toEqual([]);
    expect(await store.units.overdueHolds({ nowMs: FAR_MS, limit: 10 })).toEqual([]);
    expect(await store.units.ledger({ organizationId: 'org', after: 0, limit: 10 })).toEqual([]);
    expect(await store.payments.unresolved({ nowMs: FAR_MS, limit: 10 })).toEqual([]);
    expect(await store.payments.find(authorization('none'))).toBeNull();
    await store.ping();
  });
}

function keys(fresh: Open): void {
  test('a key is found by its digest, field for field, with its organization', async () => {
    const { store } = await fresh();
    const org = organization('org', { plan: 'pro' });
    await store.accounts.createOrganization(org);
    const plain = liveKey('key_1');
    const expiring = liveKey('key_2', { expiresAtMs: FAR_MS, revokedAtMs: T0 + 5, createdAtMs: 0 });
    expect(await store.accounts.addKey(plain)).toBe('added');
    expect(await store.accounts.addKey(expiring)).toBe('added');
    expect(await store.accounts.findKey(plain.digest)).toEqual({ key: plain, organization: org });
    expect(await store.accounts.findKey(expiring.digest)).toEqual({ key: expiring, organization: org });
    expect(await store.accounts.findKey(hex('another') as KeyDigest)).toBeNull();
  });

  test('a trial key stands without an organization', async () => {
    const { store } = await fresh();
    expect(await store.accounts.addKey(trialKey('trial'))).toBe('added');
    expect(await store.accounts.findKey(trialKey('trial').digest)).toEqual({
      key: trialKey('trial'),
      organization: null,
    });
  });

  test('a key of an unknown organization is not kept', async () => {
    const { store } = await fresh();
    expect(await store.accounts.addKey(liveKey('k'))).toBe('unknown_organization');
    expect(await store.accounts.findKey(liveKey('k').digest)).toBeNull();
    expect(await store.accounts.listKeys({ organizationId: 'org', after: null, limit: 10 })).toEqual([]);
    await store.accounts.createOrganization(organization('org'));
    expect(await store.accounts.addKey(liveKey('k'))).toBe('added');
  });

  test('a taken id and a taken digest are refused and leave no trace', async () => {
    const { store } = await fresh();
    await store.accounts.createOrganization(organization('org'));
    await store.accounts.createOrganization(organization('second'));
    await store.accounts.addKey(liveKey('k'));
    const sameId = liveKey('k', { digest: hex('other') as KeyDigest, organizationId: 'second' });
    const sameDigest = liveKey('k2', { digest: liveKey('k').digest });
    expect(await store.accounts.addKey(liveKey('k'))).toBe('exists');
    expect(await store.accounts.addKey(sameId)).toBe('exists');
    expect(await store.accounts.addKey(sameDigest)).toBe('exists');
    expect(await store.accounts.addKey(trialKey('k', { digest: hex('third') as KeyDigest }))).toBe('exists');
    expect(await store.accounts.findKey(sameId.digest)).toBeNull();
    expect(await store.accounts.findKey(hex('third') as KeyDigest)).toBeNull();
    expect((await store.accounts.findKey(liveKey('k').digest))?.key).toEqual(liveKey('k'));
    const page = { after: null, limit: 10 };
    expect(await store.accounts.listKeys({ organizationId: 'org', ...page })).toEqual([liveKey('k')]);
    expect(await store.accounts.listKeys({ organizationId: 'second', ...page })).toEqual([]);
    expect(await store.accounts.listKeys({ organizationId: null, ...page })).toEqual([]);
    expect(await store.accounts.revokeKey({ keyId: 'k2', atMs: T0 })).toBe('unknown');
  });

  test('the earliest revocation of a key stands, also over one that lies ahead, and the key stays findable and listed', async () => {
    const { store } = await fresh();
    await store.accounts.createOrganization(organization('org'));
    await store.accounts.addKey(liveKey('k'));
    await store.accounts.addKey(trialKey('t'));
    expect(await store.accounts.revokeKey({ keyId: 'k', atMs: T0 + 90_000 })).toBe('revoked');
    expect(await store.accounts.revokeKey({ keyId: 'k', atMs: T0 + 9 })).toBe('revoked');
    expect(await store.accounts.revokeKey({ keyId: 'k', atMs: T0 + 99 })).toBe('was_revoked');
    expect(await store.accounts.revokeKey({ keyId: 't', atMs: 0 })).toBe('revoked');
    expect(await store.accounts.revokeKey({ keyId: 't', atMs: T0 })).toBe('was_revoked');
    expect(await store.accounts.revokeKey({ keyId: 'none', atMs: T0 })).toBe('unknown');
    const revoked = liveKey('k', { revokedAtMs: T0 + 9 });
    expect((await store.accounts.findKey(revoked.digest))?.key).toEqual(revoked);
    expect((await store.accounts.findKey(trialKey('t').digest))?.key.revokedAtMs).toBe(0);
    const listed = await store.accounts.listKeys({ organizationId: 'org', after: null, limit: 10 });
    expect(listed).toEqual([revoked]);
  });

  test('keys are listed by id for each organization and for trials, in pages', async () => {
    const { store } = await fresh();
    await store.accounts.createOrganization(organization('org'));
    await store.accounts.createOrganization(organization('second'));
    const added: Record<string, KeyRecord[]> = { org: [], second: [], trial: [] };
    for (let index = 0; index < 30; index++) {
      const owner = ['org', 'second', 'trial'][index % 3] ?? '';
      const id = `key_${hex(String(index)).slice(0, 8)}`;
      const key = owner === 'trial' ? trialKey(id) : liveKey(id, { organizationId: owner });
      await store.accounts.addKey(key);
      added[owner]?.push(key);
    }
    for (const [owner, expected] of Object.entries(added)) {
      const organizationId = owner === 'trial' ? null : owner;
      const all = await allPages((after) => store.accounts.listKeys({ organizationId, after, limit: 3 }));
      expect(idsOf(all)).toEqual(byBytes(idsOf(expected)));
      expect(all).toEqual(expect.arrayContaining(expected));
    }
    expect(await store.accounts.listKeys({ organizationId: 'third', after: null, limit: 3 })).toEqual([]);
  });
}

/** What no number of units is. */
const NO_WHOLE_NUMBERS = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, -0.5];

function grantsAndHolds(fresh: Open): void {
  test('a grant adds its units once, whatever a repetition asks for', async () => {
    const { store } = await funded(fresh, 0);
    const balance = { granted: 10, balance: 10, held: 0, spent: 0 };
    expect(await grant(store, 'g', 10)).toEqual({ outcome: 'granted', balance });
    expect(await grant(store, 'g', 10)).toEqual({ outcome: 'replayed', balance });
    expect(await grant(store, 'g', 999)).toEqual({ outcome: 'replayed', balance });
    expect(await grant(store, 'g', UNITS_MAX)).toEqual({ outcome: 'replayed', balance });
    expect(await grant(store, 'h', 5)).toMatchObject({ outcome: 'granted', balance: { granted: 15 } });
    expect(await readLedger(store, 'org')).toHaveLength(2);
    await expectBooks(store, 'org');
  });

  test('an unknown organization gets nothing and no ledger', async () => {
    const { store } = await fresh();
    const organizationId = 'no-such';
    expect(await grant(store, 'g', 10, organizationId)).toEqual({ outcome: 'unknown', balance: NO_UNITS });
    expect(await store.units.hold(holdOf('h', 1, { organizationId }))).toEqual({
      outcome: 'unknown',
      balance: NO_UNITS,
    });
    expect(await capture(store, 'h', 1, organizationId)).toEqual({
      outcome: 'unknown',
      charged: 0,
      balance: NO_UNITS,
    });
    expect(await release(store, 'h')).toEqual({ outcome: 'unknown', balance: NO_UNITS });
    expect(await store.units.balance(organizationId)).toBeNull();
    expect(await readLedger(store, organizationId)).toEqual([]);
    await store.accounts.createOrganization(organization(organizationId));
    expect(await grant(store, 'g', 10, organizationId)).toMatchObject({ outcome: 'granted' });
  });

  test('units reach UNITS_MAX exactly and never pass it; a refused grant leaves its id free', async () => {
    const { store } = await funded(fresh, 0);
    expect(await grant(store, 'over', UNITS_MAX + 1)).toEqual({ outcome: 'too_large', balance: NO_UNITS });
    expect(await grant(store, 'most', UNITS_MAX - 1)).toMatchObject({ outcome: 'granted' });
    const most = { granted: UNITS_MAX - 1, balance: UNITS_MAX - 1, held: 0, spent: 0 };
    expect(await grant(store, 'last', 2)).toEqual({ outcome: 'too_large', balance: most });
    const full = { granted: UNITS_MAX, balance: UNITS_MAX, held: 0, spent: 0 };
    expect(await grant(store, 'last', 1)).toEqual({ outcome: 'granted', balance: full });
    expect(await grant(store, 'more', 1)).toEqual({ outcome: 'too_large', balance: full });
    expect(await grant(store, 'last', 1)).toEqual({ outcome: 'replayed', balance: full });
    expect(await store.units.hold(holdOf('h', UNITS_MAX))).toMatchObject({ outcome: 'held' });
    expect(await capture(store, 'h', UNITS_MAX - 7)).toEqual({
      outcome: 'captured',
      charged: UNITS_MAX - 7,
      balance: { granted: UNITS_MAX, balance: 7, held: 0, spent: UNITS_MAX - 7 },
    });
    // What was spent stays granted, so it leaves no room.
    expect(await grant(store, 'more', 1)).toMatchObject({ outcome: 'too_large' });
    expect((await readLedger(store, 'org')).map(({ units }) => units)).toEqual([
      UNITS_MAX - 1,
      1,
      UNITS_MAX,
      UNITS_MAX - 7,
    ]);
    await expectBooks(store, 'org');
  });

  test.each([0, ...NO_WHOLE_NUMBERS])('%d units are neither granted nor held', async (units) => {
    const { store } = await funded(fresh, 5);
    await expect(grant(store, 'g', units)).rejects.toThrow(RangeError);
    await expect(store.units.hold(holdOf('h', units))).rejects.toThrow(RangeError);
    await expect(grant(store, 'g', units, 'no-such')).rejects.toThrow(RangeError);
    expect(await store.units.hold(holdOf('h', 5))).toMatchObject({ outcome: 'held' });
    expect(await grant(store, 'g', 1)).toMatchObject({ outcome: 'granted' });
    expect(await expectBooks(store, 'org')).toEqual({ granted: 6, balance: 1, held: 5, spent: 0 });
  });

  test('a hold sets units aside once, also when repeated with other figures or after it was resolved', async () => {
    const { store } = await funded(fresh, 10);
    const balance = { granted: 10, balance: 6, held: 4, spent: 0 };
    expect(await store.units.hold(holdOf('h', 4))).toEqual({ outcome: 'held', balance });
    expect(await store.units.hold(holdOf('h', 4))).toEqual({ outcome: 'replayed', balance });
    expect(await store.units.hold(holdOf('h', 1))).toEqual({ outcome: 'replayed', balance });
    expect(await store.units.hold(holdOf('h', 500))).toEqual({ outcome: 'replayed', balance });
    await store.units.hold(holdOf('i', 2));
    await capture(store, 'h', 4);
    await release(store, 'i');
    const after = { granted: 10, balance: 6, held: 0, spent: 4 };
    expect(await store.units.hold(holdOf('h', 4))).toEqual({ outcome: 'replayed', balance: after });
    expect(await store.units.hold(holdOf('i', 2))).toEqual({ outcome: 'replayed', balance: after });
    expect(await expectBooks(store, 'org')).toEqual(after);
  });

  test('a hold beyond the balance takes nothing, writes nothing and leaves its id free', async () => {
    const { store } = await funded(fresh, 10);
    const balance = { granted: 10, balance: 10, held: 0, spent: 0 };
    for (const units of [11, UNITS_MAX, UNITS_MAX + 1, Number.MAX_SAFE_INTEGER])
      expect(await store.units.hold(holdOf('h', units))).toEqual({ outcome: 'insufficient', balance });
    expect(await readLedger(store, 'org')).toHaveLength(1);
    expect(await store.units.hold(holdOf('h', 10))).toMatchObject({ outcome: 'held' });
    expect(await store.units.hold(holdOf('i', 1))).toMatchObject({ outcome: 'insufficient' });
    await release(store, 'h');
    expect(await store.units.hold(holdOf('i', 1))).toMatchObject({ outcome: 'held' });
    await expectBooks(store, 'org');
  });

  test('an organization that was never granted anything holds nothing', async () => {
    const { store } = await funded(fresh, 0);
    expect(await store.units.hold(holdOf('h', 1))).toEqual({ outcome: 'insufficient', balance: NO_UNITS });
    expect(await store.units.balance('org')).toEqual(NO_UNITS);
  });

  test('organizations do not share units, grants or holds', async () => {
    const { store } = await funded(fresh, 10);
    await store.accounts.createOrganization(organization('second'));
    expect(await grant(store, 'first', 3, 'second')).toMatchObject({ outcome: 'granted' });
    await store.units.hold(holdOf('h', 10));
    const theirs = holdOf('h', 2, { organizationId: 'second' });
    expect(await store.units.hold(theirs)).toMatchObject({ outcome: 'held' });
    expect(await capture(store, 'h', 1, 'second')).toMatchObject({ outcome: 'captured', charged: 1 });
    expect(await expectBooks(store, 'org')).toEqual({ granted: 10, balance: 0, held: 10, spent: 0 });
    expect(await expectBooks(store, 'second')).toEqual({ granted: 3, balance: 2, held: 0, spent: 1 });
  });

  test('a grant and a hold may bear the same id', async () => {
    const { store } = await funded(fresh, 10);
    expect(await store.units.hold(holdOf('first', 4))).toMatchObject({ outcome: 'held' });
    await store.units.hold(holdOf('next', 1));
    expect(await grant(store, 'next', 4)).toMatchObject({ outcome: 'granted' });
    await expectBooks(store, 'org');
  });
}

function capturesAndReleases(fresh: Open): void {
  test.each([0, 1, 4])(
    'a capture of %d of 4 held units spends them and gives the rest back',
    async (units) => {
      const { store } = await funded(fresh, 10);
      await store.units.hold(holdOf('h', 4));
      const balance = { granted: 10, balance: 10 - units, held: 0, spent: units };
      expect(await capture(store, 'h', units)).toEqual({ outcome: 'captured', charged: units, balance });
      expect(await readLedger(store, 'org')).toHaveLength(3);
      expect((await readLedger(store, 'org')).at(-1)).toMatchObject({
        kind: 'capture',
        units,
        released: 4 - units,
      });
      expect(await expectBooks(store, 'org')).toEqual(balance);
    },
  );

  test('a repeated capture charges nothing more and tells what the first one took', async () => {
    const { store } = await funded(fresh, 10);
    await store.units.hold(holdOf('h', 4));
    await capture(store, 'h', 3);
    const balance = { granted: 10, balance: 7, held: 0, spent: 3 };
    for (const units of [3, 0, 4, 5, UNITS_MAX])
      expect(await capture(store, 'h', units)).toEqual({ outcome: 'replayed', charged: 3, balance });
    await store.units.hold(holdOf('free', 1));
    await capture(store, 'free', 0);
    expect(await capture(store, 'free', 1)).toEqual({ outcome: 'replayed', charged: 0, balance });
    expect(await readLedger(store, 'org')).toHaveLength(5);
    await expectBooks(store, 'org');
  });

  test.each(['release', 'overdue'] as const)('after %s a capture charges nothing', async (kind) => {
    const { store } = await funded(fresh, 10);
    await store.units.hold(holdOf('h', 4));
    const balance = { granted: 10, balance: 10, held: 0, spent: 0 };
    expect(await release(store, 'h', kind)).toEqual({ outcome: 'released', balance });
    expect(await capture(store, 'h', 4)).toEqual({ outcome: 'released', charged: 0, balance });
    expect(await capture(store, 'h', 5)).toEqual({ outcome: 'released', charged: 0, balance });
    expect(await release(store, 'h', kind)).toEqual({ outcome: 'replayed', balance });
    expect(await release(store, 'h', kind === 'release' ? 'overdue' : 'release')).toEqual({
      outcome: 'replayed',
      balance,
    });
    expect((await readLedger(store, 'org')).map((row) => row.kind)).toEqual(['grant', 'hold', kind]);
    await expectBooks(store, 'org');
  });

  test('a captured hold is not given back', async () => {
    const { store } = await funded(fresh, 10);
    await store.units.hold(holdOf('h', 4));
    await capture(store, 'h', 4);
    const balance = { granted: 10, balance: 6, held: 0, spent: 4 };
    expect(await release(store, 'h', 'release')).toEqual({ outcome: 'captured', balance });
    expect(await release(store, 'h', 'overdue')).toEqual({ outcome: 'captured', balance });
    expect(await expectBooks(store, 'org')).toEqual(balance);
  });

  test('a hold that never was is neither captured nor released', async () => {
    const { store } = await funded(fresh, 10);
    const balance = { granted: 10, balance: 10, held: 0, spent: 0 };
    expect(await capture(store, 'first', 4)).toEqual({ outcome: 'unknown', charged: 0, balance });
    expect(await release(store, 'first')).toEqual({ outcome: 'unknown', balance });
    expect(await readLedger(store, 'org')).toHaveLength(1);
  });

  test('more than was held, or no whole number, is refused and the hold stays open', async () => {
    const { store } = await funded(fresh, 10);
    await store.units.hold(holdOf('h', 4));
    for (const units of [5, UNITS_MAX, ...NO_WHOLE_NUMBERS])
      await expect(capture(store, 'h', units)).rejects.toThrow(RangeError);
    expect(await expectBooks(store, 'org')).toEqual({ granted: 10, balance: 6, held: 4, spent: 0 });
    expect(await store.units.overdueHolds({ nowMs: FAR_MS, limit: 9 })).toEqual([holdOf('h', 4)]);
    expect(await capture(store, 'h', 4)).toMatchObject({ outcome: 'captured', charged: 4 });
  });

  test('open holds are overdue from their time on, of all organizations, oldest first, resolved ones never', async () => {
    const { store } = await funded(fresh, 100);
    await store.accounts.createOrganization(organization('second'));
    await grant(store, 'first', 100, 'second');
    const holds = [5, 3, 9, 1, 7].map((second, index) =>
      holdOf(`h${second}`, second, {
        organizationId: index % 2 === 0 ? 'org' : 'second',
        operation: `operation of ${second}`,
        heldAtMs: T0 - second,
        overdueAtMs: T0 + second * 1_000,
      }),
    );
    for (const hold of holds) await store.units.hold(hold);
    const sorted = [...holds].sort((a, b) => a.overdueAtMs - b.overdueAtMs);
    const overdue = (nowMs: number, limit = 100) => store.units.overdueHolds({ nowMs, limit });
    expect(await overdue(T0 + 999)).toEqual([]);
    expect(await overdue(T0 + 1_000)).toEqual(sorted.slice(0, 1));
    expect(await overdue(T0 + 8_999)).toEqual(sorted.slice(0, 4));
    expect(await overdue(FAR_MS)).toEqual(sorted);
    expect(await overdue(FAR_MS, 2)).toEqual(sorted.slice(0, 2));
    await release(store, 'h5', 'overdue');
    await capture(store, 'h3', 0, 'second');
    expect((await overdue(FAR_MS)).map(({ holdId }) => holdId)).toEqual(['h1', 'h7', 'h9']);
    await capture(store, 'h1', 1, 'second');
    // Resolved ones take no place of a page.
    expect((await overdue(FAR_MS, 1)).map(({ holdId }) => holdId)).toEqual(['h7']);
  });

  test('an open hold past its time is still captured', async () => {
    const { store } = await funded(fresh, 10);
    await store.units.hold(holdOf('h', 4, { overdueAtMs: T0 + 2 }));
    const late = { organizationId: 'org', holdId: 'h', units: 4, atMs: FAR_MS };
    expect(await store.units.capture(late)).toMatchObject({ outcome: 'captured', charged: 4 });
  });

  test('a capture that brings its hold charges once, whether the store still has the hold or lost it', async () => {
    const { store } = await funded(fresh, 10);
    const captureWith = (holdId: string, units: number) => {
      const { organizationId, holdId: id, ...held } = holdOf(holdId, 4, { heldAtMs: T0 + 7 });
      return store.units.capture({ organizationId, holdId: id, units, atMs: T0 + 9, held });
    };
    await store.units.hold(holdOf('there', 4));
    expect(await captureWith('there', 3)).toMatchObject({ outcome: 'captured', charged: 3 });
    const once = { granted: 10, balance: 4, held: 0, spent: 6 };
    expect(await captureWith('lost', 3)).toEqual({ outcome: 'captured', charged: 3, balance: once });
    expect(await captureWith('lost', 3)).toEqual({ outcome: 'replayed', charged: 3, balance: once });
    expect((await store.units.hold(holdOf('lost', 4))).outcome).toBe('replayed');
    const rows = await store.units.ledger({ organizationId: 'org', after: 3, limit: 9 });
    expect(rows.map(({ kind, units, atMs, note }) => [kind, units, atMs, note])).toEqual([
      ['hold', 4, T0 + 7, holdOf('lost', 4).operation],
      ['capture', 3, T0 + 9, holdOf('lost', 4).operation],
    ]);
    expect(troubleOf(await readLedger(store, 'org'), await store.units.balance('org'))).toBeNull();
  });

  test('a lost hold is not made again beyond the balance, nor after it was given back, nor for more than it held', async () => {
    const { store } = await funded(fresh, 5);
    const { organizationId, holdId, ...held } = holdOf('h', 4);
    const brought = { organizationId, holdId, atMs: T0, held };
    await expect(store.units.capture({ ...brought, units: 5 })).rejects.toThrow(RangeError);
    await store.units.hold(holdOf('other', 2));
    expect(await store.units.capture({ ...brought, units: 4 })).toMatchObject({
      outcome: 'unknown',
      charged: 0,
    });
    await store.units.hold(holdOf('back', 3));
    await release(store, 'back');
    expect(await store.units.capture({ ...brought, holdId: 'back', units: 1 })).toMatchObject({
      outcome: 'released',
      charged: 0,
    });
    expect(await store.units.balance('org')).toEqual({ granted: 5, balance: 3, held: 2, spent: 0 });
    expect(troubleOf(await readLedger(store, 'org'), await store.units.balance('org'))).toBeNull();
  });
}

function forgottenHolds(fresh: Open): void {
  test('resolved holds are forgotten after HOLD_KEPT_MS, a few with every hold that ends; open ones and the books stay', async () => {
    const { store } = await funded(fresh, 100);
    for (const id of ['captured', 'released', 'third', 'open', 'fresh'])
      await store.units.hold(holdOf(id, 2, id === 'fresh' ? { overdueAtMs: T0 + 60_001 } : {}));
    await capture(store, 'captured', 1);
    await release(store, 'released');
    await capture(store, 'third', 2);
    await capture(store, 'fresh', 2);
    const known = async () => {
      const outcomes: string[] = [];
      for (const id of ['captured', 'released', 'third', 'fresh'])
        outcomes.push((await release(store, id)).outcome);
      return tally(outcomes);
    };
    const later = async (holdId: string, atMs: number) => {
      await store.units.hold(holdOf(holdId, 1, { heldAtMs: atMs, overdueAtMs: atMs + 1 }));
      return store.units.capture({ organizationId: 'org', holdId, units: 1, atMs });
    };

    await later('before', T0 + 60_000 + HOLD_KEPT_MS - 1);
    expect(await known()).toEqual({ captured: 3, replayed: 1 });
    const replayed = await later('before', T0 + 60_000 + HOLD_KEPT_MS);
    expect(replayed.outcome).toBe('replayed');
    expect(await known()).toEqual({ captured: 3, replayed: 1 });
    await later('first', T0 + 60_000 + HOLD_KEPT_MS);
    expect((await known())['unknown']).toBe(HOLDS_FORGOTTEN_PER_END);
    const back = { organizationId: 'org', kind: 'overdue', note: '' } as const;
    await store.units.hold(holdOf('second', 1));
    await store.units.release({ ...back, holdId: 'second', atMs: T0 + 60_000 + HOLD_KEPT_MS });
    expect(await known()).toEqual({ captured: 1, unknown: 3 });

    expect((await capture(store, 'open', 2)).outcome).toBe('captured');
    expect(await capture(store, 'third', 1)).toMatchObject({ outcome: 'unknown', charged: 0 });
    const rows = await store.units.ledger({ organizationId: 'org', after: 0, limit: 100 });
    expect(troubleOf(rows, await store.units.balance('org'))).toBeNull();
    expect(rows.filter(({ subject }) => subject === 'third').map(({ kind }) => kind)).toEqual([
      'hold',
      'capture',
    ]);
  });
}

function ledgers(fresh: Open): void {
  test('every change is one row, field for field', async () => {
    const { store } = await funded(fresh, 0);
    await store.units.grant({ organizationId: 'org', grantId: 'g', units: 20, note: 'welcome', atMs: T0 });
    await store.units.hold(holdOf('a', 4, { operation: 'sql.run', heldAtMs: T0 + 10 }));
    await store.units.hold(holdOf('b', 5, { operation: 'flows.list', heldAtMs: T0 + 5 }));
    await store.units.capture({ organizationId: 'org', holdId: 'a', units: 3, atMs: T0 + 30 });
    const back = { organizationId: 'org', holdId: 'b', kind: 'release', note: 'failed', atMs: 0 } as const;
    await store.units.release(back);
    await store.units.hold(holdOf('c', 6, { operation: 'x', heldAtMs: FAR_MS, overdueAtMs: FAR_MS }));
    await store.units.release({ ...back, holdId: 'c', kind: 'overdue', note: 'its process died' });
    const rows = await store.units.ledger({ organizationId: 'org', after: 0, limit: 100 });
    const names = [
      'sequence',
      'atMs',
      'kind',
      'units',
      'released',
      'subject',
      'note',
      'balance',
      'held',
    ] as const;
    for (const row of rows) expect(Object.keys(row).sort()).toEqual([...names].sort());
    expect(rows.map((row) => names.map((name) => row[name]))).toEqual([
      [1, T0, 'grant', 20, 0, 'g', 'welcome', 20, 0],
      [2, T0 + 10, 'hold', 4, 0, 'a', 'sql.run', 16, 4],
      [3, T0 + 5, 'hold', 5, 0, 'b', 'flows.list', 11, 9],
      [4, T0 + 30, 'capture', 3, 1, 'a', 'sql.run', 12, 5],
      [5, 0, 'release', 5, 0, 'b', 'failed', 17, 0],
      [6, FAR_MS, 'hold', 6, 0, 'c', 'x', 11, 6],
      [7, 0, 'overdue', 6, 0, 'c', 'its process died', 17, 0],
    ]);
    await expectBooks(store, 'org');
  });

  test('a ledger is read in pages, each after the last sequence seen', async () => {
    const { store } = await funded(fresh, 0);
    for (let index = 1; index <= 25; index++) await grant(store, `g${index}`, index);
    const page = async (after: number, limit: number) =>
      (await store.units.ledger({ organizationId: 'org', after, limit })).map(({ sequence }) => sequence);
    expect(await page(0, 3)).toEqual([1, 2, 3]);
    expect(await page(3, 3)).toEqual([4, 5, 6]);
    expect(await page(9, 3)).toEqual([10, 11, 12]);
    expect(await page(23, 10)).toEqual([24, 25]);
    expect(await page(25, 10)).toEqual([]);
    expect(await page(1_000, 10)).toEqual([]);
    expect(await page(0, 1_000)).toHaveLength(25);
    await expectBooks(store, 'org');
  });

  test('long notes and empty ones are kept to the last character', async () => {
    const { store } = await funded(fresh, 10);
    const note = '“why” 😀\n'.repeat(2_000);
    await store.units.grant({ organizationId: 'org', grantId: 'long', units: 1, note, atMs: T0 });
    await store.units.grant({ organizationId: 'org', grantId: 'none', units: 1, note: '', atMs: T0 });
    await store.units.hold(holdOf('h', 1, { operation: note }));
    expect(await store.units.overdueHolds({ nowMs: FAR_MS, limit: 1 })).toEqual([
      holdOf('h', 1, { operation: note }),
    ]);
    await store.units.release({ organizationId: 'org', holdId: 'h', kind: 'overdue', note, atMs: T0 });
    expect((await readLedger(store, 'org')).slice(1).map((row) => row.note)).toEqual([note, '', note, note]);
  });

  test('times in the far future keep every digit', async () => {
    const { store } = await fresh();
    const far = organization('org', { createdAtMs: FAR_MS });
    await store.accounts.createOrganization(far);
    expect(await store.accounts.findOrganization('org')).toEqual(far);
    const key = trialKey('k', { createdAtMs: FAR_MS, expiresAtMs: FAR_MS });
    await store.accounts.addKey(key);
    await store.accounts.revokeKey({ keyId: 'k', atMs: FAR_MS });
    expect((await store.accounts.findKey(key.digest))?.key).toEqual({ ...key, revokedAtMs: FAR_MS });
    await grant(store, 'g', 1);
    const hold = holdOf('h', 1, { heldAtMs: FAR_MS - 1, overdueAtMs: FAR_MS });
    await store.units.hold(hold);
    expect(await store.units.overdueHolds({ nowMs: FAR_MS - 1, limit: 1 })).toEqual([]);
    expect(await store.units.overdueHolds({ nowMs: FAR_MS, limit: 1 })).toEqual([hold]);
    expect((await readLedger(store, 'org')).at(-1)?.atMs).toBe(FAR_MS - 1);
    const id = authorization('far');
    await store.payments.claim(
      claimOf(id, { claimedAtMs: FAR_MS - 2, expiresAtMs: FAR_MS - 1, leaseUntilMs: FAR_MS }),
    );
    expect(await store.payments.find(id)).toMatchObject({
      claimedAtMs: FAR_MS - 2,
      expiresAtMs: FAR_MS - 1,
      leaseUntilMs: FAR_MS,
    });
    expect(await store.payments.unresolved({ nowMs: FAR_MS - 1, limit: 1 })).toEqual([]);
    expect(await store.payments.unresolved({ nowMs: FAR_MS, limit: 1 })).toHaveLength(1);
    const request = { key: randomUUID(), limit: 1, windowSeconds: 60, nowMs: FAR_MS };
    expect(await store.rates.take(request)).toMatchObject({ allowed: true, resetSeconds: 60 });
    expect(await store.rates.take(request)).toMatchObject({ allowed: false });
  });
}

function claims(fresh: Open): void {
  test('the first claim is kept field for field, and every later one is shown it', async () => {
    const { store } = await fresh();
    const id = authorization('1');
    const record: PaymentRecord = {
      ...claimOf(id),
      state: 'settling',
      attempts: 0,
      leftOpenAtMs: null,
      saidTransaction: null,
      transaction: null,
      keyId: null,
      sale: null,
    };
    expect(await store.payments.claim(claimOf(id))).toEqual({ outcome: 'claimed', record });
    expect(await store.payments.find(id)).toEqual(record);
    expect(await store.payments.claim(claimOf(id))).toEqual({ outcome: 'taken', record });
    const other = claimOf(id, {
      binding: hex('other'),
      resource: 'POST /v0/sql',
      payTo: '0xcc',
      amount: '115792089237316195423570985008687907853269984665640564039457584007913129639935',
      claimedAtMs: T0 + 999_999,
      leaseUntilMs: T0 + 9_999_999,
    });
    expect(await store.payments.claim(other)).toEqual({ outcome: 'taken', record });
    expect(await store.payments.find(id)).toEqual(record);
  });

  test('amounts keep every digit', async () => {
    const { store } = await fresh();
    for (const amount of [
      '115792089237316195423570985008687907853269984665640564039457584007913129639935',
      '0',
      '1000000000000000000000',
    ]) {
      await store.payments.claim(claimOf(authorization(amount), { amount }));
      expect((await store.payments.find(authorization(amount)))?.amount).toBe(amount);
    }
  });

  test('authorizations that differ in chain, asset, payer or nonce are different payments', async () => {
    const { store } = await fresh();
    const ids = [
      authorization('1'),
      authorization('1', { chain: 'eip155:84532' }),
      authorization('1', { asset: '0x01' }),
      authorization('1', { payer: '0x02' }),
      authorization('2'),
    ];
    for (const id of ids)
      expect(await store.payments.claim(claimOf(id))).toMatchObject({ outcome: 'claimed' });
    const [first = authorization('1')] = ids;
    await store.payments.recordSettlement({ id: first, transaction: TRANSACTION });
    const states = await Promise.all(ids.map(async (id) => (await store.payments.find(id))?.state));
    expect(states).toEqual(['settled', 'settling', 'settling', 'settling', 'settling']);
  });

  test('a settlement is recorded once, repeated in any state, and never replaced', async () => {
    const { store } = await fresh();
    const id = authorization('1');
    const settle = (transaction = TRANSACTION) => store.payments.recordSettlement({ id, transaction });
    const other = `0x${hex('other')}`;
    expect(await settle()).toBe('unknown');
    expect(await store.payments.find(id)).toBeNull();
    await store.payments.claim(claimOf(id));
    expect(await settle()).toBe('settled');
    expect([await settle(), await settle(other)]).toEqual(['replayed', 'conflict']);
    const { attempt } = await serve(store, id);
    expect([await settle(), await settle(other)]).toEqual(['replayed', 'conflict']);
    expect(await store.payments.find(id)).toMatchObject({ state: 'serving', transaction: TRANSACTION });
    await store.payments.finishServing({ id, attempt, answered: true });
    expect([await settle(), await settle(other)]).toEqual(['replayed', 'conflict']);
    expect(await store.payments.find(id)).toMatchObject({ state: 'served', transaction: TRANSACTION });
    expect(await store.payments.claim(claimOf(id))).toMatchObject({
      outcome: 'taken',
      record: { state: 'served', transaction: TRANSACTION, attempts: 1 },
    });
  });

  test('only a claim in settling is dropped, and then it may be made again', async () => {
    const { store } = await fresh();
    const id = authorization('1');
    expect(await store.payments.dropClaim(id)).toBe('unknown');
    await store.payments.claim(claimOf(id));
    expect(await store.payments.dropClaim(id)).toBe('dropped');
    expect(await store.payments.dropClaim(id)).toBe('unknown');
    expect(await store.payments.find(id)).toBeNull();
    expect(await store.payments.unresolved({ nowMs: FAR_MS, limit: 9 })).toEqual([]);
    expect(await store.payments.recordSettlement({ id, transaction: TRANSACTION })).toBe('unknown');
    expect(await store.payments.claim(claimOf(id, { claimedAtMs: T0 + 7 }))).toMatchObject({
      outcome: 'claimed',
      record: { claimedAtMs: T0 + 7 },
    });
    await store.payments.recordSettlement({ id, transaction: TRANSACTION });
    expect(await store.payments.dropClaim(id)).toBe('not_settling');
    const { attempt } = await serve(store, id);
    expect(await store.payments.dropClaim(id)).toBe('not_settling');
    await store.payments.finishServing({ id, attempt, answered: true });
    expect(await store.payments.dropClaim(id)).toBe('not_settling');
    expect(await store.payments.find(id)).toMatchObject({ state: 'served' });
  });

  test('a claim that is left open says since when and as which transaction, to every handle, and stays a claim', async () => {
    const { store, reopen } = await fresh();
    const id = authorization('1');
    const leave = (atMs: number, transaction: string | null) =>
      store.payments.leaveOpen({ id, atMs, transaction });
    expect(await leave(T0 + 1, TRANSACTION)).toBe('unknown');
    expect(await store.payments.find(id)).toBeNull();
    const { record } = await store.payments.claim(claimOf(id));
    expect(await leave(T0 + 1, null)).toBe('left');
    expect(await store.payments.find(id)).toEqual({ ...record, leftOpenAtMs: T0 + 1 });
    expect(await leave(T0 + 2, TRANSACTION)).toBe('left');
    expect(await leave(T0 + 3, null)).toBe('left');
    const left = { ...record, leftOpenAtMs: T0 + 3, saidTransaction: TRANSACTION };
    expect(await (await reopen()).payments.find(id)).toEqual(left);
    expect(await store.payments.claim(claimOf(id))).toEqual({ outcome: 'taken', record: left });
    expect(await store.payments.unresolved({ nowMs: record.leaseUntilMs - 1, limit: 9 })).toEqual([]);
    expect(await store.payments.unresolved({ nowMs: record.leaseUntilMs, limit: 9 })).toEqual([left]);
    const other = `0x${hex('other')}`;
    expect(await store.payments.recordSettlement({ id, transaction: other })).toBe('settled');
    expect(await leave(T0 + 4, null)).toBe('not_settling');
    expect(await store.payments.find(id)).toMatchObject({ state: 'settled', transaction: other });
  });

  test('unresolved are the claims in settling whose lease lapsed, oldest first; a lapsed lease frees nothing', async () => {
    const { store } = await fresh();
    const claimed = [5, 3, 9, 1, 7].map((second) =>
      claimOf(authorization(`${second}`), { claimedAtMs: T0 + second, leaseUntilMs: T0 + second * 1_000 }),
    );
    for (const claim of claimed) await store.payments.claim(claim);
    const lapsed = async (nowMs: number, limit = 100) =>
      (await store.payments.unresolved({ nowMs, limit })).map(
        ({ leaseUntilMs }) => (leaseUntilMs - T0) / 1_000,
      );
    expect(await lapsed(T0 + 999)).toEqual([]);
    expect(await lapsed(T0 + 1_000)).toEqual([1]);
    expect(await lapsed(T0 + 8_999)).toEqual([1, 3, 5, 7]);
    expect(await lapsed(FAR_MS, 2)).toEqual([1, 3]);
    const again = claimOf(authorization('1'), { claimedAtMs: FAR_MS, leaseUntilMs: FAR_MS });
    expect(await store.payments.claim(again)).toMatchObject({ outcome: 'taken' });
    await store.payments.recordSettlement({ id: authorization('3'), transaction: TRANSACTION });
    await store.payments.dropClaim(authorization('7'));
    expect(await lapsed(FAR_MS)).toEqual([1, 5, 9]);
    const [first] = await store.payments.unresolved({ nowMs: FAR_MS, limit: 1 });
    expect(first).toEqual(await store.payments.find(authorization('1')));
  });
}

function unresolvedPages(fresh: Open): void {
  test('unresolved payments are read in pages without gap or repetition, also of one time, also when the last was resolved', async () => {
    const { store } = await fresh();
    const nonces = ['0x2', '0x10', '0x1', '0xff', '0x3', '0xa'];
    for (const nonce of nonces) await store.payments.claim(claimOf(authorization(nonce)));
    await store.payments.claim(claimOf(authorization('0x0'), { leaseUntilMs: T0 + 40_000 }));
    await store.payments.claim(claimOf(authorization('0x9'), { leaseUntilMs: T0 + 20_000 }));
    const all = await store.payments.unresolved({ nowMs: FAR_MS, limit: 100 });
    expect(all).toHaveLength(nonces.length + 2);
    for (const limit of [1, 2, 3, 8]) {
      const found: PaymentRecord[] = [];
      for (;;) {
        const after = found.at(-1) ?? null;
        const page = await store.payments.unresolved({ nowMs: FAR_MS, after, limit });
        found.push(...page);
        if (page.length < limit) break;
      }
      expect(found).toEqual(all);
    }
    const after = all[2] ?? null;
    await store.payments.dropClaim(after?.id ?? authorization('none'));
    expect(await store.payments.unresolved({ nowMs: FAR_MS, after, limit: 100 })).toEqual(all.slice(3));
  });
}

function serve(
  store: ControlStore,
  id: AuthorizationId,
  changes: { nowMs?: number; attemptsMax?: number } = {},
) {
  const { nowMs = T0, attemptsMax = 3 } = changes;
  return store.payments.beginServing({ id, nowMs, leaseUntilMs: nowMs + 1_000, attemptsMax });
}

async function settledPayment(store: ControlStore, nonce: string): Promise<AuthorizationId> {
  const id = authorization(nonce);
  await store.payments.claim(claimOf(id));
  await store.payments.recordSettlement({ id, transaction: TRANSACTION });
  return id;
}

function servings(fresh: Open): void {
  test('serving begins once settled, one call at a time, and ends with the answer', async () => {
    const { store } = await fresh();
    const id = authorization('1');
    expect(await serve(store, id)).toEqual({ outcome: 'unknown', attempt: 0 });
    await store.payments.claim(claimOf(id));
    expect(await serve(store, id, { nowMs: FAR_MS - 1_000 })).toEqual({ outcome: 'unsettled', attempt: 0 });
    await store.payments.recordSettlement({ id, transaction: TRANSACTION });
    expect(await serve(store, id)).toEqual({ outcome: 'serving', attempt: 1 });
    expect(await store.payments.find(id)).toMatchObject({
      state: 'serving',
      attempts: 1,
      leaseUntilMs: T0 + 1_000,
    });
    expect(await serve(store, id)).toEqual({ outcome: 'busy', attempt: 0 });
    await store.payments.finishServing({ id, attempt: 1, answered: true });
    expect(await store.payments.find(id)).toMatchObject({ state: 'served', attempts: 1 });
    expect(await serve(store, id)).toEqual({ outcome: 'used', attempt: 0 });
    expect(await serve(store, id, { nowMs: T0 + 999_999 })).toEqual({ outcome: 'used', attempt: 0 });
  });

  test('a payment is remembered: served ones until PAYMENT_KEPT_MS after they expired, others for good', async () => {
    const { store } = await fresh();
    const [served, settled, settling] = [authorization('1'), authorization('2'), authorization('3')];
    for (const id of [served, settled, settling]) await store.payments.claim(claimOf(id));
    for (const id of [served, settled])
      await store.payments.recordSettlement({ id, transaction: TRANSACTION });
    const { attempt } = await serve(store, served);
    await store.payments.finishServing({ id: served, attempt, answered: true });
    const claimAt = (claimedAtMs: number) =>
      store.payments.claim(claimOf(authorization(`at ${claimedAtMs}`), { claimedAtMs }));
    await claimAt(T0 + 300_000 + PAYMENT_KEPT_MS - 1);
    expect(await store.payments.find(served)).toMatchObject({ state: 'served' });
    await claimAt(T0 + 300_000 + PAYMENT_KEPT_MS);
    expect(await store.payments.find(settled)).toMatchObject({ state: 'settled' });
    expect(await store.payments.find(settling)).toMatchObject({ state: 'settling' });
  });

  test('a payment not answered is served again, until its attempts are used up', async () => {
    const { store } = await fresh();
    const id = await settledPayment(store, '1');
    for (const attempt of [1, 2, 3]) {
      expect(await serve(store, id)).toEqual({ outcome: 'serving', attempt });
      await store.payments.finishServing({ id, attempt, answered: false });
      expect(await store.payments.find(id)).toMatchObject({ state: 'settled', attempts: attempt });
    }
    expect(await serve(store, id)).toEqual({ outcome: 'used', attempt: 0 });
    expect(await store.payments.find(id)).toMatchObject({ state: 'settled', attempts: 3 });
    expect(await serve(store, id, { attemptsMax: 4 })).toEqual({ outcome: 'serving', attempt: 4 });
  });

  test('a lapsed lease lets another call serve; the late one ends nothing', async () => {
    const { store } = await fresh();
    const id = await settledPayment(store, '1');
    await serve(store, id);
    expect(await serve(store, id, { nowMs: T0 + 999 })).toEqual({ outcome: 'busy', attempt: 0 });
    expect(await serve(store, id, { nowMs: T0 + 1_000 })).toEqual({ outcome: 'serving', attempt: 2 });
    for (const answered of [true, false]) {
      await store.payments.finishServing({ id, attempt: 1, answered });
      expect(await store.payments.find(id)).toMatchObject({
        state: 'serving',
        attempts: 2,
        leaseUntilMs: T0 + 2_000,
      });
    }
    await store.payments.finishServing({ id, attempt: 3, answered: true });
    await store.payments.finishServing({ id, attempt: 0, answered: true });
    expect(await store.payments.find(id)).toMatchObject({ state: 'serving' });
    await store.payments.finishServing({ id, attempt: 2, answered: true });
    expect(await store.payments.find(id)).toMatchObject({ state: 'served' });
  });

  test('the last attempt is busy while its lease runs and used once it lapsed', async () => {
    const { store } = await fresh();
    const id = await settledPayment(store, '1');
    await serve(store, id, { attemptsMax: 1 });
    expect(await serve(store, id, { attemptsMax: 1 })).toMatchObject({ outcome: 'busy' });
    expect(await serve(store, id, { nowMs: T0 + 1_000, attemptsMax: 1 })).toMatchObject({ outcome: 'used' });
    await store.payments.finishServing({ id, attempt: 1, answered: true });
    expect(await store.payments.find(id)).toMatchObject({ state: 'served' });
  });

  test('a finished attempt stays finished the way it was', async () => {
    const { store } = await fresh();
    const answered = await settledPayment(store, 'answered');
    const failed = await settledPayment(store, 'failed');
    await serve(store, answered);
    await serve(store, failed);
    await store.payments.finishServing({ id: answered, attempt: 1, answered: true });
    await store.payments.finishServing({ id: answered, attempt: 1, answered: false });
    await store.payments.finishServing({ id: failed, attempt: 1, answered: false });
    await store.payments.finishServing({ id: failed, attempt: 1, answered: true });
    expect(await store.payments.find(answered)).toMatchObject({ state: 'served' });
    expect(await store.payments.find(failed)).toMatchObject({ state: 'settled' });
    await store.payments.finishServing({ id: authorization('none'), attempt: 1, answered: true });
    expect(await store.payments.find(authorization('none'))).toBeNull();
    const claimed = authorization('claimed');
    await store.payments.claim(claimOf(claimed));
    await store.payments.finishServing({ id: claimed, attempt: 0, answered: true });
    expect(await store.payments.find(claimed)).toMatchObject({ state: 'settling' });
  });
}

function issuedKeys(fresh: Open): void {
  const PAGE = { organizationId: null, after: null, limit: 100 };

  test('one settlement buys one key, which is named on the payment and listed among the trials', async () => {
    const { store } = await fresh();
    const id = await settledPayment(store, '1');
    const issue = (key: KeyRecord) => store.payments.issueKey({ id, key });
    expect(await issue(trialKey('first'))).toEqual({ outcome: 'issued', keyId: 'first' });
    expect(await issue(trialKey('first'))).toEqual({ outcome: 'already_issued', keyId: 'first' });
    expect(await issue(trialKey('second'))).toEqual({ outcome: 'already_issued', keyId: 'first' });
    expect(await store.payments.find(id)).toMatchObject({ keyId: 'first', state: 'settled' });
    expect(await store.accounts.findKey(trialKey('first').digest)).toEqual({
      key: trialKey('first'),
      organization: null,
    });
    expect(await store.accounts.findKey(trialKey('second').digest)).toBeNull();
    expect(await store.accounts.listKeys(PAGE)).toEqual([trialKey('first')]);
    expect(await store.accounts.revokeKey({ keyId: 'first', atMs: T0 })).toBe('revoked');
    expect(await issue(trialKey('third'))).toEqual({ outcome: 'already_issued', keyId: 'first' });
  });

  test('no key for an unknown payment or one that has not settled', async () => {
    const { store } = await fresh();
    const id = authorization('1');
    const issue = () => store.payments.issueKey({ id, key: trialKey('k') });
    expect(await issue()).toEqual({ outcome: 'unknown', keyId: null });
    await store.payments.claim(claimOf(id));
    expect(await issue()).toEqual({ outcome: 'unsettled', keyId: null });
    expect(await store.accounts.listKeys(PAGE)).toEqual([]);
    expect(await store.accounts.findKey(trialKey('k').digest)).toBeNull();
    await store.payments.recordSettlement({ id, transaction: TRANSACTION });
    expect(await issue()).toEqual({ outcome: 'issued', keyId: 'k' });
  });

  test('a key is issued while its call is being answered and afterwards', async () => {
    const { store } = await fresh();
    const serving = await settledPayment(store, 'serving');
    const served = await settledPayment(store, 'served');
    await serve(store, serving);
    await serve(store, served);
    await store.payments.finishServing({ id: served, attempt: 1, answered: true });
    expect(await store.payments.issueKey({ id: serving, key: trialKey('a') })).toMatchObject({
      outcome: 'issued',
    });
    expect(await store.payments.issueKey({ id: served, key: trialKey('b') })).toMatchObject({
      outcome: 'issued',
    });
    await store.payments.finishServing({ id: serving, attempt: 1, answered: true });
    expect(await store.payments.find(serving)).toMatchObject({ state: 'served', keyId: 'a', attempts: 1 });
    expect(await store.payments.find(served)).toMatchObject({ state: 'served', keyId: 'b' });
  });

  test('a key that is taken, or that belongs to an organization, is refused and nothing is issued', async () => {
    const { store } = await funded(fresh, 0);
    const id = await settledPayment(store, '1');
    await store.accounts.addKey(trialKey('old'));
    const sameId = trialKey('old', { digest: hex('new') as KeyDigest });
    const sameDigest = trialKey('new', { digest: trialKey('old').digest });
    for (const key of [trialKey('old'), sameId, sameDigest, liveKey('live')])
      await expect(store.payments.issueKey({ id, key })).rejects.toThrow(RangeError);
    expect(await store.payments.find(id)).toMatchObject({ keyId: null });
    expect(await store.accounts.listKeys(PAGE)).toEqual([trialKey('old')]);
    expect(await store.accounts.listKeys({ ...PAGE, organizationId: 'org' })).toEqual([]);
    expect(await store.payments.issueKey({ id, key: trialKey('new') })).toMatchObject({ outcome: 'issued' });
  });
}

function rates(fresh: Open): void {
  const request = { limit: 3, windowSeconds: 60, nowMs: T0 };

  test('a window lets its limit through, counts down, and refuses the rest', async () => {
    const { store } = await fresh();
    const key = randomUUID();
    const decision = { allowed: true, limit: 3, resetSeconds: 60 };
    for (const remaining of [2, 1, 0])
      expect(await store.rates.take({ ...request, key })).toEqual({ ...decision, remaining });
    for (let again = 0; again < 3; again++)
      expect(await store.rates.take({ ...request, key })).toEqual({
        ...decision,
        allowed: false,
        remaining: 0,
      });
  });

  test('of 100 requests at once a window lets exactly its limit through', async () => {
    const { store } = await fresh();
    const key = randomUUID();
    const taken = await Promise.all(
      Array.from({ length: 100 }, () => store.rates.take({ ...request, key, limit: 30 })),
    );
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(30);
  });

  test('a window lasts from its first request to its last millisecond, refusals do not lengthen it', async () => {
    const { store } = await fresh();
    const key = randomUUID();
    const at = (afterMs: number) => store.rates.take({ ...request, key, limit: 1, nowMs: T0 + afterMs });
    expect(await at(0)).toMatchObject({ allowed: true, resetSeconds: 60 });
    expect(await at(1)).toMatchObject({ allowed: false, resetSeconds: 60 });
    expect(await at(1_000)).toMatchObject({ allowed: false, resetSeconds: 59 });
    expect(await at(59_999)).toMatchObject({ allowed: false, resetSeconds: 1 });
    expect(await at(60_000)).toMatchObject({ allowed: true, resetSeconds: 60 });
    expect(await at(100_000)).toMatchObject({ allowed: false, resetSeconds: 20 });
    expect(await at(145_678)).toMatchObject({ allowed: true, resetSeconds: 60 });
  });

  test('callers do not share windows', async () => {
    const { store } = await fresh();
    const one = randomUUID();
    for (const key of [one, one.toUpperCase(), `${one} `, `${one}::/64`, `org:{${one}}`, `{${one}`])
      expect(await store.rates.take({ ...request, key, limit: 1 })).toMatchObject({ allowed: true });
    expect(await store.rates.take({ ...request, key: one, limit: 1 })).toMatchObject({ allowed: false });
  });
}

function ratesOfAllHandles(fresh: Open): void {
  test('of 100 requests at once on two handles a window lets exactly its limit through', async () => {
    const opened = await fresh();
    const request = { key: randomUUID(), limit: 30, windowSeconds: 60, nowMs: T0 };
    const taken = await crowd(opened, 100, (store) => store.rates.take(request));
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(30);
    expect(new Set(taken.map(({ remaining }) => remaining)).size).toBe(30);
  });
}

function replies(fresh: Open): void {
  const request = {
    scope: 'POST /v0/keys',
    key: 'idempotency-key-1',
    requestDigest: hex('request'),
    nowMs: T0,
    leaseUntilMs: T0 + 1_000,
    keepUntilMs: T0 + 86_400_000,
  };
  const name = { scope: request.scope, key: request.key };

  test('the first call runs, others wait, and all get its reply', async () => {
    const { store } = await fresh();
    expect(await store.replies.begin(request)).toEqual({ outcome: 'begun' });
    expect(await store.replies.begin({ ...request, nowMs: T0 + 999 })).toEqual({ outcome: 'running' });
    const reply = JSON.stringify({ text: '“kept” 😀\n', long: 'x'.repeat(100_000) });
    await store.replies.finish({ ...name, reply });
    expect(await store.replies.begin(request)).toEqual({ outcome: 'done', reply });
    const late = { ...request, nowMs: T0 + 86_399_999 };
    expect(await store.replies.begin(late)).toEqual({ outcome: 'done', reply });
  });

  test('the key of another request is refused, running, lapsed or done', async () => {
    const { store } = await fresh();
    const other = { ...request, requestDigest: hex('other') };
    await store.replies.begin(request);
    expect(await store.replies.begin(other)).toEqual({ outcome: 'conflict' });
    expect(await store.replies.begin({ ...other, nowMs: T0 + 5_000 })).toEqual({ outcome: 'conflict' });
    await store.replies.finish({ ...name, reply: '' });
    expect(await store.replies.begin(other)).toEqual({ outcome: 'conflict' });
    expect(await store.replies.begin(request)).toEqual({ outcome: 'done', reply: '' });
  });

  test('a failed call is forgotten, also for another request', async () => {
    const { store } = await fresh();
    await store.replies.begin(request);
    await store.replies.finish({ ...name, reply: null });
    expect(await store.replies.begin({ ...request, requestDigest: hex('other') })).toEqual({
      outcome: 'begun',
    });
  });

  test('a call whose lease lapsed is begun again, by one', async () => {
    const { store } = await fresh();
    await store.replies.begin(request);
    const second = { ...request, nowMs: T0 + 1_000, leaseUntilMs: T0 + 2_000 };
    expect(await store.replies.begin(second)).toEqual({ outcome: 'begun' });
    expect(await store.replies.begin({ ...second, nowMs: T0 + 1_999 })).toEqual({ outcome: 'running' });
    await store.replies.finish({ ...name, reply: 'late' });
    expect(await store.replies.begin({ ...second, nowMs: T0 + 5_000 })).toEqual({
      outcome: 'done',
      reply: 'late',
    });
  });

  test('a reply once kept stands, and a key that was not begun keeps none', async () => {
    const { store } = await fresh();
    await store.replies.finish({ ...name, reply: 'not begun' });
    expect(await store.replies.begin(request)).toEqual({ outcome: 'begun' });
    await store.replies.finish({ ...name, reply: 'first' });
    await store.replies.finish({ ...name, reply: 'second' });
    await store.replies.finish({ ...name, reply: null });
    expect(await store.replies.begin(request)).toEqual({ outcome: 'done', reply: 'first' });
  });

  test('from the end of its keeping on, a key is free for any request', async () => {
    const { store } = await fresh();
    await store.replies.begin({ ...request, keepUntilMs: T0 + 10_000 });
    await store.replies.finish({ ...name, reply: 'first' });
    const other = { ...request, requestDigest: hex('other') };
    expect(await store.replies.begin({ ...other, nowMs: T0 + 9_999 })).toEqual({ outcome: 'conflict' });
    expect(await store.replies.begin({ ...other, nowMs: T0 + 10_000 })).toEqual({ outcome: 'begun' });
  });

  test('scopes do not share keys, wherever the border between the two texts is', async () => {
    const { store } = await fresh();
    for (const [scope, key] of [
      ['a', 'b:c'],
      ['a:b', 'c'],
      ['a', 'b'],
      ['', 'a:b:c'],
      ['a:b:c', ''],
      ['{a}', 'b'],
      ['{a', '}b'],
    ] as const)
      expect(await store.replies.begin({ ...request, scope, key })).toEqual({ outcome: 'begun' });
  });
}

function oddTexts(fresh: Open): void {
  test('organizations with odd ids stay apart, each with its own key and units, and are listed by bytes', async () => {
    const { store } = await fresh();
    for (const [index, id] of ODD_TEXTS.entries()) {
      expect(await store.accounts.createOrganization(organization(id, { displayName: id }))).toBe('created');
      const key = liveKey(`key of ${id}`, { organizationId: id, label: id });
      expect(await store.accounts.addKey(key)).toBe('added');
      expect(await grant(store, id, index + 1, id)).toMatchObject({ outcome: 'granted' });
    }
    for (const [index, id] of ODD_TEXTS.entries()) {
      const key = liveKey(`key of ${id}`, { organizationId: id, label: id });
      expect(await store.accounts.findKey(key.digest)).toEqual({
        key,
        organization: organization(id, { displayName: id }),
      });
      expect(await store.accounts.listKeys({ organizationId: id, after: null, limit: 9 })).toEqual([key]);
      expect(await store.units.balance(id)).toMatchObject({ granted: index + 1, balance: index + 1 });
      expect((await readLedger(store, id)).map(({ subject }) => subject)).toEqual([id]);
    }
    const all = await allPages((after) => store.accounts.listOrganizations({ after, limit: 5 }));
    expect(idsOf(all)).toEqual(byBytes(ODD_TEXTS));
  });

  test('holds with odd ids stay apart and come back as they were given', async () => {
    const { store } = await funded(fresh, 1_000);
    const holds = ODD_TEXTS.map((text, index) =>
      holdOf(text, index + 1, { operation: text, overdueAtMs: T0 + index }),
    );
    for (const hold of holds) expect(await store.units.hold(hold)).toMatchObject({ outcome: 'held' });
    expect(await store.units.overdueHolds({ nowMs: FAR_MS, limit: 1_000 })).toEqual(holds);
    for (const { holdId, units } of holds)
      expect(await capture(store, holdId, units)).toMatchObject({ outcome: 'captured', charged: units });
    const captures = (await readLedger(store, 'org')).filter(({ kind }) => kind === 'capture');
    expect(captures.map(({ subject, note }) => [subject, note])).toEqual(
      ODD_TEXTS.map((text) => [text, text]),
    );
    await expectBooks(store, 'org');
  });

  test('where the id of the organization ends and that of the hold begins is never guessed', async () => {
    const { store } = await fresh();
    const pairs = [
      ['a', 'b:c'],
      ['a:b', 'c'],
      ['a', 'b'],
      ['a:hold', 'b'],
      ['{a}', 'b'],
      ['a}', '{b'],
    ] as const;
    for (const id of new Set(pairs.map(([first]) => first))) {
      await store.accounts.createOrganization(organization(id));
      await grant(store, 'g', 10, id);
    }
    for (const [organizationId, holdId] of pairs)
      expect(await store.units.hold(holdOf(holdId, 1, { organizationId }))).toMatchObject({
        outcome: 'held',
      });
    const open = await store.units.overdueHolds({ nowMs: FAR_MS, limit: 100 });
    expect(open.map(({ organizationId, holdId }) => [organizationId, holdId]).sort()).toEqual(
      [...pairs].sort(),
    );
    expect((await expectBooks(store, 'a')).held).toBe(2);
    expect((await expectBooks(store, 'a:b')).held).toBe(1);
  });

  test('payments and replies keep odd texts', async () => {
    const { store } = await fresh();
    for (const text of ODD_TEXTS) {
      const id = authorization(text);
      await store.payments.claim(claimOf(id, { resource: text }));
      expect(await store.payments.find(id)).toMatchObject({ id, resource: text });
      const request = {
        scope: text,
        key: text,
        requestDigest: hex(text),
        nowMs: T0,
        leaseUntilMs: T0 + 1,
        keepUntilMs: FAR_MS,
      };
      expect(await store.replies.begin(request)).toEqual({ outcome: 'begun' });
      await store.replies.finish({ scope: text, key: text, reply: text });
      expect(await store.replies.begin(request)).toEqual({ outcome: 'done', reply: text });
    }
  });
}

function crowds(fresh: Open): void {
  test('of 200 claims at once exactly one is made, and all are shown its record', async () => {
    const opened = await fresh();
    const id = authorization('1');
    const answers = await crowd(opened, 200, (store, index) =>
      store.payments.claim(claimOf(id, { binding: hex(`${index}`), claimedAtMs: T0 + index })),
    );
    expect(tally(answers)).toEqual({ claimed: 1, taken: 199 });
    const record = answers.find(({ outcome }) => outcome === 'claimed')?.record;
    for (const answer of answers) expect(answer.record).toEqual(record);
    expect(await opened.store.payments.find(id)).toEqual(record);
  });

  test('of 500 holds at once on 100 units exactly 100 are held', async () => {
    const opened = await funded(fresh, 100);
    const answers = await crowd(opened, 500, (store, index) => store.units.hold(holdOf(`h${index}`, 1)));
    expect(tally(answers)).toEqual({ held: 100, insufficient: 400 });
    expect(await expectBooks(opened.store, 'org')).toEqual({ granted: 100, balance: 0, held: 100, spent: 0 });
    expect(await readLedger(opened.store, 'org')).toHaveLength(101);
    expect(await opened.store.units.overdueHolds({ nowMs: FAR_MS, limit: 1_000 })).toHaveLength(100);
  });

  test('the same hold, capture, release or grant a hundred times at once happens once', async () => {
    const opened = await funded(fresh, 10);
    const grants = await crowd(opened, 100, (store) => grant(store, 'same', 5));
    expect(tally(grants)).toEqual({ granted: 1, replayed: 99 });
    for (const holdId of ['h', 'i'])
      expect(tally(await crowd(opened, 100, (store) => store.units.hold(holdOf(holdId, 3))))).toEqual({
        held: 1,
        replayed: 99,
      });
    const captures = await crowd(opened, 100, (store, index) => capture(store, 'h', index % 4));
    expect(tally(captures)).toEqual({ captured: 1, replayed: 99 });
    expect(new Set(captures.map(({ charged }) => charged)).size).toBe(1);
    expect(tally(await crowd(opened, 100, (store) => release(store, 'i')))).toEqual({
      released: 1,
      replayed: 99,
    });
    expect((await readLedger(opened.store, 'org')).map(({ kind }) => kind)).toEqual([
      'grant',
      'grant',
      'hold',
      'hold',
      'capture',
      'release',
    ]);
    await expectBooks(opened.store, 'org');
  });

  test('a capture and a sweep of the same hold at once: one of them happens', async () => {
    const opened = await funded(fresh, 100);
    for (let index = 0; index < 50; index++) await opened.store.units.hold(holdOf(`h${index}`, 2));
    const other = await opened.reopen();
    const races = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const calls = [
          () => capture(opened.store, `h${index}`, 1),
          () => release(other, `h${index}`, 'overdue'),
        ] as const;
        // Either call is first in every second race.
        if (index % 2 === 0) return Promise.all([calls[0](), calls[1]()]);
        const second = calls[1]();
        return Promise.all([calls[0](), second]);
      }),
    );
    const pairs = races.map(([captured, swept]) => `${captured.outcome}, ${swept.outcome}`);
    for (const pair of pairs) expect(['captured, captured', 'released, released']).toContain(pair);
    const spent = pairs.filter((pair) => pair === 'captured, captured').length;
    expect(await expectBooks(opened.store, 'org')).toEqual({
      granted: 100,
      balance: 100 - spent,
      held: 0,
      spent,
    });
    expect(await readLedger(opened.store, 'org')).toHaveLength(101);
    expect(await opened.store.units.overdueHolds({ nowMs: FAR_MS, limit: 9 })).toEqual([]);
  });

  test('grants at once never pass UNITS_MAX', async () => {
    const opened = await funded(fresh, UNITS_MAX - 10);
    const answers = await crowd(opened, 40, (store, index) => grant(store, `g${index}`, 1));
    expect(tally(answers)).toEqual({ granted: 10, too_large: 30 });
    expect((await expectBooks(opened.store, 'org')).granted).toBe(UNITS_MAX);
  });

  test('of 50 calls at once with one settled payment one is served, and one key is issued', async () => {
    const opened = await fresh();
    const id = await settledPayment(opened.store, '1');
    const served = await crowd(opened, 50, (store) => serve(store, id));
    expect(tally(served)).toEqual({ serving: 1, busy: 49 });
    const issued = await crowd(opened, 50, (store, index) =>
      store.payments.issueKey({ id, key: trialKey(`key_${index}`) }),
    );
    expect(tally(issued)).toEqual({ issued: 1, already_issued: 49 });
    const keyId = issued.find(({ outcome }) => outcome === 'issued')?.keyId ?? null;
    expect(keyId).not.toBeNull();
    expect(new Set(issued.map((answer) => answer.keyId))).toEqual(new Set([keyId]));
    const listed = await opened.store.accounts.listKeys({ organizationId: null, after: null, limit: 100 });
    expect(idsOf(listed)).toEqual([keyId]);
    expect(await opened.store.payments.find(id)).toMatchObject({ keyId, attempts: 1 });
  });

  test('settlements at once: one transaction stands', async () => {
    const opened = await fresh();
    const id = authorization('1');
    await opened.store.payments.claim(claimOf(id));
    const answers = await crowd(opened, 40, (store, index) =>
      store.payments.recordSettlement({ id, transaction: `0x${hex(`${index % 4}`)}` }),
    );
    expect(tally(answers)).toEqual({ settled: 1, replayed: 9, conflict: 30 });
  });

  test('creations, revocations and replies at once happen once', async () => {
    const opened = await fresh();
    const created = await crowd(opened, 50, (store) =>
      store.accounts.createOrganization(organization('org')),
    );
    expect(tally(created)).toEqual({ created: 1, exists: 49 });
    const digest = hex('one') as KeyDigest;
    const added = await crowd(opened, 50, (store, index) =>
      store.accounts.addKey(liveKey(`k${index}`, { digest })),
    );
    expect(tally(added)).toEqual({ added: 1, exists: 49 });
    const keyId = (await opened.store.accounts.findKey(digest))?.key.id ?? '';
    const revoked = await crowd(opened, 50, (store) => store.accounts.revokeKey({ keyId, atMs: T0 }));
    expect(tally(revoked)).toEqual({ revoked: 1, was_revoked: 49 });
    const request = {
      scope: 's',
      key: 'k',
      requestDigest: hex('r'),
      nowMs: T0,
      leaseUntilMs: T0 + 1,
      keepUntilMs: FAR_MS,
    };
    const begun = await crowd(opened, 50, (store) => store.replies.begin(request));
    expect(tally(begun)).toEqual({ begun: 1, running: 49 });
  });
}

function handles(fresh: Open): void {
  test('what one handle wrote the other sees at once', async () => {
    const { store, reopen } = await funded(fresh, 10);
    const other = await reopen();
    expect(await other.accounts.findOrganization('org')).toEqual(organization('org'));
    expect(await other.units.balance('org')).toMatchObject({ balance: 10 });
    await other.units.hold(holdOf('h', 4));
    expect(await store.units.balance('org')).toMatchObject({ balance: 6, held: 4 });
    expect(await capture(store, 'h', 4)).toMatchObject({ outcome: 'captured' });
    expect(await capture(other, 'h', 4)).toMatchObject({ outcome: 'replayed', charged: 4 });
    await other.accounts.addKey(liveKey('k'));
    expect(await store.accounts.findKey(liveKey('k').digest)).not.toBeNull();
    await store.accounts.revokeKey({ keyId: 'k', atMs: T0 });
    expect((await other.accounts.findKey(liveKey('k').digest))?.key.revokedAtMs).toBe(T0);
    await other.close();
    await store.ping();
    expect(await expectBooks(store, 'org')).toMatchObject({ spent: 4 });
  });

  test('everything but the windows is there after closing and opening again', async () => {
    const { store, reopen } = await funded(fresh, 10);
    await store.accounts.addKey(liveKey('k'));
    await store.units.hold(holdOf('h', 4));
    await store.units.hold(holdOf('i', 2));
    await capture(store, 'i', 1);
    const id = await settledPayment(store, '1');
    await store.payments.claim(claimOf(authorization('2')));
    await serve(store, id);
    await store.payments.issueKey({ id, key: trialKey('t') });
    const request = {
      scope: 's',
      key: 'k',
      requestDigest: hex('r'),
      nowMs: T0,
      leaseUntilMs: T0 + 1,
      keepUntilMs: FAR_MS,
    };
    await store.replies.begin(request);
    await store.replies.finish({ scope: 's', key: 'k', reply: 'kept' });
    const record = await store.payments.find(id);
    const rows = await readLedger(store, 'org');
    await store.close();
    const again = await reopen();
    expect(await again.accounts.findKey(liveKey('k').digest)).toEqual({
      key: liveKey('k'),
      organization: organization('org'),
    });
    expect(await again.payments.find(id)).toEqual(record);
    expect(record).toMatchObject({ state: 'serving', keyId: 't' });
    expect(await again.payments.unresolved({ nowMs: FAR_MS, limit: 9 })).toHaveLength(1);
    expect(await readLedger(again, 'org')).toEqual(rows);
    expect(await expectBooks(again, 'org')).toEqual({ granted: 10, balance: 5, held: 4, spent: 1 });
    expect(await again.units.overdueHolds({ nowMs: FAR_MS, limit: 9 })).toEqual([holdOf('h', 4)]);
    expect(await again.replies.begin(request)).toEqual({ outcome: 'done', reply: 'kept' });
    expect(await capture(again, 'h', 4)).toMatchObject({ outcome: 'captured' });
  });

  test('after closing, every call says that the store does not answer', async () => {
    const { store } = await funded(fresh, 10);
    await store.close();
    await store.close();
    const id = authorization('1');
    const key = trialKey('k');
    const page = { after: null, limit: 1 };
    const calls: (() => Promise<unknown>)[] = [
      () => store.ping(),
      () => store.accounts.createOrganization(organization('x')),
      () => store.accounts.changePlan({ organizationId: 'org', plan: 'pro' }),
      () => store.accounts.findOrganization('org'),
      () => store.accounts.listOrganizations(page),
      () => store.accounts.addKey(key),
      () => store.accounts.revokeKey({ keyId: 'k', atMs: T0 }),
      () => store.accounts.listKeys({ organizationId: null, ...page }),
      () => store.accounts.findKey(key.digest),
      () => grant(store, 'g', 1),
      () => store.units.hold(holdOf('h', 1)),
      () => capture(store, 'h', 1),
      () => release(store, 'h'),
      () => store.units.overdueHolds({ nowMs: T0, limit: 1 }),
      () => store.units.balance('org'),
      () => store.units.ledger({ organizationId: 'org', after: 0, limit: 1 }),
      () => store.payments.find(id),
      () => store.payments.claim(claimOf(id)),
      () => store.payments.recordSettlement({ id, transaction: TRANSACTION }),
      () => store.payments.dropClaim(id),
      () => serve(store, id),
      () => store.payments.finishServing({ id, attempt: 1, answered: true }),
      () => store.payments.unresolved({ nowMs: T0, limit: 1 }),
      () => store.payments.issueKey({ id, key }),
      () => store.rates.take({ key: 'k', limit: 1, windowSeconds: 60, nowMs: T0 }),
      () =>
        store.replies.begin({
          scope: 's',
          key: 'k',
          requestDigest: 'd',
          nowMs: T0,
          leaseUntilMs: T0,
          keepUntilMs: T0,
        }),
      () => store.replies.finish({ scope: 's', key: 'k', reply: null }),
    ];
    for (const call of calls) {
      const failure = await call().catch((error: unknown) => error);
      expect(failure, String(call)).toBeInstanceOf(StoreUnavailable);
      expect((failure as Error).message).toBe('the control store does not answer');
    }
  });
}
