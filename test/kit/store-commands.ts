import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { KeyDigest } from '../../core/domain/caller.ts';
import { PLAN_IDS, UNITS_MAX } from '../../core/domain/plan.ts';
import type { KeyRecord } from '../../src/accounts/account-store.ts';
import type { AuthorizationId } from '../../src/accounts/payment-store.ts';
import { type ControlStore, StoreUnavailable } from '../../src/accounts/store.ts';
import type { AdapterTraits, OpenedStore } from '../src/accounts/control-store.ts';
import { lengthOf } from './lengths.ts';
import type { SqliteBed } from './sqlite-control.ts';
import { readLedger, troubleOf } from './unit-books.ts';

/**
 * Random calls on two handles of a store, each held against one handle of SQLite, which the contract suite has judged: same answers, same books, same ledger. Few ids and
 * few times, so that calls meet: replays, races for the same hold, leases that lapse.
 */

const RUNS = lengthOf('storeProperties');
const COMMANDS_MAX = 100;
/** Shrinking ends here, so that the failure with its seed is printed before the test runner loses patience. */
export const PROPERTY_BUDGET_MS = 300_000;

const T0 = 1_750_000_000_000;
const ORGANIZATIONS = ['org', 'a:{b} ü', 'late'] as const;

interface Reality {
  readonly opened: OpenedStore;
  readonly handles: [ControlStore, ControlStore];
  /** What the windows of a handle are named: they are forgotten when it is opened again, unless all handles share them. */
  readonly windows: [string, string];
}

/** One call, ready to be made on any store. */
interface Ask {
  readonly text: string;
  /** Several calls in a row: other calls between them would change what they find. */
  readonly alone?: boolean;
  ask(store: ControlStore, windows: string): Promise<unknown>;
}

class CallCommand implements fc.AsyncCommand<ControlStore, Reality, false> {
  private readonly call: Ask;
  private readonly handle: 0 | 1;
  private readonly times: number;

  constructor(call: Ask, handle: 0 | 1, times: number) {
    this.call = call;
    this.handle = handle;
    this.times = call.alone === true ? 1 : times;
  }

  check(): boolean {
    return true;
  }

  /** The same call, made several times at once, answers in any order what it answers one after the other. */
  async run(model: ControlStore, real: Reality): Promise<void> {
    const windows = real.windows[this.handle];
    const expected: string[] = [];
    const answers: Promise<string>[] = [];
    for (let turn = 0; turn < this.times; turn++) {
      expected.push(await answerOf(this.call, model, windows));
      // Rates may be counted by each handle for itself.
      const handle = this.call.text.startsWith('rates') ? this.handle : (this.handle + turn) % 2;
      answers.push(answerOf(this.call, real.handles[handle === 0 ? 0 : 1], windows));
    }
    expect((await Promise.all(answers)).sort()).toEqual(expected.sort());
    await expectSameBooks(model, real.handles[this.handle]);
  }

  toString(): string {
    return `${this.times}× ${this.call.text} on ${this.handle}`;
  }
}

class ReopenCommand implements fc.AsyncCommand<ControlStore, Reality, false> {
  private readonly handle: 0 | 1;

  constructor(handle: 0 | 1) {
    this.handle = handle;
  }

  check(): boolean {
    return true;
  }

  async run(model: ControlStore, real: Reality): Promise<void> {
    await real.handles[this.handle].close();
    real.handles[this.handle] = await real.opened.reopen();
    if (real.windows[0] !== real.windows[1]) real.windows[this.handle] += '+';
    await expectSameBooks(model, real.handles[this.handle]);
  }

  toString(): string {
    return `reopen ${this.handle}`;
  }
}

async function expectSameBooks(model: ControlStore, real: ControlStore): Promise<void> {
  await Promise.all(
    ORGANIZATIONS.map(async (id) => {
      const [rows, balance] = await Promise.all([readLedger(real, id), real.units.balance(id)]);
      expect(troubleOf(rows, balance), id).toBeNull();
      expect(JSON.stringify(rows.map(sorted))).toBe(
        JSON.stringify((await readLedger(model, id)).map(sorted)),
      );
      expect(balance).toEqual(await model.units.balance(id));
    }),
  );
}

