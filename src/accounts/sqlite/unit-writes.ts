import type Database from 'libsql';
import { NO_UNITS, UNITS_MAX, type UnitBalance } from '../../../core/domain/plan.ts';
import { type AuthorShare, isCovered, requireCovered, SALE_PREFIX } from '../../../core/domain/sale.ts';
import {
  HOLD_KEPT_MS,
  HOLDS_FORGOTTEN_PER_END,
  type Hold,
  type LedgerEntry,
  saleOfHold,
  saleOfPayment,
  type UnitStore,
} from '../unit-store.ts';
import {
  type AllAtOnce,
  BALANCE_COLUMNS,
  HOLD_COLUMNS,
  PAYMENT_COLUMNS,
  type PaymentRow,
  paymentOf,
  prepare,
  THIS_PAYMENT,
} from './rows.ts';
import { type CountUnits, type KeyBudgets, keyBudgets, unitCounter } from './usage-writes.ts';

export type UnitWrites = AllAtOnce<UnitStore, 'grant' | 'grantSale' | 'hold' | 'capture' | 'release'>;

interface HoldRow extends Hold {
  readonly state: 'open' | 'captured' | 'released';
  readonly charged: number;
}

/** A ledger row but for its sequence, which the organization's counter gives. */
interface Change extends Omit<LedgerEntry, 'sequence' | 'balance' | 'held'> {
  readonly organizationId: string;
  readonly after: UnitBalance;
}

/** The statements that every change of units is made of. */
interface Books {
  balanceOf(organizationId: string): UnitBalance | undefined;
  granted(grant: { readonly organizationId: string; readonly grantId: string }): boolean;
  holdOf(hold: { readonly organizationId: string; readonly holdId: string }): HoldRow | undefined;
  addHold(hold: Hold): void;
  /** Resolves an open hold, and forgets a few of those that were resolved long before. */
  resolveHold(hold: HoldRow & { readonly atMs: number }): void;
  /** Writes the new balance and its ledger row, and answers the balance. */
  book(change: Change): UnitBalance;
  readonly budgets: KeyBudgets;
  readonly countUnits: CountUnits;
}

/** Grants, holds, captures and releases: reads, decides, books. Nothing else changes a balance. */
export function unitWrites(db: Database.Database): UnitWrites {
  const books = openBooks(db);
  return {
    grant: (grant) => {
      requireUnits(grant.units, 1);
      if (grant.grantId.startsWith(SALE_PREFIX))
        throw new RangeError('only what was paid for grants a share');
      return addGrant(books, grant);
    },
    grantSale: saleGranter(db, books),
    hold: (hold) => addHold(books, hold),
    capture: (capture) => captureHold(books, capture),
    release: (release) => releaseHold(books, release),
  };
}

/** `earnedBy`: the operation whose call others paid for. */
function addGrant(
  books: Books,
  grant: Parameters<UnitWrites['grant']>[0] & { readonly earnedBy?: string },
): ReturnType<UnitWrites['grant']> {
  const before = books.balanceOf(grant.organizationId);
  if (before === undefined) return { outcome: 'unknown', balance: NO_UNITS };
  if (books.granted(grant)) return { outcome: 'replayed', balance: before };
  if (before.granted + grant.units > UNITS_MAX) return { outcome: 'too_large', balance: before };
  const { organizationId, units, note, atMs, earnedBy } = grant;
  if (earnedBy !== undefined)
    books.countUnits({ organizationId, operation: earnedBy, lane: 'earned', units, atMs });
  const after = { ...before, granted: before.granted + units, balance: before.balance + units };
  const row = { kind: 'grant', units, released: 0, subject: grant.grantId, note, atMs } as const;
  return { outcome: 'granted', balance: books.book({ organizationId, after, ...row }) };
}

/** What was paid for covers the share: `captureHold` and `saleGranter` have checked it. */
function grantShare(
  books: Books,
  { organizationId, units, note, earnedBy }: AuthorShare,
  sale: { readonly grantId: string; readonly atMs: number },
): ReturnType<UnitWrites['grant']>['outcome'] {
  return addGrant(books, { organizationId, units, note, earnedBy, ...sale }).outcome;
}

