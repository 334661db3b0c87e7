import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import type { KeyDigest } from '../../../core/domain/caller.ts';
import { dayOf, dayStartMs, type QueryRun, type UsageRow } from '../../../core/domain/usage.ts';
import type { KeyLimits, KeyRecord } from '../../../src/accounts/account-store.ts';
import type { ControlStore } from '../../../src/accounts/store.ts';
import { usageOwner } from '../../../src/accounts/usage-store.ts';
import { expectBooks, readLedger } from '../../kit/unit-books.ts';
import type { OpenedStore } from './control-store.ts';

/** The contract of usage, of runs of SQL and of limited keys, over whatever `open` gives. */

type Open = () => Promise<OpenedStore>;

const T0 = 1_750_000_000_123;
const TODAY = dayOf(T0);
const TOMORROW_MS = dayStartMs(TODAY + 1);
const ORGANIZATION = { id: 'org', displayName: 'Org', plan: 'pro', createdAtMs: T0 } as const;
const OWNER = usageOwner({ organizationId: 'org' });
/** Ids that separators, escapes and number columns could trip over. */
const ODD_IDS = ['a/b', 'a%2Fb', 'with space', '{b}:c', 'ünï/😀', '/', '%', '-1'];

export function usageStoreContract(name: string, open: Open): void {
  const opened: OpenedStore[] = [];
  const funded = async (units = 1_000): Promise<OpenedStore> => {
    const one = await open();
    opened.push(one);
    await one.store.accounts.createOrganization(ORGANIZATION);
    if (units > 0)
      await one.store.units.grant({ organizationId: 'org', grantId: 'g', units, note: '', atMs: T0 });
    return one;
  };
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
  });
  describe(name, () => {
    usageOfCaptures(funded);
    counts(funded);
    budgets(funded);
    keyChanges(funded);
    runs(funded);
  });
}

type Funded = (units?: number) => Promise<OpenedStore>;

function keyOf(id: string, limits?: Partial<KeyLimits>, changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id,
    digest: createHash('sha256').update(id).digest('hex') as KeyDigest,
    kind: 'live',
    organizationId: 'org',
    label: `Label of ${id}`,
    createdAtMs: T0,
    expiresAtMs: null,
    revokedAtMs: null,
    ...(limits === undefined
      ? {}
      : { limits: { managesKeys: false, unitsPerDay: null, operations: null, madeBy: null, ...limits } }),
    ...changes,
  };
}

interface HoldFacts {
  readonly units: number;
  readonly keyId?: string;
  readonly operation?: string;
  readonly atMs?: number;
}

function hold(store: ControlStore, holdId: string, facts: HoldFacts) {
  const { units, keyId = null, operation = 'runSql', atMs = T0 } = facts;
  return store.units.hold({
    organizationId: 'org',
    holdId,
    units,
    operation,
    heldAtMs: atMs,
    overdueAtMs: atMs + 60_000,
    keyId,
  });
}

function capture(store: ControlStore, holdId: string, units: number, atMs = T0) {
  return store.units.capture({ organizationId: 'org', holdId, units, atMs });
}

function release(store: ControlStore, holdId: string, atMs = T0) {
  return store.units.release({ organizationId: 'org', holdId, kind: 'release', note: '', atMs });
}

function allUsage(store: ControlStore, owner = OWNER): Promise<readonly UsageRow[]> {
  return store.usage.usage({ owner, dayFrom: TODAY - 40, dayTo: TODAY + 40 });
}

/** What the ledger says was captured, by day and operation. */
async function captured(store: ControlStore): Promise<Record<string, readonly [number, number]>> {
  const sums: Record<string, readonly [number, number]> = {};
  for (const { kind, units, note, atMs } of await readLedger(store, 'org')) {
    if (kind !== 'capture') continue;
    const name = `${dayOf(atMs)} ${note}`;
    const [calls, sum] = sums[name] ?? [0, 0];
    sums[name] = [calls + 1, sum + units];
  }
  return sums;
}

function summed(rows: readonly UsageRow[]): Record<string, readonly [number, number]> {
  const sums: Record<string, readonly [number, number]> = {};
  for (const { day, operation, lane, calls, units } of rows) {
    expect(lane).toBe('units');
    const name = `${day} ${operation}`;
    const [before, sum] = sums[name] ?? [0, 0];
    sums[name] = [before + calls, sum + units];
  }
  return sums;
}

