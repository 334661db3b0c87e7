import { afterEach, describe, expect, test } from 'vitest';
import { dayOf } from '../../../core/domain/usage.ts';
import { PAYMENT_KEPT_MS } from '../../../src/accounts/payment-store.ts';
import type { ControlStore } from '../../../src/accounts/store.ts';
import { usageOwner } from '../../../src/accounts/usage-store.ts';
import { readLedger } from '../../kit/unit-books.ts';
import type { OpenedStore } from './control-store.ts';

const T0 = 1_750_000_000_123;
const HOUR_MS = 3_600_000;

/** The contract of `SavedQueryStore` and `RefreshStore`, and of shares of a capture, over whatever `open` gives. */
export function savedQueryContract(name: string, open: () => Promise<OpenedStore>): void {
  const opened: OpenedStore[] = [];
  const fresh = async (): Promise<ControlStore> => {
    const one = await open();
    opened.push(one);
    for (const id of ['acme', 'other']) await organization(one.store, id);
    return one.store;
  };
  const named = async (): Promise<ControlStore> => {
    const store = await fresh();
    for (const id of ['acme', 'other'])
      await store.saved.claimHandle({ organizationId: id, handle: `the-${id}`, skeleton: `the${id}` });
    return store;
  };
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  describe(`${name}: handles`, () => handles(fresh));
  describe(`${name}: saved queries`, () => queries(fresh, named));
  describe(`${name}: refreshes`, () => refreshes(named));
  describe(`${name}: shares`, () => shares(fresh));
}

function organization({ accounts }: ControlStore, id: string) {
  return accounts.createOrganization({ id, displayName: id, plan: 'free', createdAtMs: T0 });
}

type Open = () => Promise<ControlStore>;

const query = (over: Partial<Parameters<ControlStore['saved']['put']>[0]> = {}) => ({
  organizationId: 'acme',
  slug: 'top-payees',
  content: '{"sql":"SELECT 1 -- \u20ac\'"}',
  settings: '{"visibility":"private"}',
  listing: '{"title":""}',
  isPublic: false,
  refreshSeconds: null,
  atMs: T0,
  queriesMax: 10,
  versionsMax: 10,
  ...over,
});

function handles(fresh: Open): void {
  test('a handle is given once, and stays', async () => {
    const { saved } = await fresh();
    const claim = { organizationId: 'acme', handle: 'acme-inc', skeleton: 'acmelnc' };
    expect(await saved.handle({ organizationId: 'acme' })).toBeNull();
    expect(await saved.claimHandle(claim)).toBe('claimed');
    expect(await saved.claimHandle(claim)).toBe('replayed');
    expect(await saved.claimHandle({ ...claim, handle: 'acme2', skeleton: 'acme2' })).toBe('has_other');
    expect(await saved.claimHandle({ ...claim, organizationId: 'other' })).toBe('taken');
    const alike = { organizationId: 'other', handle: 'acme-1nc', skeleton: 'acmelnc' };
    expect(await saved.claimHandle(alike)).toBe('taken');
    expect(await saved.claimHandle({ ...claim, organizationId: 'unknown' })).toBe('unknown_organization');
    const found = { organizationId: 'acme', handle: 'acme-inc' };
    expect(await saved.handle({ organizationId: 'acme' })).toEqual(found);
    expect(await saved.handle({ handle: 'acme-inc' })).toEqual(found);
    expect(await saved.handle({ handle: 'acme-1nc' })).toBeNull();
  });

  test('of many organizations at once one gets a handle', async () => {
    const store = await fresh();
    const ids = Array.from({ length: 8 }, (_, at) => `crowd-${at}`);
    for (const id of ids) await organization(store, id);
    const outcomes = await Promise.all(
      ids.map((organizationId) =>
        store.saved.claimHandle({ organizationId, handle: 'crowd', skeleton: 'crowd' }),
      ),
    );
    expect(outcomes.filter((one) => one === 'claimed')).toHaveLength(1);
    expect(outcomes.filter((one) => one === 'taken')).toHaveLength(7);
  });
}