function saleGranter(db: Database.Database, books: Books): UnitWrites['grantSale'] {
  const find = prepare<PaymentRow>(db, `SELECT ${PAYMENT_COLUMNS} FROM payment WHERE ${THIS_PAYMENT}`);
  return ({ payment, atMs }) => {
    const row = find.one({ ...payment });
    if (row === undefined) return { outcome: 'unknown' };
    const { state, sale } = paymentOf(row);
    if (state === 'settling') return { outcome: 'unsettled' };
    const share = sale?.share ?? null;
    if (sale === null || share === null || !isCovered(share, sale.units)) return { outcome: 'no_share' };
    return { outcome: grantShare(books, share, { grantId: saleOfPayment(payment), atMs }) };
  };
}

function addHold(books: Books, hold: Hold): ReturnType<UnitWrites['hold']> {
  requireUnits(hold.units, 1);
  const before = books.balanceOf(hold.organizationId);
  if (before === undefined) return { outcome: 'unknown', balance: NO_UNITS };
  if (books.holdOf(hold)) return { outcome: 'replayed', balance: before };
  const budget = books.budgets.refusal(hold);
  if (budget !== null) return { outcome: 'over_budget', balance: before, budget };
  return bookHold(books, hold, before);
}

function bookHold(books: Books, hold: Hold, before: UnitBalance): ReturnType<UnitWrites['hold']> {
  if (before.balance < hold.units) return { outcome: 'insufficient', balance: before };
  const { organizationId, units, operation, heldAtMs } = hold;
  books.addHold(hold);
  books.budgets.take(hold);
  const after = { ...before, balance: before.balance - units, held: before.held + units };
  const row = { kind: 'hold', units, released: 0, subject: hold.holdId, note: operation } as const;
  return { outcome: 'held', balance: books.book({ organizationId, after, atMs: heldAtMs, ...row }) };
}

function captureHold(
  books: Books,
  capture: Parameters<UnitWrites['capture']>[0],
): ReturnType<UnitWrites['capture']> {
  requireUnits(capture.units, 0);
  requireCovered(capture.share, capture.units);
  const hold = books.holdOf(capture) ?? holdAgain(books, capture);
  const before = books.balanceOf(capture.organizationId) ?? NO_UNITS;
  if (hold === undefined) return { outcome: 'unknown', charged: 0, balance: before };
  if (hold.state === 'captured') return { outcome: 'replayed', charged: hold.charged, balance: before };
  if (hold.state === 'released') return { outcome: 'released', charged: 0, balance: before };
  const { organizationId, holdId, units, atMs } = capture;
  if (units > hold.units) throw new RangeError(`${units} units cannot be captured of ${hold.units} held`);
  const released = hold.units - units;
  books.resolveHold({ ...hold, state: 'captured', charged: units, atMs });
  books.budgets.giveBack({ ...hold, units: released });
  books.countUnits({ ...hold, lane: 'units', units, atMs });
  const after = {
    ...before,
    balance: before.balance + released,
    held: before.held - hold.units,
    spent: before.spent + units,
  };
  const row = { kind: 'capture', units, released, subject: holdId, note: hold.operation, atMs } as const;
  const balance = books.book({ organizationId, after, ...row });
  if (capture.share !== undefined) grantShare(books, capture.share, { grantId: saleOfHold(holdId), atMs });
  return { outcome: 'captured', charged: units, balance };
}

/** Makes a hold again that the file lost, in the transaction of its capture. Its call has run: the budget of its key was checked. */
function holdAgain(books: Books, capture: Parameters<UnitWrites['capture']>[0]): HoldRow | undefined {
  const { organizationId, holdId, held } = capture;
  if (held === undefined) return undefined;
  const before = books.balanceOf(organizationId);
  if (before !== undefined) bookHold(books, { ...held, organizationId, holdId }, before);
  return books.holdOf(capture);
}