function usageOfCaptures(funded: Funded): void {
  test('a capture is usage of its day, key and operation, field for field; a hold or a release is none', async () => {
    const { store } = await funded();
    await hold(store, 'a', { units: 5, keyId: 'key_1' });
    await hold(store, 'b', { units: 5, keyId: 'key_1', operation: 'getGraph' });
    await hold(store, 'c', { units: 5 });
    await hold(store, 'd', { units: 5, keyId: 'key_1' });
    expect(await allUsage(store)).toEqual([]);
    await capture(store, 'a', 3);
    await capture(store, 'b', 0);
    await capture(store, 'c', 5, TOMORROW_MS);
    await release(store, 'd');
    const row = { calls: 1, lane: 'units', usdMicros: 0 };
    expect(await allUsage(store)).toEqual([
      { ...row, day: TODAY, keyId: 'key_1', operation: 'getGraph', units: 0 },
      { ...row, day: TODAY, keyId: 'key_1', operation: 'runSql', units: 3 },
      { ...row, day: TODAY + 1, keyId: '', operation: 'runSql', units: 5 },
    ]);
    expect(await store.usage.usage({ owner: OWNER, dayFrom: TODAY + 1, dayTo: TODAY + 1 })).toHaveLength(1);
    expect(await allUsage(store, usageOwner({ organizationId: 'other' }))).toEqual([]);
  });

  test('a capture that is repeated, late or refused counts nothing, and a lost hold counts with its key', async () => {
    const { store } = await funded();
    await hold(store, 'a', { units: 5, keyId: 'k' });
    await capture(store, 'a', 2);
    await capture(store, 'a', 2);
    await hold(store, 'b', { units: 5, keyId: 'k' });
    await release(store, 'b');
    await capture(store, 'b', 2);
    const held = { units: 7, operation: 'runSql', heldAtMs: T0, overdueAtMs: T0 + 1, keyId: 'k/2' };
    await store.units.capture({ organizationId: 'org', holdId: 'lost', units: 4, atMs: T0, held });
    expect((await allUsage(store)).map(({ keyId, calls, units }) => [keyId, calls, units])).toEqual([
      ['k', 1, 2],
      ['k/2', 1, 4],
    ]);
  });

  test('odd ids of keys and operations come back as they were given', async () => {
    const { store } = await funded();
    for (const id of ODD_IDS) {
      await hold(store, id, { units: 1, keyId: id, operation: `op ${id}` });
      expect((await store.units.overdueHolds({ nowMs: T0 + 60_000, limit: 1 }))[0]).toMatchObject({
        holdId: id,
        heldAtMs: T0,
        operation: `op ${id}`,
      });
      expect(await capture(store, id, 1)).toMatchObject({ outcome: 'captured' });
    }
    const found = (await allUsage(store)).map(({ keyId, operation }) => [keyId, operation]);
    expect(new Set(found)).toEqual(new Set(ODD_IDS.map((id) => [id, `op ${id}`])));
  });

  test('of any calls in any order the usage is the sum of the captures in the ledger', async () => {
    const { store } = await funded(10_000);
    let made = 0;
    const call = fc.record({
      units: fc.integer({ min: 1, max: 9 }),
      used: fc.integer({ min: 0, max: 9 }),
      key: fc.constantFrom('k1', 'k2', null),
      operation: fc.constantFrom('runSql', 'getGraph'),
      day: fc.integer({ min: 0, max: 40 }),
      end: fc.constantFrom('capture', 'release', 'twice', 'open'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), async (calls) => {
        await Promise.all(
          calls.map(async ({ units, used, key, operation, day, end }) => {
            const id = `h${made++}`;
            const atMs = T0 + day * 86_400_000;
            await hold(store, id, { units, operation, atMs, ...(key === null ? {} : { keyId: key }) });
            if (end === 'release') await release(store, id, atMs);
            const taken = Math.min(units, used);
            if (end === 'capture' || end === 'twice') await capture(store, id, taken, atMs);
            if (end === 'twice') await capture(store, id, taken, atMs);
          }),
        );
        expect(summed(await allUsage(store))).toEqual(await captured(store));
      }),
      { numRuns: 25 },
    );
    const { spent } = await expectBooks(store, 'org');
    expect((await allUsage(store)).reduce((sum, { units }) => sum + units, 0)).toBe(spent);
  });
}

