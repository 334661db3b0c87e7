import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { UNITS_MAX } from '../../../core/domain/plan.ts';
import { UserError } from '../../../core/user-error.ts';

import type { LedgerEntry } from '../../accounts/unit-store.ts';
import {
  type AdminDeps,
  type CommandOutput,
  columns,
  type RunAdmin,
  timeOf,
  wholeNumber,
} from './command-output.ts';
import { findOrganization } from './organization.ts';

/** `admin grant` and `admin ledger`. */

const LEDGER_LIMIT_MAX = 1_000;
const LEDGER_LIMIT = 100;
/** Names of the sweeper's own grants: an operator's grant under one of these names would take a month's units away. */
const MONTHLY_PREFIX = 'monthly:';

interface GivenGrant {
  readonly note: string;
  readonly grantId?: string;
}

interface GivenPage {
  readonly after: string;
  readonly limit: string;
}

export function addUnitCommands(admin: Command, run: RunAdmin): void {
  admin
    .command('grant')
    .description('add Query Units to an organization')
    .argument('<organization>')
    .argument('<units>')
    .requiredOption('--note <text>', 'why, for the ledger')
    .option('--grant-id <id>', 'a name of this grant: repeated with it, the command adds nothing again')
    .action((organization: string, units: string, given: GivenGrant) =>
      run((deps) => grant(deps, { organization, units, ...given })),
    );
  admin
    .command('ledger')
    .description('every change of an organization’s units, oldest first')
    .argument('<organization>')
    .option('--after <sequence>', 'only those after this one', '0')
    .option('--limit <rows>', 'at most so many', String(LEDGER_LIMIT))
    .action((organization: string, given: GivenPage) => run((deps) => ledger(deps, organization, given)));
}

async function grant(
  { store, nowMs }: AdminDeps,
  given: GivenGrant & { readonly organization: string; readonly units: string },
): Promise<CommandOutput> {
  const { organization, note, grantId = `grant_${randomUUID()}` } = given;
  const units = wholeNumber('<units>', given.units, { min: 1, max: UNITS_MAX });
  if (grantId === '' || grantId.startsWith(MONTHLY_PREFIX))
    throw new UserError(
      `--grant-id cannot begin with "${MONTHLY_PREFIX}": such names are the service’s own.`,
    );
  if (note.trim() === '') throw new UserError('--note says why the units are granted; it cannot be empty.');
  const { id: organizationId } = await findOrganization(store.accounts, organization);
  const { outcome, balance } = await store.units.grant({ organizationId, grantId, units, note, atMs: nowMs });
  if (outcome === 'too_large')
    throw new UserError(
      `All grants of an organization together are at most ${UNITS_MAX} units; ${organizationId} has had ${balance.granted}.`,
    );
  if (outcome === 'unknown') throw new Error('an organization just read is unknown');
  const wasNew = outcome === 'granted';
  return {
    json: { organization: organizationId, grant_id: grantId, outcome, units: wasNew ? units : 0, ...balance },
    lines: [
      wasNew
        ? `granted ${units} QU to ${organizationId} as ${grantId}: ${balance.balance} free now`
        : `the grant ${grantId} was made before; nothing was added: ${balance.balance} free`,
    ],
  };
}

async function ledger({ store }: AdminDeps, organization: string, given: GivenPage): Promise<CommandOutput> {
  const after = wholeNumber('--after', given.after, { min: 0, max: Number.MAX_SAFE_INTEGER });
  const limit = wholeNumber('--limit', given.limit, { min: 1, max: LEDGER_LIMIT_MAX });
  const { id: organizationId } = await findOrganization(store.accounts, organization);
  const entries = await store.units.ledger({ organizationId, after, limit });
  const last = entries.length < limit ? undefined : entries.at(-1)?.sequence;
  return {
    json: { organization: organizationId, entries: entries.map(shown), next_after: last ?? null },
    lines: [
      ...columns(
        ['sequence', 'time', 'kind', 'units', 'released', 'free', 'held', 'subject', 'note'],
        entries.map((entry) => Object.values(shown(entry)).map(String)),
      ),
      ...(last === undefined ? [] : [`more: --after ${last}`]),
    ],
  };
}

function shown({ sequence, atMs, kind, units, released, balance, held, subject, note }: LedgerEntry) {
  return { sequence, at: timeOf(atMs), kind, units, released, balance, held, subject, note };
}
