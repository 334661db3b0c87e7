import { expect } from 'vitest';
import { NO_UNITS, type UnitBalance } from '../../core/domain/plan.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import type { LedgerEntry } from '../../src/accounts/unit-store.ts';

const PAGE_ROWS = 1_000;

/** The whole ledger of an organization, read in pages. */
export async function readLedger(store: ControlStore, organizationId: string): Promise<LedgerEntry[]> {
  const rows: LedgerEntry[] = [];
  for (;;) {
    const after = rows.at(-1)?.sequence ?? 0;
    const page = await store.units.ledger({ organizationId, after, limit: PAGE_ROWS });
    rows.push(...page);
    if (page.length < PAGE_ROWS) return rows;
  }
}

/** What one row does to the units: the arithmetic of the contract, written independently of the adapters. */
function applyEntry(units: UnitBalance, { kind, units: moved, released }: LedgerEntry): UnitBalance {
  const { granted, balance, held, spent } = units;
  switch (kind) {
    case 'grant':
      return { granted: granted + moved, balance: balance + moved, held, spent };
    case 'hold':
      return { granted, balance: balance - moved, held: held + moved, spent };
    case 'capture':
      return { granted, balance: balance + released, held: held - moved - released, spent: spent + moved };
    case 'release':
    case 'overdue':
      return { granted, balance: balance + moved, held: held - moved, spent };
  }
}

/**
 * Holds an organization's books against each other: the sequence has no gap, every row carries the figures that the rows up to
 * it give, the last ones are the balance, and `granted = balance + held + spent` with nothing below zero. Null when all is well.
 */
export function troubleOf(rows: readonly LedgerEntry[], balance: UnitBalance | null): string | null {
  let units = NO_UNITS;
  for (const [index, row] of rows.entries()) {
    units = applyEntry(units, row);
    const says = { sequence: row.sequence, balance: row.balance, held: row.held };
    const gives = { sequence: index + 1, balance: units.balance, held: units.held };
    const least = Math.min(units.balance, units.held, units.spent, row.units, row.released);
    if (least < 0 || JSON.stringify(says) !== JSON.stringify(gives))
      return `row ${JSON.stringify(row)} where the rows give ${JSON.stringify(gives)}`;
  }
  const { granted, held, spent } = balance ?? NO_UNITS;
  const said = [granted, balance?.balance ?? 0, held, spent];
  const given = [units.granted, units.balance, units.held, units.spent];
  if (said.join() !== given.join()) return `the balance says ${said.join()}, the ledger ${given.join()}`;
  if (units.balance + held + spent !== granted) return `${said.join()} does not add up`;
  return null;
}

/** The organization's units, after its books were found in order. */
export async function expectBooks(store: ControlStore, organizationId: string): Promise<UnitBalance> {
  const rows = await readLedger(store, organizationId);
  const balance = await store.units.balance(organizationId);
  expect(troubleOf(rows, balance)).toBeNull();
  return balance ?? NO_UNITS;
}