function counts(funded: Funded): void {
  test('a batch of counts is added to the stored ones, by owner, and dollars keep every digit', async () => {
    const { store } = await funded(0);
    const owner = usageOwner({ trialKeyId: 'key_t' });
    const row = { day: TODAY, keyId: 'key_t', operation: 'listFlows', calls: 2, units: 0 };
    const paid = { ...row, lane: 'x402', usdMicros: 4_503_599_627_370_495, owner } as const;
    await store.usage.count([]);
    await store.usage.count([
      paid,
      { ...row, lane: 'trial', usdMicros: 0, owner },
      { ...row, lane: 'free', usdMicros: 0, keyId: '', owner: OWNER },
    ]);
    await store.usage.count([{ ...paid, calls: 1, usdMicros: 1 }]);
    expect(await allUsage(store, owner)).toEqual([
      { ...row, lane: 'trial', usdMicros: 0 },
      { ...row, lane: 'x402', calls: 3, usdMicros: 4_503_599_627_370_496 },
    ]);
    expect(await allUsage(store)).toEqual([{ ...row, keyId: '', lane: 'free', usdMicros: 0 }]);
  });
}

function budgets(funded: Funded): void {
  const limited = async (unitsPerDay: number, units = 1_000): Promise<OpenedStore> => {
    const opened = await funded(units);
    await opened.store.accounts.addKey(keyOf('k', { unitsPerDay }));
    return opened;
  };
  const used = async (store: ControlStore): Promise<number | undefined> =>
    (await store.accounts.findKey(keyOf('k').digest))?.key.used?.units;

  test('a key begins calls up to its budget, to the unit, and is refused beyond it without a trace', async () => {
    const { store } = await limited(10);
    expect(await hold(store, 'a', { units: 7, keyId: 'k' })).toMatchObject({ outcome: 'held' });
    const refused = await hold(store, 'b', { units: 4, keyId: 'k' });
    expect(refused).toMatchObject({ outcome: 'over_budget', budget: { unitsPerDay: 10, used: 7 } });
    expect(refused.balance).toMatchObject({ balance: 993, held: 7 });
    expect(await hold(store, 'b', { units: 3, keyId: 'k' })).toMatchObject({ outcome: 'held' });
    expect(await hold(store, 'c', { units: 1, keyId: 'k' })).toMatchObject({ outcome: 'over_budget' });
    expect(await hold(store, 'c', { units: 1, keyId: 'other' })).toMatchObject({ outcome: 'held' });
    expect(await hold(store, 'd', { units: 1 })).toMatchObject({ outcome: 'held' });
    expect(await hold(store, 'a', { units: 7, keyId: 'k' })).toMatchObject({ outcome: 'replayed' });
    await expectBooks(store, 'org');
  });

  test('unused units of a call are free again, once, and used ones are not', async () => {
    const { store } = await limited(10);
    await hold(store, 'a', { units: 6, keyId: 'k' });
    await hold(store, 'b', { units: 4, keyId: 'k' });
    await capture(store, 'a', 2);
    await capture(store, 'a', 2);
    expect(await used(store)).toBe(6);
    await release(store, 'b');
    await release(store, 'b');
    expect(await used(store)).toBe(2);
    expect(await hold(store, 'c', { units: 8, keyId: 'k' })).toMatchObject({ outcome: 'held' });
  });

  test('a budget begins anew with the UTC day, and a hold of the day before gives nothing back to it', async () => {
    const { store } = await limited(10);
    await hold(store, 'a', { units: 10, keyId: 'k', atMs: TOMORROW_MS - 1 });
    expect(await hold(store, 'b', { units: 1, keyId: 'k', atMs: TOMORROW_MS - 1 })).toMatchObject({
      outcome: 'over_budget',
    });
    expect(await hold(store, 'b', { units: 9, keyId: 'k', atMs: TOMORROW_MS })).toMatchObject({
      outcome: 'held',
    });
    await release(store, 'a', TOMORROW_MS);
    expect(await used(store)).toBe(9);
    expect(await hold(store, 'late', { units: 2, keyId: 'k', atMs: TOMORROW_MS - 1 })).toMatchObject({
      outcome: 'over_budget',
    });
  });

  test('a budget that is set in the middle of a day counts what was used before; one that is taken away lets all through', async () => {
    const { store } = await funded();
    await store.accounts.addKey(keyOf('k', {}));
    await hold(store, 'a', { units: 8, keyId: 'k' });
    const change = { keyId: 'k', organizationId: 'org', by: null, atMs: T0 };
    await store.accounts.changeKey({ ...change, set: { unitsPerDay: 10 } });
    expect(await hold(store, 'b', { units: 3, keyId: 'k' })).toMatchObject({ outcome: 'over_budget' });
    await store.accounts.changeKey({ ...change, set: { unitsPerDay: null } });
    expect(await hold(store, 'b', { units: 3, keyId: 'k' })).toMatchObject({ outcome: 'held' });
  });

  test('a lost hold is captured whatever the budget: its call has run', async () => {
    const { store } = await limited(10);
    await hold(store, 'a', { units: 10, keyId: 'k' });
    const held = { units: 5, operation: 'runSql', heldAtMs: T0, overdueAtMs: T0 + 1, keyId: 'k' };
    expect(
      await store.units.capture({ organizationId: 'org', holdId: 'lost', units: 4, atMs: T0, held }),
    ).toMatchObject({ outcome: 'captured', charged: 4 });
    expect(await used(store)).toBe(14);
  });

  test('calls at once on two handles never pass the budget, and all of it can be used', async () => {
    const opened = await limited(50, 1_000_000);
    const other = await opened.reopen();
    const call = fc.record({ units: fc.integer({ min: 1, max: 9 }), used: fc.integer({ min: 0, max: 9 }) });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 20, maxLength: 60 }), async (calls) => {
        run += 1;
        const atMs = T0 + run * 86_400_000;
        let most = 0;
        let charged = 0;
        await Promise.all(
          calls.map(async ({ units, used: wanted }, index) => {
            const store = index % 2 === 0 ? opened.store : other;
            const id = `r${run}:${index}`;
            const { outcome } = await hold(store, id, { units, keyId: 'k', atMs });
            if (outcome !== 'held') return;
            const key = await store.accounts.findKey(keyOf('k').digest);
            most = Math.max(most, key?.key.used?.units ?? 0);
            const answer = await capture(store, id, Math.min(units, wanted), atMs);
            charged += answer.charged;
          }),
        );
        expect(most).toBeLessThanOrEqual(50);
        expect(await used(opened.store)).toBe(charged);
        expect(charged).toBeLessThanOrEqual(50);
        const rest = 50 - charged;
        if (rest > 0)
          expect(await hold(other, `r${run}:rest`, { units: rest, keyId: 'k', atMs })).toMatchObject({
            outcome: 'held',
          });
        expect(await hold(other, `r${run}:more`, { units: 1, keyId: 'k', atMs })).toMatchObject({
          outcome: 'over_budget',
        });
        if (rest > 0) await release(other, `r${run}:rest`, atMs);
      }),
      { numRuns: 10 },
    );
  });
}