function queries(fresh: Open, named: Open): void {
  test('other content makes the next version, and earlier ones stay as they are', async () => {
    const { saved } = await named();
    expect(await saved.put(query())).toEqual({ outcome: 'created', version: 1 });
    expect(await saved.put(query({ atMs: T0 + 1 }))).toEqual({ outcome: 'unchanged', version: 1 });
    expect(await saved.put(query({ content: 'b', atMs: T0 + 2 }))).toEqual({
      outcome: 'new_version',
      version: 2,
    });
    expect(await saved.put(query({ content: 'b', settings: 's', atMs: T0 + 3 }))).toEqual({
      outcome: 'changed',
      version: 2,
    });
    const common = {
      organizationId: 'acme',
      handle: 'the-acme',
      slug: 'top-payees',
      latestVersion: 2,
      settings: 's',
      createdAtMs: T0,
      updatedAtMs: T0 + 3,
      refreshAtMs: null,
    };
    const name = { organizationId: 'acme', slug: 'top-payees' };
    const first = { ...common, version: 1, content: query().content, versionCreatedAtMs: T0 };
    const second = { ...common, version: 2, content: 'b', versionCreatedAtMs: T0 + 2 };
    expect(await saved.find({ ...name, version: 1 })).toEqual(first);
    expect(await saved.find({ ...name, version: 2 })).toEqual(second);
    expect(await saved.find({ ...name, version: null })).toEqual(second);
    expect(await saved.find({ ...name, version: 3 })).toBeNull();
    expect(await saved.find({ ...name, organizationId: 'other', version: null })).toBeNull();
    expect(await saved.versions(name)).toEqual([
      { version: 2, content: 'b', versionCreatedAtMs: T0 + 2 },
      { version: 1, content: query().content, versionCreatedAtMs: T0 },
    ]);
  });

  test('no number of a version is used again after the query was removed', async () => {
    const { saved } = await named();
    const name = { organizationId: 'acme', slug: 'top-payees' };
    await saved.put(query({ isPublic: true, refreshSeconds: 900 }));
    await saved.put(query({ content: 'b' }));
    expect(await saved.remove({ ...name, organizationId: 'other' })).toBe(false);
    expect(await saved.remove(name)).toBe(true);
    expect(await saved.remove(name)).toBe(false);
    expect(await saved.find({ ...name, version: null })).toBeNull();
    expect(await saved.find({ ...name, version: 1 })).toBeNull();
    expect(await saved.versions(name)).toEqual([]);
    expect(await saved.list({ organizationId: 'acme', after: null, limit: 5 })).toEqual([]);
    for (const organizationId of [null, 'acme'])
      expect(await saved.listings({ organizationId, after: null, limit: 5 })).toEqual([]);
    expect(await saved.put(query({ atMs: T0 + 9 }))).toEqual({ outcome: 'created', version: 3 });
    expect(await saved.find({ ...name, version: null })).toMatchObject({ version: 3, createdAtMs: T0 + 9 });
    expect(await saved.find({ ...name, version: 1 })).toBeNull();
  });

  test('an organization without a handle saves nothing, and none saves more than it may', async () => {
    const store = await fresh();
    const { saved } = store;
    expect(await saved.put(query())).toEqual({ outcome: 'no_handle', version: 0 });
    await saved.claimHandle({ organizationId: 'acme', handle: 'the-acme', skeleton: 'x' });
    expect((await saved.put(query({ queriesMax: 1 }))).outcome).toBe('created');
    expect(await saved.put(query({ slug: 'b', queriesMax: 1 }))).toEqual({ outcome: 'too_many', version: 0 });
    expect((await saved.put(query({ content: 'b', versionsMax: 2, queriesMax: 1 }))).outcome).toBe(
      'new_version',
    );
    expect(await saved.put(query({ content: 'c', versionsMax: 2 }))).toEqual({
      outcome: 'too_many',
      version: 0,
    });
    // Settings need no room.
    expect((await saved.put(query({ content: 'b', settings: 's', versionsMax: 2 }))).outcome).toBe('changed');
  });

  test('an entry whose name begins with a tilde, as that of a dashboard does, is listed behind all queries', async () => {
    const { saved } = await named();
    for (const slug of ['~a', 'zz', 'a', '~zz', '9'])
      await saved.put(query({ slug, content: `{"of":"${slug}"}` }));
    const list = async (after: string | null) =>
      (await saved.list({ organizationId: 'acme', after, limit: 10 })).map(({ slug }) => slug);
    expect(await list(null)).toEqual(['9', 'a', 'zz', '~a', '~zz']);
    expect(await list('~')).toEqual(['~a', '~zz']);
    expect((await saved.find({ organizationId: 'acme', slug: '~a', version: null }))?.content).toBe(
      '{"of":"~a"}',
    );
    expect(await saved.remove({ organizationId: 'acme', slug: '~a' })).toBe(true);
    expect(await list('~')).toEqual(['~zz']);
  });

  test('queries are listed to their organization by slug, and public ones to everyone', async () => {
    const { saved } = await named();
    for (const slug of ['c', 'a', 'b-2', 'b']) await saved.put(query({ slug }));
    await saved.put(query({ slug: 'b', isPublic: true, settings: 'p' }));
    await saved.put(query({ slug: 'z', organizationId: 'other', isPublic: true }));
    await saved.put(query({ slug: 'y', organizationId: 'other', isPublic: true }));
    const slugs = async (after: string | null, limit: number) =>
      (await saved.list({ organizationId: 'acme', after, limit })).map(({ slug }) => slug);
    expect(await slugs(null, 3)).toEqual(['a', 'b', 'b-2']);
    expect(await slugs('b-2', 3)).toEqual(['c']);
    const places = async (organizationId: string | null, after: [string, string] | null, limit = 10) => {
      const [handle = '', slug = ''] = after ?? [];
      const page = { organizationId, after: after === null ? null : { handle, slug }, limit };
      return (await saved.listings(page)).map((one) => `${one.handle}/${one.slug}`);
    };
    const all = ['the-acme/b', 'the-other/y', 'the-other/z'];
    expect(await places(null, null)).toEqual(all);
    expect(await places(null, null, 2)).toEqual(all.slice(0, 2));
    expect(await places(null, ['the-acme', 'b'])).toEqual(all.slice(1));
    expect(await places(null, ['the-acme', 'a'], 1)).toEqual(all.slice(0, 1));
    expect(await places(null, ['the-other', 'z'])).toEqual([]);
    expect(await places('acme', ['the-acme', 'b'])).toEqual(['the-acme/b-2', 'the-acme/c']);
    await saved.put(
      query({ slug: 'y', organizationId: 'other', settings: 'p', listing: '{"a":"\u20ac"}', atMs: T0 + 5 }),
    );
    expect(await places(null, null)).toEqual(['the-acme/b', 'the-other/z']);
    expect((await saved.listings({ organizationId: 'other', after: null, limit: 1 }))[0]).toEqual({
      organizationId: 'other',
      handle: 'the-other',
      slug: 'y',
      version: 1,
      listing: '{"a":"\u20ac"}',
      updatedAtMs: T0 + 5,
    });
  });
}

