import { type Command, Option } from 'commander';
import { commandText } from '../../../core/command-text.ts';
import { hasInvisible } from '../../../core/domain/display-text.ts';
import { NO_UNITS, PLAN_IDS, type PlanId } from '../../../core/domain/plan.ts';
import {
  HANDLE_MAX_CHARS,
  HANDLE_MIN_CHARS,
  isHandle,
  skeletonOf,
} from '../../../core/domain/saved-query.ts';
import { UserError } from '../../../core/user-error.ts';
import type { Organization } from '../../accounts/account-store.ts';
import type { ControlStore } from '../../accounts/store.ts';
import { type AdminDeps, type CommandOutput, columns, type RunAdmin, timeOf } from './command-output.ts';

/** `admin organization create | list | plan | handle`. */

const ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const NAME_MAX_CHARS = 200;

interface NewOrganization {
  readonly id: string;
  readonly name: string;
  readonly plan: PlanId;
}

export function addOrganizationCommands(admin: Command, run: RunAdmin): void {
  const organization = admin.command('organization').description('customers: who has keys and units');
  organization
    .command('create')
    .description('make an organization; it has no units until they are granted')
    .requiredOption('--id <id>', 'a name for commands: letters, digits and . _ -')
    .requiredOption('--name <name>', 'what its members see')
    .addOption(new Option('--plan <plan>', 'its plan').choices(PLAN_IDS).default('free'))
    .action((given: NewOrganization) => run((deps) => create(deps, given)));
  organization
    .command('list')
    .description('all organizations with their units')
    .action(() => run(list));
  organization
    .command('plan')
    .description('change the plan of an organization; counts from its next request')
    .argument('<id>', 'the organization')
    .argument('<plan>', PLAN_IDS.join(', '))
    .action((id: string, plan: string) => run((deps) => changePlan(deps, id, plan)));
  organization
    .command('handle')
    .description('give an organization the name in the addresses of its saved queries, for good')
    .argument('<id>', 'the organization')
    .argument(
      '<handle>',
      `${HANDLE_MIN_CHARS} to ${HANDLE_MAX_CHARS} lower-case letters, digits and single hyphens`,
    )
    .action((id: string, handle: string) => run((deps) => giveHandle(deps, id, handle)));
}

async function create(
  { store, nowMs }: AdminDeps,
  { id, name, plan }: NewOrganization,
): Promise<CommandOutput> {
  if (!ID.test(id))
    throw new UserError(
      `"${id}" cannot be an id: 1 to 64 letters, digits, ".", "_" and "-", a letter or a digit first.`,
    );
  if (name.trim() === '' || name.length > NAME_MAX_CHARS || hasInvisible(name))
    throw new UserError(`--name takes 1 to ${NAME_MAX_CHARS} visible characters.`);
  const outcome = await store.accounts.createOrganization({
    id,
    displayName: name,
    plan,
    createdAtMs: nowMs,
  });
  if (outcome === 'exists')
    throw new UserError(
      `There is an organization "${id}" already. Its plan: ${commandText(`admin organization plan ${id} ${plan}`)}`,
    );
  return {
    json: { id, display_name: name, plan, created_at: timeOf(nowMs) },
    lines: [`created ${id} (${name}), plan ${plan}`],
    asides: [`Next: ${commandText(`admin key create ${id}`)}`],
  };
}

async function list({ store }: AdminDeps): Promise<CommandOutput> {
  const organizations = [];
  for (const { id, displayName, plan, createdAtMs } of await allOrganizations(store.accounts)) {
    const units = (await store.units.balance(id)) ?? NO_UNITS;
    organizations.push({
      id,
      display_name: displayName,
      plan,
      created_at: timeOf(createdAtMs),
      ...units,
    });
  }
  const rows = organizations.map((one) => [
    one.id,
    one.display_name,
    one.plan,
    ...[one.balance, one.held, one.spent, one.granted].map(String),
  ]);
  return {
    json: { organizations },
    lines:
      rows.length === 0
        ? ['there is no organization yet']
        : columns(['id', 'name', 'plan', 'free', 'held', 'spent', 'granted'], rows),
  };
}

async function changePlan({ store }: AdminDeps, id: string, plan: string): Promise<CommandOutput> {
  const wanted = PLAN_IDS.find((known) => known === plan);
  if (wanted === undefined)
    throw new UserError(`There is no plan "${plan}". There is: ${PLAN_IDS.join(', ')}.`);
  const { plan: before } = await findOrganization(store.accounts, id);
  await store.accounts.changePlan({ organizationId: id, plan: wanted });
  return {
    json: { id, plan: wanted, plan_before: before },
    lines: [before === wanted ? `${id} has the plan ${wanted} already` : `${id}: ${before} → ${wanted}`],
  };
}

async function giveHandle({ store }: AdminDeps, id: string, handle: string): Promise<CommandOutput> {
  if (!isHandle(handle))
    throw new UserError(
      `"${handle}" cannot be a handle: ${HANDLE_MIN_CHARS} to ${HANDLE_MAX_CHARS} lower-case letters, digits and single hyphens, a letter first; names of the service are kept.`,
    );
  await findOrganization(store.accounts, id);
  const claim = { organizationId: id, handle, skeleton: skeletonOf(handle) };
  const outcome = await store.saved.claimHandle(claim);
  if (outcome === 'taken')
    throw new UserError(`"${handle}" is the handle of another organization, or looks like one.`);
  if (outcome === 'has_other') {
    const own = await store.saved.handle({ organizationId: id });
    throw new UserError(`${id} has the handle "${own?.handle}", for good.`);
  }
  return {
    json: { id, handle },
    lines: [outcome === 'replayed' ? `${id} has the handle ${handle} already` : `${id}: handle ${handle}`],
  };
}

type Accounts = ControlStore['accounts'];

const PAGE = 500;
/** Names shown when one is misspelled. */
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
