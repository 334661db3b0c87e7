import type { Command } from 'commander';
import { NO_UNITS, type UnitBalance } from '../../../core/domain/plan.ts';
import { SALE_PREFIX } from '../../../core/domain/sale.ts';
import type { LedgerEntry, UnitStore } from '../../accounts/unit-store.ts';
import type { AdminDeps, CommandOutput, RunAdmin } from './command-output.ts';
import { allOrganizations, findOrganization } from './organization.ts';
import { type SaleGrant, saleDifferences } from './reconcile-sales.ts';

/** `admin reconcile`. */

const PAGE = 1_000;

interface Reconciled {
  readonly organization: string;
  readonly rows: number;
  readonly stored: UnitBalance;
  readonly computed: UnitBalance;
  readonly differences: readonly Difference[];
  /** Shares of what others paid for its queries. */
  readonly sales: readonly SaleGrant[];
}

export function addReconcileCommand(admin: Command, run: RunAdmin): void {
  admin
    .command('reconcile')
    .description(
      'compute every figure again from the ledger alone, hold shares of authors against what paid for them, and name what differs; exit code 1 then',
    )
    .argument('[organization]', 'only this one')
    .action((organization: string | undefined) => run((deps) => reconcile(deps, organization)));
}

async function reconcile({ store }: AdminDeps, organization: string | undefined): Promise<CommandOutput> {
  const organizations =
    organization === undefined
      ? await allOrganizations(store.accounts)
      : [await findOrganization(store.accounts, organization)];
  const books = await reconcileAll(store, organizations);
  const failed = books.some(({ differences }) => differences.length > 0);
  return {
    failed,
    json: { ok: !failed, organizations: books.map(({ sales: _, ...figures }) => figures) },
    lines: books.length === 0 ? ['there is no organization yet'] : books.flatMap(linesOf),
  };
}

/** The organizations whose books differ, for a caller that needs no details. */
export async function findDifferences(
  store: AdminDeps['store'],
): Promise<{ readonly organizations: number; readonly differing: readonly string[] }> {
  const books = await reconcileAll(store, await allOrganizations(store.accounts));
  const differing = books.filter(({ differences }) => differences.length > 0);
  return { organizations: books.length, differing: differing.map(({ organization }) => organization) };
}

/** Each organization by itself, then the shares of all of them: the payment for one is on the books of another. */
export async function reconcileAll(
  store: Pick<AdminDeps['store'], 'accounts' | 'payments'> & {
    readonly units: Pick<UnitStore, 'balance' | 'ledger'>;
  },
  organizations: readonly { readonly id: string }[],
): Promise<readonly Reconciled[]> {
  const books: Reconciled[] = [];
  for (const { id } of organizations) books.push(await reconcileOne(store.units, id));
  const unpaid = await saleDifferences(
    store,
    books.flatMap(({ sales }) => sales),
  );
  return books.map((one) => ({
    ...one,
    differences: [
      ...one.differences,
      ...unpaid.filter(({ organization }) => organization === one.organization),
    ],
  }));
}

/**
 * Reads while the service goes on writing. The figures are read between two readings of the ledger: they are the figures after
 * one of the rows that came in between, or they are wrong.
 */
export async function reconcileOne(
  units: Pick<UnitStore, 'balance' | 'ledger'>,
  organization: string,
): Promise<Reconciled> {
  const books = openBooks();
  const differences: Difference[] = [];
  const sales: SaleGrant[] = [];
  const keepSale = ({ kind, sequence, subject, units: granted }: LedgerEntry): void => {
    if (kind === 'grant' && subject.startsWith(SALE_PREFIX))
      sales.push({ organization, sequence, subject, units: granted });
  };
  await readOn(units, organization, books, (found, entry) => {
    keepSale(entry);
    differences.push(...found);
  });
  const read = books.sum();
  const stored = (await units.balance(organization)) ?? NO_UNITS;
  let computed = read;
  await readOn(units, organization, books, (found, entry) => {
    keepSale(entry);
    differences.push(...found);
    if (!isSameBalance(stored, computed)) computed = books.sum();
  });
  differences.push(...figureDifferences(stored, computed));
  return { organization, rows: books.rows(), stored, computed, differences, sales };
}

/** Reads the ledger rows that the books do not have yet. */
async function readOn(
  units: Pick<UnitStore, 'ledger'>,
  organizationId: string,
  books: Books,
  onRow: (found: readonly Difference[], entry: LedgerEntry) => void,
): Promise<void> {
  for (;;) {
    const entries = await units.ledger({ organizationId, after: books.lastSequence(), limit: PAGE });
    for (const entry of entries) onRow(books.take(entry), entry);
    if (entries.length < PAGE) return;
  }
}