function refreshes(named: Open): void {
  const name = { organizationId: 'acme', slug: 'top-payees' };
  const claimAt = ({ refreshes: store }: ControlStore, nowMs: number) =>
    store.claim({ nowMs, untilMs: nowMs + 10_000 });
  const finish = { run: '{"a":1}', failures: 0, keptMax: 3 };

  test('a query is due when it is saved, and one process has it at a time', async () => {
    const store = await named();
    await store.saved.put(query({ refreshSeconds: 900 }));
    expect(await claimAt(store, T0 - 1)).toBeNull();
    const claims = await Promise.all([1, 2, 3].map(() => claimAt(store, T0)));
    expect(claims.filter((one) => one !== null)).toEqual([{ ...name, dueAtMs: T0, failures: 0 }]);
    // The claim lapses, for a process that died.
    expect(await claimAt(store, T0 + 10_000)).toEqual({ ...name, dueAtMs: T0, failures: 0 });
    await store.refreshes.pause({ ...name, dueAtMs: T0, atMs: T0 + 10_500 });
    expect(await claimAt(store, T0 + 10_499)).toBeNull();
    expect(await claimAt(store, T0 + 10_500)).toEqual({ ...name, dueAtMs: T0, failures: 0 });
  });

  test('a run is kept once, and the next one is due then', async () => {
    const store = await named();
    await store.saved.put(query({ refreshSeconds: 900 }));
    const ended = { ...name, ...finish, dueAtMs: T0, failures: 2, nextAtMs: T0 + HOUR_MS };
    expect(await store.refreshes.finish(ended)).toBe(true);
    expect(await store.refreshes.finish(ended)).toBe(false);
    await store.refreshes.pause({ ...name, dueAtMs: T0, atMs: T0 });
    expect(await claimAt(store, T0 + HOUR_MS - 1)).toBeNull();
    expect((await store.saved.find({ ...name, version: null }))?.refreshAtMs).toBe(T0 + HOUR_MS);
    expect(await claimAt(store, T0 + HOUR_MS)).toEqual({ ...name, dueAtMs: T0 + HOUR_MS, failures: 2 });
    expect(await store.refreshes.runs(name)).toEqual(['{"a":1}']);
    for (let at = 1; at < 5; at += 1)
      await store.refreshes.finish({
        ...ended,
        run: String(at),
        dueAtMs: T0 + at * HOUR_MS,
        nextAtMs: T0 + (at + 1) * HOUR_MS,
      });
    expect(await store.refreshes.runs(name)).toEqual(['4', '3', '2']);
    expect(await store.refreshes.runs({ ...name, organizationId: 'other' })).toEqual([]);
  });

  test('a refresh that ended is due again once the query is put again, also the same one', async () => {
    const store = await named();
    await store.saved.put(query({ refreshSeconds: 900 }));
    const last = { ...name, ...finish, dueAtMs: T0, nextAtMs: null };
    expect(await store.refreshes.finish(last)).toBe(true);
    expect(await store.refreshes.finish(last)).toBe(false);
    expect(await claimAt(store, T0 + 10 * HOUR_MS)).toBeNull();
    expect((await store.saved.find({ ...name, version: null }))?.refreshAtMs).toBeNull();
    expect(await store.refreshes.runs(name)).toEqual(['{"a":1}']);
    expect(await store.saved.put(query({ refreshSeconds: 900, atMs: T0 + 5 }))).toMatchObject({
      outcome: 'changed',
      version: 1,
    });
    expect(await claimAt(store, T0 + 5)).toEqual({ ...name, dueAtMs: T0 + 5, failures: 0 });
  });

  test('a new version and another interval are due at once, other settings change nothing', async () => {
    const store = await named();
    await store.saved.put(query({ refreshSeconds: 900 }));
    await store.refreshes.finish({ ...name, ...finish, dueAtMs: T0, failures: 3, nextAtMs: T0 + HOUR_MS });
    await store.saved.put(query({ refreshSeconds: 900, settings: 's', atMs: T0 + 1 }));
    expect(await claimAt(store, T0 + 5)).toBeNull();
    await store.saved.put(query({ refreshSeconds: 1_800, settings: 't', atMs: T0 + 6 }));
    expect(await claimAt(store, T0 + 6)).toEqual({ ...name, dueAtMs: T0 + 6, failures: 0 });
    await store.saved.put(query({ refreshSeconds: 1_800, content: 'b', settings: 't', atMs: T0 + 7 }));
    expect(await claimAt(store, T0 + 7)).toEqual({ ...name, dueAtMs: T0 + 7, failures: 0 });
    // The run of the version before is over.
    expect(
      await store.refreshes.finish({ ...name, ...finish, dueAtMs: T0 + 6, nextAtMs: T0 + HOUR_MS }),
    ).toBe(false);
    await store.saved.put(query({ content: 'b', settings: 't', refreshSeconds: null, atMs: T0 + 8 }));
    await store.saved.put(query({ content: 'b', settings: 'u', refreshSeconds: null, atMs: T0 + 9 }));
    expect(await claimAt(store, T0 + 10 * HOUR_MS)).toBeNull();
    expect((await store.saved.find({ ...name, version: null }))?.refreshAtMs).toBeNull();
    await store.saved.put(query({ content: 'b', refreshSeconds: 900, atMs: T0 + 10 }));
    await store.saved.remove(name);
    expect(await claimAt(store, T0 + 10 * HOUR_MS)).toBeNull();
    expect(await store.refreshes.runs(name)).toEqual([]);
  });
}