/** An answer or refusal as text that is the same for equal ones. */
async function answerOf(call: Ask, store: ControlStore, windows: string): Promise<string> {
  try {
    return JSON.stringify(sorted(await call.ask(store, windows))) ?? 'nothing';
  } catch (error) {
    if (error instanceof RangeError) return 'RangeError';
    if (error instanceof StoreUnavailable) return `StoreUnavailable: ${String(error.cause)}`;
    throw error;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const record = value as Readonly<Record<string, unknown>>;
  // A lease says nothing in these states.
  const isOver = record['state'] === 'settled' || record['state'] === 'served';
  const fields = Object.entries(record)
    .filter(([name]) => !(isOver && name === 'leaseUntilMs'))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, of]) => [name, sorted(of)]));
}

function hex(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const organizationIds = fc.constantFrom(...ORGANIZATIONS, 'no-such');
/** One organization has most of the traffic, so that its holds are captured and given back. */
const payers = fc.constantFrom('org', 'org', 'org', 'org', ...ORGANIZATIONS, 'no-such');
const atMs = fc.nat(6).map((second) => T0 + second * 1_000);
const holdIds = fc.nat(15).map((number) => `h:${number}`);
const fewUnits = fc.integer({ min: 1, max: 9 });
const oddUnits = fc.constantFrom(0, -1, 0.5, UNITS_MAX, UNITS_MAX + 1);
const units = fc.oneof({ arbitrary: fewUnits, weight: 12 }, { arbitrary: oddUnits, weight: 1 });
const paymentIds: fc.Arbitrary<AuthorizationId> = fc
  .nat(2)
  .map((number) => ({ chain: 'eip155:8453', asset: '0xaa', payer: '0xbb', nonce: `0x${number}` }));
const keyIds = fc.nat(4).map((number) => `key_${number}`);
const digests = fc.nat(4).map((number) => hex(`key ${number}`) as KeyDigest);

const keyRecords = (organizations: fc.Arbitrary<string | null>): fc.Arbitrary<KeyRecord> =>
  fc.record({ id: keyIds, digest: digests, organizationId: organizations, createdAtMs: atMs }).map((key) => ({
    ...key,
    kind: key.organizationId === null ? 'trial' : 'live',
    label: `label ${key.createdAtMs}`,
    expiresAtMs: key.organizationId === null ? T0 + 86_400_000 : null,
    revokedAtMs: null,
  }));

/** Arguments of any kind, and the questions asked with them. */
function asking<T>(
  name: string,
  arguments_: fc.Arbitrary<T>,
  ask: (store: ControlStore, argument: T, windows: string) => Promise<unknown>,
): fc.Arbitrary<Ask> {
  return arguments_.map((argument) => ({
    text: `${name} ${JSON.stringify(argument)}`,
    ask: (store, windows) => ask(store, argument, windows),
  }));
}

const grants = asking(
  'grant',
  fc.record({
    organizationId: payers,
    grantId: fc.nat(9).map((number) => `g{${number}}`),
    units: fc.oneof(
      { arbitrary: units, weight: 4 },
      { arbitrary: fc.integer({ min: 10, max: 40 }), weight: 6 },
    ),
    note: fc.constantFrom('', 'monthly', 'naïve “note”'),
    atMs,
  }),
  (store, grant) => store.units.grant(grant),
);

const holds = asking(
  'hold',
  fc
    .record({ organizationId: payers, holdId: holdIds, units, heldAtMs: atMs, after: fc.nat(4) })
    .map(({ after, ...hold }) => ({
      ...hold,
      operation: `sql ${after}`,
      overdueAtMs: hold.heldAtMs + after * 1_000,
    })),
  (store, hold) => store.units.hold(hold),
);

const captures = asking(
  'capture',
  fc.record({
    organizationId: payers,
    holdId: holdIds,
    units: fc.oneof({ arbitrary: fc.nat(5), weight: 12 }, { arbitrary: oddUnits, weight: 1 }),
    atMs,
    // As it would be made again, had the store lost it.
    held: fc.option(
      fc.record({ units: fewUnits, operation: fc.constant('again'), heldAtMs: atMs, overdueAtMs: atMs }),
      { nil: undefined },
    ),
  }),
  (store, { held, ...capture }) => store.units.capture(held === undefined ? capture : { ...capture, held }),
);

const releases = asking(
  'release',
  fc.record({
    organizationId: payers,
    holdId: holdIds,
    kind: fc.constantFrom('release', 'overdue'),
    note: fc.constantFrom('it failed', ''),
    atMs,
  }),
  (store, release) => store.units.release(release),
);

/** What the sweeper does: finds overdue holds and gives them back. Which of two with one time comes first is open. */
const sweeps: fc.Arbitrary<Ask> = asking('sweep', atMs, async ({ units: store }, nowMs) => {
  const found = await store.overdueHolds({ nowMs, limit: 1_000 });
  const first = await store.overdueHolds({ nowMs, limit: 2 });
  const times = found.map(({ overdueAtMs }) => overdueAtMs);
  const holdsFound = found.map((hold) => JSON.stringify(sorted(hold))).sort();
  const outcomes: string[] = [];
  for (const { organizationId, holdId } of [...found].sort((a, b) => (name(a) < name(b) ? -1 : 1))) {
    const back = { organizationId, holdId, kind: 'overdue', note: 'swept', atMs: nowMs } as const;
    outcomes.push((await store.release(back)).outcome);
  }
  return { times, first: first.map(({ overdueAtMs }) => overdueAtMs), holdsFound, outcomes };
}).map((ask) => ({ ...ask, alone: true }));

function name(hold: { readonly organizationId: string; readonly holdId: string }): string {
  return JSON.stringify([hold.organizationId, hold.holdId]);
}

const accounts = [
  asking(
    'createOrganization',
    fc.record({ id: organizationIds.filter((id) => id !== 'no-such'), plan: fc.constantFrom(...PLAN_IDS) }),
    (store, { id, plan }) =>
      store.accounts.createOrganization({ id, displayName: `of ${id}`, plan, createdAtMs: T0 }),
  ),
  asking(
    'changePlan',
    fc.record({ organizationId: organizationIds, plan: fc.constantFrom(...PLAN_IDS) }),
    (store, change) => store.accounts.changePlan(change),
  ),
  asking('addKey', keyRecords(fc.option(organizationIds)), (store, key) => store.accounts.addKey(key)),
  asking('revokeKey', fc.record({ keyId: keyIds, atMs }), (store, key) => store.accounts.revokeKey(key)),
  asking('findKey', digests, (store, digest) => store.accounts.findKey(digest)),
  asking(
    'list',
    fc.record({
      organizationId: fc.option(organizationIds),
      after: fc.option(keyIds),
      limit: fc.constantFrom(1, 2, 9),
    }),
    async (store, page) => [
      await store.accounts.listKeys(page),
      await store.accounts.listOrganizations({ after: page.organizationId, limit: page.limit }),
      await store.accounts.findOrganization(page.organizationId ?? ''),
    ],
  ),
];

const claims = asking(
  'claim',
  fc.record({ id: paymentIds, claimedAtMs: atMs, lease: fc.nat(3), binding: fc.constantFrom('b1', 'b2') }),
  (store, { lease, ...claim }) =>
    store.payments.claim({
      ...claim,
      resource: 'GET /v0/flows',
      payTo: '0xcc',
      amount: '10000',
      expiresAtMs: T0 + 300_000,
      leaseUntilMs: claim.claimedAtMs + lease * 1_000,
    }),
);

const settlements = asking(
  'recordSettlement',
  fc.record({ id: paymentIds, transaction: fc.constantFrom('0x01', '0x01', '0x02') }),
  (store, settlement) => store.payments.recordSettlement(settlement),
);

const servings = asking(
  'beginServing',
  fc.record({
    id: paymentIds,
    nowMs: atMs,
    lease: fc.integer({ min: 1, max: 3 }),
    attemptsMax: fc.constantFrom(2, 3),
  }),
  (store, { lease, ...serving }) =>
    store.payments.beginServing({ ...serving, leaseUntilMs: serving.nowMs + lease * 1_000 }),
);

const payments = [
  claims,
  settlements,
  servings,
  asking(
    'finishServing',
    fc.record({
      id: paymentIds,
      attempt: fc.constantFrom(1, 1, 2, 3),
      answered: fc.boolean(),
      uncounted: fc.boolean(),
    }),
    async (store, finish) => {
      await store.payments.finishServing(finish);
      return 'finished';
    },
  ),
  asking(
    'leaveOpen',
    fc.record({ id: paymentIds, atMs, transaction: fc.constantFrom(null, '0x01', '0x02') }),
    (store, left) => store.payments.leaveOpen(left),
  ),
  asking('dropClaim', paymentIds, (store, id) => store.payments.dropClaim(id)),
  asking('find', paymentIds, (store, id) => store.payments.find(id)),
  asking('unresolved', atMs, async (store, nowMs) => {
    const found = await store.payments.unresolved({ nowMs, limit: 100 });
    return [
      found.map(({ leaseUntilMs }) => leaseUntilMs),
      found.map((record) => JSON.stringify(sorted(record))).sort(),
    ];
  }),
  asking(
    'issueKey',
    fc.record({ id: paymentIds, key: keyRecords(fc.constantFrom(null, null, null, 'org')) }),
    (store, issue) => store.payments.issueKey(issue),
  ),
];

const windowsAndReplies = [
  asking(
    'rates',
    fc.record({ key: fc.constantFrom('a', 'b'), limit: fc.constantFrom(2, 3), nowMs: atMs }),
    (store, { key, limit, nowMs }, windows) =>
      store.rates.take({ key: `${windows}${key}`, limit, windowSeconds: 2, nowMs }),
  ),
  asking(
    'begin',
    fc.record({
      key: fc.constantFrom('a', 'b'),
      requestDigest: fc.constantFrom('d1', 'd1', 'd2'),
      nowMs: atMs,
    }),
    (store, request) =>
      store.replies.begin({
        ...request,
        scope: 's',
        leaseUntilMs: request.nowMs + 2_000,
        // Beyond every time of this test: a call for one key may clear away expired entries of all, and times jump back here.
        keepUntilMs: T0 + 60_000,
      }),
  ),
  asking(
    'finish',
    fc.record({ key: fc.constantFrom('a', 'b'), reply: fc.constantFrom('', 'reply', null) }),
    async (store, reply) => {
      await store.replies.finish({ ...reply, scope: 's' });
      return 'finished';
    },
  ),
];

/** A hold and, often, what becomes of it: rarely would two random calls name the same open hold. */
const meteredCalls: fc.Arbitrary<Ask> = asking(
  'metered call',
  fc.record({
    organizationId: payers,
    holdId: holdIds,
    units: fewUnits,
    heldAtMs: atMs,
    captured: fc.nat(9),
    end: fc.constantFrom('capture', 'capture', 'release', 'overdue', 'none'),
  }),
  async ({ units: store }, { captured, end, ...asked }) => {
    const { organizationId, holdId, heldAtMs } = asked;
    const hold = await store.hold({ ...asked, operation: 'metered', overdueAtMs: heldAtMs + 2_000 });
    if (end === 'none') return [hold];
    const again = { organizationId, holdId, atMs: heldAtMs + 5 };
    if (end === 'capture')
      return [hold, await store.capture({ ...again, units: Math.min(captured, asked.units) })];
    return [hold, await store.release({ ...again, kind: end, note: 'metered' })];
  },
).map((ask) => ({ ...ask, alone: true }));

/** A payment's way from claim to answer, as far as its state lets it. */
const paidCalls: fc.Arbitrary<Ask> = asking(
  'paid call',
  fc.record({ id: paymentIds, nowMs: atMs, answered: fc.boolean(), attemptsMax: fc.constantFrom(1, 2, 3) }),
  async ({ payments: store }, { id, nowMs, answered, attemptsMax }) => {
    const bought = { binding: 'b1', resource: 'GET /v0/flows', payTo: '0xcc', amount: '10000' };
    const leaseUntilMs = nowMs + 1_000;
    const times = { expiresAtMs: T0 + 300_000, claimedAtMs: nowMs, leaseUntilMs };
    const claimed = await store.claim({ id, ...bought, ...times });
    const settled = await store.recordSettlement({ id, transaction: '0x01' });
    const serving = await store.beginServing({ id, nowMs, leaseUntilMs, attemptsMax });
    await store.finishServing({ id, attempt: serving.attempt, answered });
    return [claimed, settled, serving, await store.find(id)];
  },
).map((ask) => ({ ...ask, alone: true }));

const unitCalls = [
  grants,
  holds,
  captures,
  captures,
  releases,
  sweeps,
  meteredCalls,
  meteredCalls,
  meteredCalls,
];

/** Units move most: that is what callers pay with. */
const asks = [
  ...[...unitCalls, ...unitCalls, ...accounts],
  ...[...payments, paidCalls, paidCalls, settlements, servings, ...windowsAndReplies],
];

/** Opening a SQLite handle from source takes as long as a hundred calls. */
const ASKS_FOR_A_REOPENING = 5;

const commands = fc.commands<ControlStore, Reality, false>(
  [
    ...Array.from({ length: ASKS_FOR_A_REOPENING }, () => asks)
      .flat()
      .map((ask) =>
        fc
          .tuple(ask, fc.constantFrom(0 as const, 1 as const), fc.constantFrom(1, 1, 1, 2, 3))
          .map(([call, handle, times]) => new CallCommand(call, handle, times)),
      ),
    fc.constantFrom(0 as const, 1 as const).map((handle) => new ReopenCommand(handle)),
  ],
  { maxCommands: COMMANDS_MAX, size: 'max' },
);

/** Two organizations with units; the third is created by a call, or never. */
async function begin({ accounts: organizations, units: store }: ControlStore): Promise<void> {
  for (const id of ['org', 'a:{b} ü']) {
    await organizations.createOrganization({ id, displayName: id, plan: 'free', createdAtMs: T0 });
    await store.grant({ organizationId: id, grantId: 'g{0}', units: 40, note: 'to begin with', atMs: T0 });
  }
}

/** Throws with the seed, the path and the shortest calls found, when two handles of the store answer otherwise than `bed`'s one. */
export async function expectLikeOneHandle(
  bed: SqliteBed,
  open: () => Promise<OpenedStore>,
  { sharedRates }: AdapterTraits,
): Promise<void> {
  let run = 0;
  const property = fc.asyncProperty(commands, async (calls) => {
    const opened = await open();
    run += 1;
    const model = await bed.open();
    try {
      const handles: [ControlStore, ControlStore] = [opened.store, await opened.reopen()];
      for (const store of [model.store, opened.store]) await begin(store);
      const windows: [string, string] = sharedRates ? [`${run}:`, `${run}:`] : [`${run}:0:`, `${run}:1:`];
      await fc.asyncModelRun(() => ({ model: model.store, real: { opened, handles, windows } }), calls);
    } finally {
      await Promise.all([opened.close(), model.close()]);
    }
  });
  await fc.assert(property, {
    numRuns: RUNS,
    interruptAfterTimeLimit: PROPERTY_BUDGET_MS,
    markInterruptAsFailure: true,
  });
}