function linesOf({ organization, rows, stored, differences }: Reconciled): string[] {
  const { granted, balance, held, spent } = stored;
  const figures = `granted ${granted} = balance ${balance} + held ${held} + spent ${spent}`;
  if (differences.length === 0) return [`${organization}: ${figures}, ${rows} rows agree`];
  return [
    `${organization}: DIFFERS`,
    ...differences.map(({ sequence, what }) =>
      sequence === null ? `  ${what}` : `  row ${sequence}: ${what}`,
    ),
  ];
}

/** Checks a ledger against itself: recomputes every figure from its rows alone. Pure. */

export interface Difference {
  /** The row at fault; null where it is the stored figures that differ. */
  readonly sequence: number | null;
  readonly what: string;
}

export interface Books {
  /** Takes the next row of the ledger; its fault. */
  take(entry: LedgerEntry): readonly Difference[];
  /** What the rows so far add up to. */
  sum(): UnitBalance;
  /** Of the row taken last; 0 before the first. */
  lastSequence(): number;
  /** How many rows were taken. */
  rows(): number;
}

export function openBooks(): Books {
  let rows = 0;
  let sum = NO_UNITS;
  let last = { sequence: 0, balance: 0, held: 0 };
  const openHolds = new Map<string, number>();
  const seen = { grants: new Set<string>(), holds: new Set<string>() };
  return {
    rows: () => rows,
    lastSequence: () => last.sequence,
    sum: () => sum,
    take: (entry) => {
      const { sequence, balance, held } = entry;
      const before = { ...NO_UNITS, balance: last.balance, held: last.held };
      const problems = [
        ...sequenceProblems(last.sequence, sequence),
        // Against the row before, not the sum: one wrong row is named once, not every row after it too.
        ...figureProblems(applied(before, entry), entry),
        ...subjectProblems(entry, openHolds, seen),
      ];
      rows += 1;
      sum = applied(sum, entry);
      last = { sequence, balance, held };
      return problems.map((what) => ({ sequence, what }));
    },
  };
}

function sequenceProblems(before: number, sequence: number): string[] {
  return sequence === before + 1 ? [] : [`it follows ${before}: rows between are missing`];
}

function figureProblems(computed: UnitBalance, { kind, units, balance, held }: LedgerEntry): string[] {
  const problems: string[] = [];
  if (balance !== computed.balance)
    problems.push(`a ${kind} of ${units} leaves ${computed.balance} free, the row says ${balance}`);
  if (held !== computed.held)
    problems.push(`a ${kind} of ${units} leaves ${computed.held} held, the row says ${held}`);
  if (balance < 0 || held < 0) problems.push('a figure is below zero');
  return problems;
}

/** Every hold is opened once and resolved once, in full; every grant is made once. */
function subjectProblems(
  { kind, subject, units, released }: LedgerEntry,
  openHolds: Map<string, number>,
  seen: { readonly grants: Set<string>; readonly holds: Set<string> },
): string[] {
  if (kind === 'grant' || kind === 'hold') {
    const names = kind === 'grant' ? seen.grants : seen.holds;
    const isNew = !names.has(subject);
    names.add(subject);
    if (kind === 'hold') openHolds.set(subject, units);
    return isNew ? [] : [`there was a ${kind} ${subject} before`];
  }
  const hold = openHolds.get(subject);
  openHolds.delete(subject);
  if (hold === undefined) return [`a ${kind} of ${subject}, which is no open hold`];
  const resolved = units + released;
  return resolved === hold ? [] : [`a ${kind} resolves ${resolved} of ${subject}, which held ${hold}`];
}

function applied(before: UnitBalance, { kind, units, released }: LedgerEntry): UnitBalance {
  const { granted, balance, held, spent } = before;
  switch (kind) {
    case 'grant':
      return { granted: granted + units, balance: balance + units, held, spent };
    case 'hold':
      return { granted, balance: balance - units, held: held + units, spent };
    case 'capture':
      return { granted, balance: balance + released, held: held - units - released, spent: spent + units };
    case 'release':
    case 'overdue':
      return { granted, balance: balance + units, held: held - units, spent };
  }
}

/** Where the stored figures are not those that the rows add up to, and where they do not add up themselves. */
export function figureDifferences(stored: UnitBalance, computed: UnitBalance): readonly Difference[] {
  const names = ['granted', 'balance', 'held', 'spent'] as const;
  const differences = names
    .filter((name) => stored[name] !== computed[name])
    .map((name) => `${name} is ${stored[name]}, the ledger gives ${computed[name]}`);
  const { granted, balance, held, spent } = stored;
  if (granted !== balance + held + spent)
    differences.push(`granted ${granted} is not balance ${balance} + held ${held} + spent ${spent}`);
  return differences.map((what) => ({ sequence: null, what }));
}

export function isSameBalance(one: UnitBalance, other: UnitBalance): boolean {
  return (
    one.granted === other.granted &&
    one.balance === other.balance &&
    one.held === other.held &&
    one.spent === other.spent
  );
}
