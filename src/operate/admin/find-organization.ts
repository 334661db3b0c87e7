import { commandText } from '../../../core/command-text.ts';
import { UserError } from '../../../core/user-error.ts';
import type { ControlStore, Organization } from '../../accounts/store.ts';

type Accounts = ControlStore['accounts'];

const PAGE = 500;
/** Names shown to who misspelled one. */
const SHOWN_MAX = 10;

/** Throws `UserError` with the names that exist. */
export async function findOrganization(accounts: Accounts, id: string): Promise<Organization> {
  const organization = await accounts.findOrganization(id);
  if (organization !== null) return organization;
  const some = await accounts.listOrganizations({ after: null, limit: SHOWN_MAX });
  throw new UserError(
    some.length === 0
      ? `There is no organization "${id}", nor any other. Create one: ${commandText('admin organization create --help')}`
      : `There is no organization "${id}". There is: ${some.map((one) => one.id).join(', ')}${some.length < SHOWN_MAX ? '' : ', …'}. All of them: ${commandText('admin organization list')}`,
  );
}

export async function allOrganizations(accounts: Accounts): Promise<Organization[]> {
  return readAll((after) => accounts.listOrganizations({ after, limit: PAGE }));
}

/** Reads a list that is paged by id to its end. */
export async function readAll<Row extends { readonly id: string }>(
  page: (after: string | null, limit: number) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (;;) {
    const next = await page(rows.at(-1)?.id ?? null, PAGE);
    rows.push(...next);
    if (next.length < PAGE) return rows;
  }
}
