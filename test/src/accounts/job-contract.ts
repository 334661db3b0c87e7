import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import type { JobRecord, NewJob } from '../../../src/accounts/job-store.ts';
import type { ResultRecord } from '../../../src/accounts/result-store.ts';
import type { ShareRecord } from '../../../src/accounts/share-store.ts';
import type { ControlStore } from '../../../src/accounts/store.ts';
import type { OpenedStore } from './control-store.ts';

const T0 = 1_750_000_000_123;
const LEASE_MS = 10_000;

/** The contract of `JobStore`, `ResultStore` and `ShareStore`, over whatever `open` gives. */
export function jobStoreContract(name: string, open: () => Promise<OpenedStore>): void {
  const opened: OpenedStore[] = [];
  const fresh = async (): Promise<ControlStore> => {
    const one = await open();
    opened.push(one);
    return one.store;
  };
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  const job = (over: Partial<NewJob> = {}) => ({
    id: `job-${randomUUID()}`,
    organizationId: 'acme',
    request: '{"sql":"SELECT 1 -- \u20ac\'"}',
    createdAtMs: T0,
    unfinishedMax: 100,
    ...over,
  });
  const claimAt = ({ jobs }: ControlStore, nowMs: number) =>
    jobs.claim({ nowMs, leaseUntilMs: nowMs + LEASE_MS });

  describe(`${name}: jobs`, () => {
    test('a job is queued once, whatever is added under its id again', async () => {
      const { jobs } = await fresh();
      const first = job();
      expect(await jobs.add(first)).toBe('added');
      expect(await jobs.add({ ...first, request: 'other', organizationId: 'other' })).toBe('replayed');
      const { unfinishedMax: _, ...kept } = first;
      const record: JobRecord = {
        ...kept,
        state: 'queued',
        attempt: 0,
        leaseUntilMs: null,
        startedAtMs: null,
        endedAtMs: null,
        cancelAtMs: null,
        progress: null,
        resultId: null,
        outcome: null,
      };
      expect(await jobs.find(first)).toEqual(record);
    });

    test('an organization has at most so many unfinished jobs, and ended ones do not count', async () => {
      const store = await fresh();
      const { jobs } = store;
      const [one, two] = [job({ createdAtMs: T0 - 1 }), job()];
      expect(await jobs.add({ ...one, unfinishedMax: 1 })).toBe('added');
      expect(await jobs.add({ ...two, unfinishedMax: 1 })).toBe('too_many');
      expect([await jobs.unfinished('acme'), await jobs.unfinished('other')]).toEqual([1, 0]);
      expect(await jobs.add({ ...job({ organizationId: 'other' }), unfinishedMax: 1 })).toBe('added');
      const claimed = await claimAt(store, T0);
      expect(claimed?.id).toBe(one.id);
      expect(await jobs.add({ ...two, unfinishedMax: 1 })).toBe('too_many');
      await jobs.end({ id: one.id, attempt: 1, state: 'failed', outcome: '{}', atMs: T0 });
      expect(await jobs.add({ ...two, unfinishedMax: 1 })).toBe('added');
    });

    test('jobs are claimed in the order in which they were created, each by one worker', async () => {
      const store = await fresh();
      const added = [3, 1, 2].map((at) => job({ createdAtMs: T0 + at }));
      for (const one of added) await store.jobs.add(one);
      const claims = await Promise.all([1, 2, 3, 4].map(() => claimAt(store, T0 + 10)));
      const ids = claims.map((one) => one?.id).filter((id) => id !== undefined);
      expect(ids.toSorted()).toEqual(added.map(({ id }) => id).toSorted());
      expect(claims.filter((one) => one === null)).toHaveLength(1);
      expect(claims.find((one) => one !== null)).toMatchObject({
        state: 'running',
        attempt: 1,
        startedAtMs: T0 + 10,
        leaseUntilMs: T0 + 10 + LEASE_MS,
      });
    });

    test('the oldest is claimed first', async () => {
      const store = await fresh();
      const [late, early] = [job({ createdAtMs: T0 + 5 }), job({ createdAtMs: T0 - 1e12 })];
      for (const one of [late, early]) await store.jobs.add(one);
      expect((await claimAt(store, T0))?.id).toBe(early.id);
      expect((await claimAt(store, T0))?.id).toBe(late.id);
    });

    test('a running job is claimed again once its lease lapsed, and before it never', async () => {
      const store = await fresh();
      const one = job();
      await store.jobs.add(one);
      await claimAt(store, T0);
      expect(await claimAt(store, T0 + LEASE_MS - 1)).toBeNull();
      expect(await claimAt(store, T0 + LEASE_MS)).toMatchObject({
        id: one.id,
        attempt: 2,
        startedAtMs: T0,
        state: 'running',
      });
    });

    test('a worker whose claim was overtaken changes nothing', async () => {
      const store = await fresh();
      const { jobs } = store;
      const one = job();
      await jobs.add(one);
      await claimAt(store, T0);
      await claimAt(store, T0 + LEASE_MS);
      const old = { id: one.id, attempt: 1 };
      const before = await jobs.find(one);
      expect(await jobs.renew({ ...old, leaseUntilMs: T0 + 1e6, progress: 'p' })).toBeNull();
      expect(await jobs.putBack(old)).toBe(false);
      expect(await jobs.end({ ...old, state: 'succeeded', outcome: '{}', atMs: T0 })).toBe(false);
      expect(await jobs.find(one)).toEqual(before);
    });

    test('renewing keeps progress and result until they are replaced', async () => {
      const store = await fresh();
      const { jobs } = store;
      const one = job();
      await jobs.add(one);
      await claimAt(store, T0);
      const claim = { id: one.id, attempt: 1 };
      await jobs.renew({ ...claim, leaseUntilMs: T0 + 1, progress: '{"rows":1}' });
      await jobs.renew({ ...claim, leaseUntilMs: T0 + 2, resultId: 'r' });
      expect(await jobs.renew({ ...claim, leaseUntilMs: T0 + 3 })).toMatchObject({
        progress: '{"rows":1}',
        resultId: 'r',
        leaseUntilMs: T0 + 3,
      });
    });

    test('a job that was put back keeps its place in the line and its attempts', async () => {
      const store = await fresh();
      const { jobs } = store;
      const [one, next] = [job(), job({ createdAtMs: T0 + 1 })];
      for (const each of [one, next]) await jobs.add(each);
      await claimAt(store, T0);
      expect(await jobs.putBack({ id: one.id, attempt: 1 })).toBe(true);
      expect(await claimAt(store, T0)).toMatchObject({ id: one.id, attempt: 2 });
    });

    test.each(['succeeded', 'failed', 'cancelled', 'expired'] as const)(
      'a job ends once, and nothing leads out of %s',
      async (state) => {
        const store = await fresh();
        const { jobs } = store;
        const one = job();
        await jobs.add(one);
        await claimAt(store, T0);
        const claim = { id: one.id, attempt: 1 };
        expect(await jobs.end({ ...claim, state, outcome: '{"a":1}', atMs: T0 + 5 })).toBe(true);
        const ended = await jobs.find(one);
        expect(ended).toMatchObject({ state, outcome: '{"a":1}', endedAtMs: T0 + 5, leaseUntilMs: null });
        expect(await jobs.end({ ...claim, state: 'failed', outcome: '{}', atMs: T0 + 6 })).toBe(false);
        expect(await jobs.renew({ ...claim, leaseUntilMs: T0 })).toBeNull();
        expect(await jobs.putBack(claim)).toBe(false);
        expect(await jobs.cancel({ ...one, outcome: '{}', atMs: T0 })).toBe('ended');
        expect(await claimAt(store, T0 + 1e9)).toBeNull();
        expect(await jobs.find(one)).toEqual(ended);
      },
    );

    test('a queued job is cancelled at once and never runs', async () => {
      const store = await fresh();
      const { jobs } = store;
      const one = job();
      await jobs.add(one);
      expect(await jobs.cancel({ ...one, outcome: '{"c":1}', atMs: T0 + 1 })).toBe('cancelled');
      expect(await jobs.find(one)).toMatchObject({
        state: 'cancelled',
        endedAtMs: T0 + 1,
        outcome: '{"c":1}',
      });
      expect(await claimAt(store, T0 + 1e9)).toBeNull();
    });

    test('the end of a running job is asked for, and its worker sees it', async () => {
      const store = await fresh();
      const { jobs } = store;
      const one = job();
      await jobs.add(one);
      await claimAt(store, T0);
      expect(await jobs.cancel({ ...one, outcome: '{}', atMs: T0 + 1 })).toBe('asked');
      expect(await jobs.cancel({ ...one, outcome: '{}', atMs: T0 + 2 })).toBe('asked');
      expect(await jobs.renew({ id: one.id, attempt: 1, leaseUntilMs: T0 + 9 })).toMatchObject({
        state: 'running',
        cancelAtMs: T0 + 1,
      });
    });

    test('of another organization nothing is found, listed or cancelled', async () => {
      const store = await fresh();
      const { jobs } = store;
      const one = job();
      await jobs.add(one);
      const other = { id: one.id, organizationId: 'other' };
      expect(await jobs.find(other)).toBeNull();
      expect(await jobs.cancel({ ...other, outcome: '{}', atMs: T0 })).toBe('unknown');
      expect(await jobs.list({ organizationId: 'other', offset: 0, limit: 10 })).toEqual([]);
      expect((await jobs.find(one))?.state).toBe('queued');
    });

    test('jobs are listed newest first, page by page', async () => {
      const { jobs } = await fresh();
      const added = [0, 1, 2, 3].map((at) => job({ createdAtMs: T0 + at }));
      for (const one of added) await jobs.add(one);
      const page = async (offset: number) =>
        (await jobs.list({ organizationId: 'acme', offset, limit: 3 })).map(
          ({ createdAtMs }) => createdAtMs - T0,
        );
      expect([await page(0), await page(3)]).toEqual([[3, 2, 1], [0]]);
    });

    test('ended jobs are forgotten after a while, others never', async () => {
      const store = await fresh();
      const { jobs } = store;
      const [one, two] = [job(), job({ createdAtMs: T0 + 1 })];
      for (const each of [one, two]) await jobs.add({ ...each, keyId: 'key_a' });
      const ofKey = async (keyId: string) =>
        (await jobs.list({ organizationId: 'acme', keyId, offset: 0, limit: 9 })).map(({ id }) => id);
      expect([await ofKey('key_a'), await ofKey('key_b')]).toEqual([[two.id, one.id], []]);
      await claimAt(store, T0);
      await jobs.end({ id: one.id, attempt: 1, state: 'succeeded', outcome: '{}', atMs: T0 + 5 });
      expect(await jobs.forget({ endedUntilMs: T0 + 4, limit: 10 })).toBe(0);
      expect(await jobs.forget({ endedUntilMs: T0 + 5, limit: 10 })).toBe(1);
      expect(await jobs.find(one)).toBeNull();
      expect(await jobs.list({ organizationId: 'acme', offset: 0, limit: 9 })).toHaveLength(1);
      expect(await ofKey('key_a')).toEqual([two.id]);
    });
  });

  describe(`${name}: kept results`, () => {
    const result = (over: Partial<ResultRecord> = {}): ResultRecord => ({
      id: randomUUID(),
      queryKey: 'q',
      organizationId: 'acme',
      createdAtMs: T0,
      expiresAtMs: T0 + 1_000,
      bytes: 7,
      facts: '{"form":"Parquet"}',
      ...over,
    });

    test('a result is added once, and each payer of it may read it', async () => {
      const { results } = await fresh();
      const one = result();
      expect(await results.add(one)).toBe('added');
      expect(await results.add({ ...one, organizationId: 'second', bytes: 8 })).toBe('replayed');
      expect(await results.find({ id: one.id, nowMs: T0 })).toEqual(one);
      for (const organizationId of ['acme', 'second'])
        expect(await results.mayRead({ id: one.id, organizationId })).toBe(true);
      expect(await results.mayRead({ id: one.id, organizationId: 'third' })).toBe(false);
      const third = { id: one.id, organizationId: 'third' };
      const allowed = await Promise.all([1, 2, 3].map(() => results.allow(third)));
      expect(allowed.filter(Boolean)).toHaveLength(1);
      expect(await results.allow({ id: one.id, organizationId: 'acme' })).toBe(false);
      expect(await results.allow({ id: 'unknown', organizationId: 'acme' })).toBe(false);
      expect(await results.mayRead({ id: one.id, organizationId: 'third' })).toBe(true);
    });

    test('a result without an organization is readable to none', async () => {
      const { results } = await fresh();
      const one = result({ organizationId: null });
      await results.add(one);
      expect(await results.find({ id: one.id, nowMs: T0 })).toEqual(one);
      expect(await results.mayRead({ id: one.id, organizationId: 'acme' })).toBe(false);
    });

    test('a result expires, is listed for removal, and is gone after it', async () => {
      const { results } = await fresh();
      const one = result();
      await results.add(one);
      expect(await results.find({ id: one.id, nowMs: T0 + 999 })).toEqual(one);
      expect(await results.find({ id: one.id, nowMs: T0 + 1_000 })).toBeNull();
      expect(await results.expired({ nowMs: T0 + 999, limit: 9 })).toEqual([]);
      expect(await results.expired({ nowMs: T0 + 1_000, limit: 9 })).toEqual([one]);
      await results.remove(one.id);
      expect(await results.expired({ nowMs: T0 + 1_000, limit: 9 })).toEqual([]);
      expect(await results.mayRead({ id: one.id, organizationId: 'acme' })).toBe(false);
      expect(await results.paidBy({ organizationId: 'acme', limit: 9 })).toEqual([]);
    });

    test('the newest result of a query that is new enough is found', async () => {
      const { results } = await fresh();
      const [old, young] = [result(), result({ createdAtMs: T0 + 100 })];
      for (const one of [young, old, result({ queryKey: 'other', createdAtMs: T0 + 500 })])
        await results.add(one);
      const newest = (createdFromMs: number, nowMs = T0 + 200) =>
        results.newest({ queryKey: 'q', createdFromMs, nowMs });
      expect(await newest(T0)).toEqual(young);
      expect(await newest(T0 + 100)).toEqual(young);
      expect(await newest(T0 + 101)).toBeNull();
      expect(await newest(T0, T0 + 1_000)).toBeNull();
      await results.remove(young.id);
      expect(await newest(T0)).toEqual(old);
    });

    test('what an organization paid for is listed, the newest first', async () => {
      const { results } = await fresh();
      const [old, young] = [result(), result({ createdAtMs: T0 + 100 })];
      for (const one of [old, young, result({ organizationId: 'other' })]) await results.add(one);
      expect(await results.paidBy({ organizationId: 'acme', limit: 9 })).toEqual([young, old]);
      expect(await results.paidBy({ organizationId: 'acme', limit: 1 })).toEqual([young]);
    });
  });
  describe(`${name}: links to results`, () => {
    const share = (over: Partial<ShareRecord> = {}) => ({
      id: randomUUID(),
      resultId: 'result',
      organizationId: 'acme',
      facts: '{"title":"\u20ac"}',
      createdAtMs: T0,
      expiresAtMs: T0 + 1_000,
      max: 3,
      ...over,
    });
    const recordOf = ({ max: _max, ...record }: ReturnType<typeof share>): ShareRecord => ({
      ...record,
      revokedAtMs: null,
    });

    test('a link is found by its id, also after its end; an unknown one is not', async () => {
      const { shares } = await fresh();
      const one = share();
      expect(await shares.add(one)).toBe('added');
      expect(await shares.add({ ...one, facts: 'other' })).toBe('replayed');
      expect(await shares.find(one.id)).toEqual(recordOf(one));
      expect(await shares.find('unknown')).toBeNull();
    });

    test('those of an organization to a result are listed, newest first, and there are so many of them at most', async () => {
      const { shares } = await fresh();
      const [old, young] = [share(), share({ createdAtMs: T0 + 100 })];
      for (const one of [old, young, share({ organizationId: 'other' }), share({ resultId: 'second' })])
        expect(await shares.add(one)).toBe('added');
      const of = { organizationId: 'acme', resultId: 'result' };
      expect(await shares.list(of)).toEqual([recordOf(young), recordOf(old)]);
      expect(await shares.add(share())).toBe('added');
      expect(await shares.add(share())).toBe('too_many');
      expect(await shares.list(of)).toHaveLength(3);
    });

    test('its organization alone revokes a link, and the first time stays', async () => {
      const { shares } = await fresh();
      const one = share();
      await shares.add(one);
      expect(await shares.revoke({ id: one.id, organizationId: 'other', atMs: T0 + 5 })).toBe(false);
      expect(await shares.revoke({ id: 'unknown', organizationId: 'acme', atMs: T0 + 5 })).toBe(false);
      expect((await shares.find(one.id))?.revokedAtMs).toBeNull();
      expect(await shares.revoke({ id: one.id, organizationId: 'acme', atMs: T0 + 5 })).toBe(true);
      expect(await shares.revoke({ id: one.id, organizationId: 'acme', atMs: T0 + 9 })).toBe(true);
      expect((await shares.find(one.id))?.revokedAtMs).toBe(T0 + 5);
    });
  });
}
