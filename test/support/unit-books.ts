import { expect } from 'vitest';
import type { ControlStore, LedgerEntry } from '../../src/control/control-store.ts';
import { NO_UNITS, type UnitBalance } from '../../src/domain/query-unit.ts';

const PAGE_ROWS = 100;

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
export function applyEntry(units: UnitBalance, { kind, units: moved, released }: LedgerEntry): UnitBalance {
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
 * it give, the last ones are the balance, and `granted = balance + held + spent` with nothing below zero.
 */
export async function expectBooks(store: ControlStore, organizationId: string): Promise<UnitBalance> {
  const rows = await readLedger(store, organizationId);
  let units = NO_UNITS;
  for (const [index, row] of rows.entries()) {
    units = applyEntry(units, row);
    expect(row).toMatchObject({ sequence: index + 1, balance: units.balance, held: units.held });
    expect(Math.min(units.balance, units.held, units.spent, row.units, row.released)).toBeGreaterThanOrEqual(
      0,
    );
  }
  expect(await store.units.balance(organizationId)).toEqual(units);
  expect(units.balance + units.held + units.spent).toBe(units.granted);
  return units;
}