function releaseHold(
  books: Books,
  release: Parameters<UnitWrites['release']>[0],
): ReturnType<UnitWrites['release']> {
  const before = books.balanceOf(release.organizationId) ?? NO_UNITS;
  const hold = books.holdOf(release);
  if (hold === undefined) return { outcome: 'unknown', balance: before };
  if (hold.state === 'captured') return { outcome: 'captured', balance: before };
  if (hold.state === 'released') return { outcome: 'replayed', balance: before };
  const { organizationId, holdId, kind, note, atMs } = release;
  const { units } = hold;
  books.resolveHold({ ...hold, state: 'released', charged: 0, atMs });
  books.budgets.giveBack(hold);
  const after = { ...before, balance: before.balance + units, held: before.held - units };
  const row = { kind, units, released: 0, subject: holdId, note, atMs };
  return { outcome: 'released', balance: books.book({ organizationId, after, ...row }) };
}

function requireUnits(units: number, unitsMin: 0 | 1): void {
  if (!Number.isSafeInteger(units) || units < unitsMin) {
    throw new RangeError(`units are whole numbers from ${unitsMin}, not ${units}`);
  }
}

function openBooks(db: Database.Database): Books {
  const balance = prepare<UnitBalance>(
    db,
    `SELECT ${BALANCE_COLUMNS} FROM organization WHERE id = :organizationId`,
  );
  const granted = prepare<object>(
    db,
    `SELECT 1 FROM ledger WHERE organization_id = :organizationId AND subject = :grantId AND kind = 'grant'`,
  );
  const hold = prepare<HoldRow>(
    db,
    `SELECT ${HOLD_COLUMNS}, key_id AS keyId, state, charged FROM hold WHERE organization_id = :organizationId AND hold_id = :holdId`,
  );
  const insertHold = prepare(
    db,
    `INSERT INTO hold (organization_id, hold_id, units, operation, held_at_ms, overdue_at_ms, key_id)
     VALUES (:organizationId, :holdId, :units, :operation, :heldAtMs, :overdueAtMs, :keyId)`,
  );
  const forgetHolds = prepare(
    db,
    `DELETE FROM hold WHERE organization_id = :organizationId AND hold_id IN
       (SELECT hold_id FROM hold
        WHERE organization_id = :organizationId AND state <> 'open' AND overdue_at_ms <= :atMs - ${HOLD_KEPT_MS}
        ORDER BY overdue_at_ms LIMIT ${HOLDS_FORGOTTEN_PER_END})`,
  );
  const resolveHold = prepare(
    db,
    `UPDATE hold SET state = :state, charged = :charged
     WHERE organization_id = :organizationId AND hold_id = :holdId AND state = 'open'`,
  );
  const count = prepare<{ readonly sequence: number }>(
    db,
    `UPDATE organization SET granted = :granted, balance = :balance, held = :held, spent = :spent,
       ledger_sequence = ledger_sequence + 1
     WHERE id = :organizationId RETURNING ledger_sequence AS sequence`,
  );
  const insertRow = prepare(
    db,
    `INSERT INTO ledger (organization_id, sequence, at_ms, kind, units, released, subject, note, balance, held)
     VALUES (:organizationId, :sequence, :atMs, :kind, :units, :released, :subject, :note, :balance, :held)`,
  );
  return {
    budgets: keyBudgets(db),
    countUnits: unitCounter(db),
    balanceOf: (organizationId) => balance.one({ organizationId }),
    granted: (grant) => granted.one(grant) !== undefined,
    holdOf: (question) => hold.one(question),
    addHold: (added) => void insertHold.run({ ...added }),
    resolveHold: ({ atMs, ...resolved }) => {
      const { organizationId } = resolved;
      forgetHolds.run({ organizationId, atMs });
      resolveHold.run({ ...resolved });
    },
    book: ({ organizationId, after, ...row }) => {
      const sequence = count.one({ organizationId, ...after })?.sequence;
      insertRow.run({ organizationId, sequence, ...row, balance: after.balance, held: after.held });
      return after;
    },
  };
}