function keyChanges(funded: Funded): void {
  test('a limited key is found as it was made, and a change sets its fields alone', async () => {
    const { store } = await funded(0);
    const key = keyOf('k', { unitsPerDay: 5, operations: ['runSql', 'getGraph'], madeBy: 'key_root' });
    expect(await store.accounts.addKey(key)).toBe('added');
    expect((await store.accounts.findKey(key.digest))?.key).toEqual(key);
    const change = { keyId: 'k', organizationId: 'org', by: 'key_root', atMs: T0 + 1 };
    const set = { label: '', unitsPerDay: null, expiresAtMs: T0 + 9 };
    const after = { ...key, label: '', expiresAtMs: T0 + 9, limits: { ...key.limits, unitsPerDay: null } };
    expect(await store.accounts.changeKey({ ...change, set })).toEqual({ outcome: 'changed', key: after });
    expect((await store.accounts.findKey(key.digest))?.key).toEqual(after);
    expect(await store.accounts.listKeys({ organizationId: 'org', after: null, limit: 9 })).toEqual([after]);
    for (const rights of [['changes'], [], null] as const) {
      await store.accounts.changeKey({ ...change, set: { rights } });
      const found = (await store.accounts.findKey(key.digest))?.key;
      expect(found?.limits?.rights ?? null).toEqual(rights);
    }
    await store.accounts.changeKey({ ...change, set: { operations: null, expiresAtMs: null } });
    expect((await store.accounts.findKey(key.digest))?.key).toMatchObject({
      expiresAtMs: null,
      limits: { operations: null, madeBy: 'key_root' },
    });
  });

  test('no key manages keys and is limited, and a revoked, foreign or unknown one is not changed', async () => {
    const { store } = await funded(0);
    const root = keyOf('root');
    await store.accounts.addKey(root);
    await store.accounts.addKey(keyOf('gone', {}, { revokedAtMs: T0 }));
    const change = { organizationId: 'org', by: null, atMs: T0 };
    const limited = { unitsPerDay: 5 };
    expect(await store.accounts.changeKey({ ...change, keyId: 'root', set: limited })).toEqual({
      outcome: 'not_both',
      key: root,
    });
    expect(await store.accounts.changeKey({ ...change, keyId: 'gone', set: limited })).toMatchObject({
      outcome: 'revoked',
      key: { id: 'gone', limits: { unitsPerDay: null } },
    });
    const foreign = { ...change, keyId: 'root', organizationId: 'other', set: limited };
    expect(await store.accounts.changeKey(foreign)).toEqual({ outcome: 'unknown', key: null });
    expect(await store.accounts.changeKey({ ...change, keyId: 'no', set: limited })).toMatchObject({
      outcome: 'unknown',
    });
    const both = { ...limited, managesKeys: false };
    expect(await store.accounts.changeKey({ ...change, keyId: 'root', set: both })).toMatchObject({
      outcome: 'changed',
      key: { limits: { managesKeys: false, unitsPerDay: 5, operations: null, madeBy: null } },
    });
    expect(
      await store.accounts.changeKey({ ...change, keyId: 'root', set: { managesKeys: true } }),
    ).toMatchObject({ outcome: 'not_both' });
  });

  test('a key is revoked for its own organization only, and everything done to keys is on record, newest first', async () => {
    const { store } = await funded(0);
    const key = keyOf('k', { unitsPerDay: 5, madeBy: 'root' });
    await store.accounts.addKey(key);
    const set = { unitsPerDay: 6 };
    await store.accounts.changeKey({ keyId: 'k', organizationId: 'org', set, by: 'root', atMs: T0 + 1 });
    const revoke = { keyId: 'k', atMs: T0 + 2, by: 'root' };
    expect(await store.accounts.revokeKey({ ...revoke, organizationId: 'other' })).toBe('unknown');
    expect(await store.accounts.revokeKey({ ...revoke, organizationId: 'org' })).toBe('revoked');
    expect(await store.accounts.revokeKey({ keyId: 'k', atMs: T0 + 3 })).toBe('was_revoked');
    expect(await store.accounts.revokeKey({ keyId: 'k', atMs: T0 + 1 })).toBe('revoked');
    const made = {
      label: key.label,
      expiresAtMs: null,
      managesKeys: false,
      unitsPerDay: 5,
      operations: null,
    };
    const events = [
      { atMs: T0 + 1, action: 'revoked', keyId: 'k', by: null, change: {} },
      { atMs: T0 + 2, action: 'revoked', keyId: 'k', by: 'root', change: {} },
      { atMs: T0 + 1, action: 'changed', keyId: 'k', by: 'root', change: { unitsPerDay: 6 } },
      { atMs: T0, action: 'made', keyId: 'k', by: 'root', change: made },
    ];
    expect(await store.accounts.keyEvents({ organizationId: 'org', limit: 9 })).toEqual(events);
    expect(await store.accounts.keyEvents({ organizationId: 'org', limit: 1 })).toEqual(events.slice(0, 1));
    expect(await store.accounts.keyEvents({ organizationId: 'other', limit: 9 })).toEqual([]);
  });
}

