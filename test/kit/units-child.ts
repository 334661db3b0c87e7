import { appendFileSync } from 'node:fs';
import type { KeyDigest } from '../../core/domain/caller.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import type { LedgerEntry, LedgerKind } from '../../src/accounts/unit-store.ts';
import { openControl } from './open-control.ts';
import { readUsage } from './unit-books.ts';
import {
  type Books,
  CRASHING_AUTHOR,
  CRASHING_KEY,
  CRASHING_ORGANIZATION,
  type Intent,
  SWEPT_NOTE,
  type UnitsEvent,
  type UnitsOrders,
} from './units-events.ts';

/**
 * Moves units until it is killed, and writes what it means to do before every call and what it was answered after it. Begins as a
 * process after a crash does: says what it finds, gives overdue holds back, and tries to capture them late.
 */

const FAR_MS = 8_639_999_999_999_000;
const T0 = 1_750_000_000_000;
const LANES = 4;
const PAGE_ROWS = 1_000;
const UNITS_AT_FIRST = 40;

const organizationId = CRASHING_ORGANIZATION;
const CHANGED: Readonly<Record<LedgerKind, string>> = {
  grant: 'granted',
  hold: 'held',
  capture: 'captured',
  release: 'released',
  overdue: 'released',
};

async function main(orders: UnitsOrders): Promise<void> {
  const store = openControl(orders.store);
  const record = (event: UnitsEvent): void => appendFileSync(orders.eventsFile, `${JSON.stringify(event)}\n`);
  const make = maker(store, record);
  await store.accounts.createOrganization({
    id: organizationId,
    displayName: 'Crashes',
    plan: 'free',
    createdAtMs: T0,
  });
  await store.accounts.createOrganization({
    id: CRASHING_AUTHOR,
    displayName: 'Author',
    plan: 'free',
    createdAtMs: T0,
  });
  const digest = 'c'.repeat(64) as KeyDigest;
  await store.accounts.addKey({
    id: CRASHING_KEY,
    digest,
    kind: 'live',
    organizationId,
    label: '',
    createdAtMs: T0,
    expiresAtMs: null,
    revokedAtMs: null,
  });
  const found = await booksAtRest(store, digest);
  record({ type: 'found', ...found });
  for (const { holdId, units } of found.open) {
    await make({ kind: 'overdue', subject: holdId, units, note: SWEPT_NOTE, atMs: T0 });
    await make({ kind: 'capture', subject: holdId, units, note: '', atMs: T0 });
  }
  record({ type: 'swept' });
  if (!orders.works) return store.close();
  await make({ kind: 'grant', subject: 'first', units: UNITS_AT_FIRST, note: 'first', atMs: T0 });
  await Promise.all(Array.from({ length: LANES }, (_, lane) => work(make, `${orders.name}:${lane}`)));
}

/**
 * What the store holds, read while no row came: the last command of a process that was killed may still be on its way, and the
 * books are read in several steps.
 */
async function booksAtRest(store: ControlStore, digest: KeyDigest): Promise<Books> {
  let before = await allRows(store);
  for (;;) {
    const open = await store.units.overdueHolds({ nowMs: FAR_MS, limit: 10_000 });
    const balance = await store.units.balance(organizationId);
    const keyUsed = (await store.accounts.findKey(digest))?.key.used?.units ?? 0;
    const usage = await readUsage(store, organizationId, before);
    const shares = (await allRows(store, CRASHING_AUTHOR)).map(({ subject, units }) => `${subject} ${units}`);
    const rows = await allRows(store);
    if (rows.length === before.length) return { rows, balance, open, usage, keyUsed, shares };
    before = rows;
  }
}

async function allRows(store: ControlStore, of = organizationId): Promise<LedgerEntry[]> {
  const rows: LedgerEntry[] = [];
  for (;;) {
    const page = await store.units.ledger({
      organizationId: of,
      after: rows.length,
      limit: PAGE_ROWS,
    });
    rows.push(...page);
    if (page.length < PAGE_ROWS) return rows;
  }
}

/** Makes the call that the intent asks for, between the two lines that say so. Answers whether it changed something. */
type Make = (intent: Intent) => Promise<boolean>;

function maker(store: ControlStore, record: (event: UnitsEvent) => void): Make {
  let last = 0;
  return async (intent) => {
    last += 1;
    const number = last;
    record({ type: 'intent', number, intent });
    const { outcome } = await call(store, intent);
    const changed = outcome === CHANGED[intent.kind];
    record({ type: 'answer', number, outcome, changed });
    return changed;
  };
}

function call({ units: store }: ControlStore, intent: Intent): Promise<{ readonly outcome: string }> {
  const { kind, subject, units, note, atMs } = intent;
  switch (kind) {
    case 'grant':
      return store.grant({ organizationId, grantId: subject, units, note, atMs });
    case 'hold': {
      const hold = { organizationId, holdId: subject, units, operation: note };
      return store.hold({ ...hold, heldAtMs: atMs, overdueAtMs: atMs + 60_000, keyId: CRASHING_KEY });
    }
    case 'capture':
      // `released` is how a late capture is refused; it changes nothing.
      return store.capture({ organizationId, holdId: subject, units, atMs, ...shareOf(intent) });
    case 'release':
    case 'overdue':
      return store.release({ organizationId, holdId: subject, kind, note, atMs });
  }
}

function shareOf({ units, note }: Intent) {
  if (units < 2) return {};
  return {
    share: { organizationId: CRASHING_AUTHOR, units: units - 1, runUnits: 1, note, earnedBy: 'sold' },
  };
}

/** One caller after the other: most are answered, some fail, some leave their hold behind, some calls are made twice. */
async function work(make: Make, lane: string): Promise<never> {
  for (let turn = 1; ; turn++) {
    const subject = `${lane}:${turn}`;
    const atMs = T0 + turn;
    const units = dice(5);
    if (dice(4) === 1) await make({ kind: 'grant', subject, units: dice(9), note: `for ${subject}`, atMs });
    const hold: Intent = { kind: 'hold', subject, units, note: `operation ${turn}`, atMs };
    if (!(await make(hold))) continue;
    if (dice(6) === 1) await make(hold);
    const end = dice(10);
    if (end <= 6) {
      const capture: Intent = { kind: 'capture', subject, units: dice(units + 1) - 1, note: hold.note, atMs };
      await make(capture);
      if (dice(6) === 1) await make(capture);
    } else if (end <= 9) {
      await make({ kind: 'release', subject, units, note: `failed ${turn}`, atMs });
    }
  }
}

/** 1 … sides. */
function dice(sides: number): number {
  return 1 + Math.floor(Math.random() * sides);
}

// Written by the test.
await main(JSON.parse(process.argv[2] ?? '') as UnitsOrders);