function shares(fresh: Open): void {
  const share = {
    organizationId: 'other',
    units: 2,
    runUnits: 1,
    note: 'sold: the-other/q',
    earnedBy: 'callSavedQuery',
  };
  const hold = {
    organizationId: 'acme',
    holdId: 'hold-1',
    units: 5,
    operation: 'callSavedQuery',
    heldAtMs: T0,
    overdueAtMs: T0 + HOUR_MS,
  };
  const capture = { organizationId: 'acme', holdId: 'hold-1', units: 3, atMs: T0 + 1, share };
  const earned = ({ usage }: ControlStore) =>
    usage.usage({ owner: usageOwner({ organizationId: 'other' }), dayFrom: dayOf(T0), dayTo: dayOf(T0) });
  const holding = async () => {
    const store = await fresh();
    await store.units.grant({ organizationId: 'acme', grantId: 'g', units: 10, note: '', atMs: T0 });
    await store.units.hold(hold);
    return store;
  };

  test('a share is granted with its capture, once, and counted as earned', async () => {
    const store = await holding();
    for (let at = 0; at < 3; at += 1) await store.units.capture(capture);
    expect(await store.units.balance('acme')).toEqual({ granted: 10, balance: 7, held: 0, spent: 3 });
    expect(await store.units.balance('other')).toEqual({ granted: 2, balance: 2, held: 0, spent: 0 });
    expect(await readLedger(store, 'other')).toEqual([
      {
        sequence: 1,
        atMs: T0 + 1,
        kind: 'grant',
        units: 2,
        released: 0,
        subject: 'sale:hold-1',
        note: 'sold: the-other/q',
        balance: 2,
        held: 0,
      },
    ]);
    expect(await earned(store)).toEqual([
      {
        day: dayOf(T0),
        keyId: '',
        operation: 'callSavedQuery',
        lane: 'earned',
        calls: 1,
        units: 2,
        usdMicros: 0,
      },
    ]);
  });

  test('a capture that takes nothing gives nothing', async () => {
    const store = await holding();
    await store.units.release({ ...hold, kind: 'release', note: '', atMs: T0 });
    expect((await store.units.capture(capture)).outcome).toBe('released');
    expect((await store.units.capture({ ...capture, holdId: 'none' })).outcome).toBe('unknown');
    expect((await store.units.balance('other'))?.granted).toBe(0);
    expect(await earned(store)).toEqual([]);
  });

  test('a share that cannot be granted is left out of its capture', async () => {
    const store = await holding();
    const wanted = { ...capture, share: { ...share, organizationId: 'unknown' } };
    expect((await store.units.capture(wanted)).outcome).toBe('captured');
    expect((await store.units.balance('acme'))?.spent).toBe(3);
  });

  test('a share is granted also to an organization that has open holds of its own', async () => {
    const store = await holding();
    await store.units.grant({ organizationId: 'other', grantId: 'g', units: 10, note: '', atMs: T0 });
    await store.units.hold({ ...hold, organizationId: 'other', holdId: 'hold-2' });
    await store.units.capture(capture);
    expect(await store.units.balance('other')).toEqual({ granted: 12, balance: 7, held: 5, spent: 0 });
    await store.units.capture({
      ...capture,
      organizationId: 'other',
      holdId: 'hold-2',
      share,
    });
    expect(await store.units.balance('other')).toEqual({ granted: 14, balance: 11, held: 0, spent: 3 });
    expect((await readLedger(store, 'other')).map(({ kind }) => kind)).toEqual([
      'grant',
      'hold',
      'grant',
      'capture',
      'grant',
    ]);
  });

  test.each([
    ['more than was captured', { units: 3 }],
    ['what the run takes', { runUnits: 2 }],
    ['nothing for the run', { units: 3, runUnits: 0 }],
    ['a part of a unit', { units: 1.5 }],
    ['no units', { units: 0 }],
  ])('a capture does not give its author %s, and its hold stays open', async (_what, change) => {
    const store = await holding();
    const wanted = { ...capture, share: { ...share, ...change } };
    await expect(store.units.capture(wanted)).rejects.toThrow(RangeError);
    expect((await store.units.balance('acme'))?.held).toBe(5);
    expect((await store.units.balance('other'))?.granted).toBe(0);
    expect((await store.units.capture(capture)).outcome).toBe('captured');
  });

  const payment = { chain: 'eip155:8453', asset: '0xaa', payer: '0xbb', nonce: '0x01' };
  const claim = {
    id: payment,
    ...{ binding: 'b', resource: 'GET /v0/q/{owner}/{slug}', payTo: '0xcc', amount: '30000' },
    ...{ expiresAtMs: T0, claimedAtMs: T0, leaseUntilMs: T0 + HOUR_MS },
  };
  const sale = { units: 3, sold: '{"a":"b"}', share };
  const grantSale = ({ units }: ControlStore) => units.grantSale({ payment, atMs: T0 + 1 });

  test('the share of a payment is granted once it settled, once, as its claim says, and counted as earned', async () => {
    const store = await fresh();
    expect(await grantSale(store)).toEqual({ outcome: 'unknown' });
    await store.payments.claim({ ...claim, sale });
    // A later claim changes nothing of what was sold.
    await store.payments.claim({ ...claim, sale: { ...sale, units: 90, share: { ...share, units: 80 } } });
    expect((await store.payments.find(payment))?.sale).toEqual(sale);
    expect(await grantSale(store)).toEqual({ outcome: 'unsettled' });
    await store.payments.recordSettlement({ id: payment, transaction: '0x01' });
    const outcomes = [await grantSale(store), await grantSale(store)];
    expect(outcomes).toEqual([{ outcome: 'granted' }, { outcome: 'replayed' }]);
    expect(await earned(store)).toMatchObject([{ lane: 'earned', calls: 1, units: 2 }]);
    const granted = { kind: 'grant', units: 2, subject: 'sale:eip155:8453:0xaa:0xbb:0x01', note: share.note };
    expect(await readLedger(store, 'other')).toMatchObject([granted]);
  });

  test('a sold query is kept until its payment is served, its share for good', async () => {
    const store = await fresh();
    await store.payments.claim({ ...claim, sale });
    await store.payments.recordSettlement({ id: payment, transaction: '0x01' });
    for (const answered of [false, true]) {
      const serving = { id: payment, nowMs: T0, leaseUntilMs: T0 + 1, attemptsMax: 5 };
      const { attempt } = await store.payments.beginServing(serving);
      await store.payments.finishServing({ id: payment, attempt, answered });
      const sold = answered ? null : sale.sold;
      expect((await store.payments.find(payment))?.sale).toEqual({ ...sale, sold });
    }
    const late = { ...claim, id: { ...payment, nonce: '0x02' }, claimedAtMs: T0 + 2 * PAYMENT_KEPT_MS };
    await store.payments.claim(late);
    expect((await store.payments.find(payment))?.sale?.share).toEqual(share);
    expect((await store.payments.find(late.id))?.sale).toBeNull();
  });

  test.each<[string, object]>([
    ['without a share', { sale: { ...sale, share: null } }],
    ['that does not say what was sold', {}],
    ['for an unknown organization', { sale: { ...sale, share: { ...share, organizationId: 'unknown' } } }],
  ])('a payment %s gives nothing', async (_what, said) => {
    const store = await fresh();
    await store.payments.claim({ ...claim, ...said });
    await store.payments.recordSettlement({ id: payment, transaction: '0x01' });
    expect(['no_share', 'unknown']).toContain((await grantSale(store)).outcome);
    expect((await store.units.balance('other'))?.granted).toBe(0);
  });

  test('a claim whose sale does not cover its share, and a grant that is named like a sale, are refused', async () => {
    const store = await fresh();
    const uncovered = { ...sale, units: 2 };
    await expect(store.payments.claim({ ...claim, sale: uncovered })).rejects.toThrow(RangeError);
    expect(await store.payments.find(payment)).toBeNull();
    const named = { organizationId: 'other', grantId: 'sale:hold-9', units: 1, note: '', atMs: T0 };
    await expect(store.units.grant(named)).rejects.toThrow(RangeError);
    expect((await store.units.balance('other'))?.granted).toBe(0);
  });
}
