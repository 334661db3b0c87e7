import { expect } from 'vitest';
import { NO_UNITS, type UnitBalance } from '../../core/domain/plan.ts';
import { dayOf, type UsageRow } from '../../core/domain/usage.ts';
import type { ControlStore } from '../../src/accounts/store.ts';
import type { LedgerEntry } from '../../src/accounts/unit-store.ts';
import { usageOwner } from '../../src/accounts/usage-store.ts';

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

/** The usage of the days on which something was captured. */
export async function readUsage(
  { usage }: ControlStore,
  organizationId: string,
  rows: readonly LedgerEntry[],
): Promise<UsageRow[]> {
  const days = new Set(rows.flatMap(({ kind, atMs }) => (kind === 'capture' ? [dayOf(atMs)] : [])));
  const owner = usageOwner({ organizationId });
  const read = (day: number) => usage.usage({ owner, dayFrom: day, dayTo: day });
  return (await Promise.all([...days].map(read))).flat();
}

/** Holds usage and ledger against each other: by day and operation the same captures and the same units. */
export function usageTroubleOf(rows: readonly LedgerEntry[], usage: readonly UsageRow[]): string | null {
  const sums = new Map<string, readonly [number, number]>();
  const add = (name: string, calls: number, units: number): void => {
    const [before, sum] = sums.get(name) ?? [0, 0];
    sums.set(name, [before + calls, sum + units]);
  };
  for (const { kind, atMs, note, units } of rows)
    if (kind === 'capture') add(`${dayOf(atMs)} ${note}`, 1, units);
  for (const { day, operation, lane, calls, units } of usage)
    if (lane === 'units') add(`${day} ${operation}`, -calls, -units);
  const off = [...sums].filter(([, [calls, units]]) => calls !== 0 || units !== 0);
  return off.length === 0 ? null : `the ledger has more than the usage: ${JSON.stringify(off)}`;
}

/** The organization's units, after its books, and its usage, were found in order. */
export async function expectBooks(store: ControlStore, organizationId: string): Promise<UnitBalance> {
  const rows = await readLedger(store, organizationId);
  const balance = await store.units.balance(organizationId);
  expect(troubleOf(rows, balance)).toBeNull();
  expect(usageTroubleOf(rows, await readUsage(store, organizationId, rows))).toBeNull();
  return balance ?? NO_UNITS;
}
