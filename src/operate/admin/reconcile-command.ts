import type { Command } from 'commander';
import { NO_UNITS, type UnitBalance } from '../../../core/domain/query-unit.ts';
import type { UnitStore } from '../../accounts/store.ts';
import type { AdminDeps, CommandOutput, RunAdmin } from './command-output.ts';
import { allOrganizations, findOrganization } from './find-organization.ts';
import { type Books, type Difference, figureDifferences, isSameBalance, openBooks } from './reconcile.ts';

/** `admin reconcile`. */

const PAGE = 1_000;

interface Reconciled {
  readonly organization: string;
  readonly rows: number;
  readonly stored: UnitBalance;
  readonly computed: UnitBalance;
  readonly differences: readonly Difference[];
}

export function addReconcileCommand(admin: Command, run: RunAdmin): void {
  admin
    .command('reconcile')
    .description('compute every figure again from the ledger alone and name what differs; exit code 1 then')
    .argument('[organization]', 'only this one')
    .action((organization: string | undefined) => run((deps) => reconcile(deps, organization)));
}

async function reconcile({ store }: AdminDeps, organization: string | undefined): Promise<CommandOutput> {
  const organizations =
    organization === undefined
      ? await allOrganizations(store.accounts)
      : [await findOrganization(store.accounts, organization)];
  const books: Reconciled[] = [];
  for (const { id } of organizations) books.push(await reconcileOne(store.units, id));
  const failed = books.some(({ differences }) => differences.length > 0);
  return {
    failed,
    json: { ok: !failed, organizations: books },
    lines: books.length === 0 ? ['there is no organization yet'] : books.flatMap(linesOf),
  };
}

/** The organizations whose books differ, for whoever only asks whether one does. */
export async function findDifferences(
  store: AdminDeps['store'],
): Promise<{ readonly organizations: number; readonly differing: readonly string[] }> {
  const organizations = await allOrganizations(store.accounts);
  const differing: string[] = [];
  for (const { id } of organizations)
    if ((await reconcileOne(store.units, id)).differences.length > 0) differing.push(id);
  return { organizations: organizations.length, differing };
}

/**
 * Reads beside a service that goes on writing. The figures are read between two readings of the ledger: they are those after
 * one of the rows that came meanwhile, or they are wrong.
 */
export async function reconcileOne(
  units: Pick<UnitStore, 'balance' | 'ledger'>,
  organization: string,
): Promise<Reconciled> {
  const books = openBooks();
  const differences: Difference[] = [];
  await readOn(units, organization, books, (found) => differences.push(...found));
  const read = books.sum();
  const stored = (await units.balance(organization)) ?? NO_UNITS;
  let computed = read;
  await readOn(units, organization, books, (found) => {
    differences.push(...found);
    if (!isSameBalance(stored, computed)) computed = books.sum();
  });
  differences.push(...figureDifferences(stored, computed));
  return { organization, rows: books.rows(), stored, computed, differences };
}

/** Takes what is in the ledger and not in the books yet. */
async function readOn(
  units: Pick<UnitStore, 'ledger'>,
  organizationId: string,
  books: Books,
  onRow: (found: readonly Difference[]) => void,
): Promise<void> {
  for (;;) {
    const entries = await units.ledger({ organizationId, after: books.lastSequence(), limit: PAGE });
    for (const entry of entries) onRow(books.take(entry));
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