function runOf(id: string, changes: Partial<QueryRun> = {}): QueryRun {
  return {
    id,
    organizationId: 'org',
    keyId: 'k',
    startedAtMs: T0,
    durationMs: 12,
    surface: 'http',
    tier: 'standard',
    budgetQu: 3,
    chargedQu: 1,
    rows: 7,
    status: 'succeeded',
    text: `SELECT '${id} ünï\n😀'`,
    textCut: false,
    ...changes,
  };
}

function runs(funded: Funded): void {
  const list = (store: ControlStore, keyId: string | null = null, organizationId = 'org') =>
    store.usage.queries({ organizationId, keyId, before: null, limit: 100 });
  const ids = async (store: ControlStore, keyId: string | null = null) =>
    (await list(store, keyId)).map(({ id }) => id);

  test('runs are kept once, field for field, newest first, of one organization and of one key', async () => {
    const { store } = await funded(0);
    const failed = runOf('b', { rows: null, status: 'query_failed', startedAtMs: T0 + 1, keyId: 'a/b' });
    const foreign = runOf('f', { organizationId: 'other' });
    await store.usage.addQueries([runOf('a'), failed, foreign, runOf('c')]);
    await store.usage.addQueries([runOf('a', { text: 'another' })].slice(1));
    await store.usage.addQueries([runOf('a')]);
    expect(await list(store)).toEqual([failed, runOf('c'), runOf('a')]);
    expect(await ids(store, 'k')).toEqual(['c', 'a']);
    expect(await ids(store, 'a/b')).toEqual(['b']);
    expect(await list(store, null, 'other')).toEqual([foreign]);
    expect(await list(store, 'f', 'other')).toEqual([]);
  });

  test('runs are read in pages without gap or repetition, also of one time and while some are forgotten', async () => {
    const { store } = await funded(0);
    const all = Array.from({ length: 30 }, (_, i) =>
      runOf(`q${String(i).padStart(2, '0')}`, { startedAtMs: T0 + Math.floor(i / 7) }),
    );
    await store.usage.addQueries(all);
    const found: string[] = [];
    let before: QueryRun | null = null;
    for (;;) {
      const page: readonly QueryRun[] = await store.usage.queries({
        organizationId: 'org',
        keyId: 'k',
        before,
        limit: 4,
      });
      found.push(...page.map(({ id }) => id));
      before = page.at(-1) ?? null;
      if (before === null) break;
      // Where the reader stands is forgotten under it.
      await store.usage.forgetQueries({ organizationId: 'org', keyId: null, id: before.id, atMs: T0 });
    }
    expect(found).toEqual(all.map(({ id }) => id).reverse());
  });

  test('one run is forgotten by its id, once, and never that of another key or organization', async () => {
    const { store } = await funded(0);
    await store.usage.addQueries([runOf('a'), runOf('b')]);
    const forget = { organizationId: 'org', keyId: null, id: 'a', atMs: T0 };
    expect(await store.usage.forgetQueries({ ...forget, organizationId: 'other' })).toBe(0);
    expect(await store.usage.forgetQueries({ ...forget, keyId: 'k2' })).toBe(0);
    expect(await store.usage.forgetQueries({ ...forget, keyId: 'k' })).toBe(1);
    expect(await store.usage.forgetQueries(forget)).toBe(0);
    expect(await ids(store)).toEqual(['b']);
  });

  test('all runs are forgotten up to a time, and one that another process still had in memory does not come back', async () => {
    const { store } = await funded(0);
    await store.usage.addQueries([
      runOf('a'),
      runOf('other', { keyId: 'k2' }),
      runOf('later', { startedAtMs: T0 + 10 }),
    ]);
    const forget = { organizationId: 'org', keyId: 'k', id: null, atMs: T0 + 5 };
    expect(await store.usage.forgetQueries(forget)).toBe(1);
    expect(await ids(store)).toEqual(['later', 'other']);
    await store.usage.addQueries([runOf('slow', { startedAtMs: T0 + 5 }), runOf('slow2', { keyId: 'k2' })]);
    expect(await ids(store)).toEqual(['later', 'slow2', 'other']);
    expect(await store.usage.forgetQueries({ ...forget, keyId: null, atMs: T0 + 20 })).toBe(3);
    await store.usage.addQueries([runOf('slow3', { keyId: 'k2', startedAtMs: T0 + 20 })]);
    expect(await list(store)).toEqual([]);
    await store.usage.addQueries([runOf('new', { startedAtMs: T0 + 21 })]);
    expect(await ids(store)).toEqual(['new']);
    expect(await ids(store, 'k')).toEqual(['new']);
  });
}
