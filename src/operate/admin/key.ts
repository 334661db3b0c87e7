import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { commandText } from '../../../core/command-text.ts';
import { keyDigest, mintApiKey } from '../../../core/domain/caller.ts';
import { hasInvisible } from '../../../core/domain/display-text.ts';
import { KEY_RIGHTS, type KeyRight } from '../../../core/domain/key-right.ts';
import { UserError } from '../../../core/user-error.ts';

import { type KeyLimits, type KeyRecord, NO_KEY_LIMITS } from '../../accounts/account-store.ts';
import {
  type AdminDeps,
  type CommandOutput,
  columns,
  type RunAdmin,
  timeOf,
  timeOrNull,
  wholeNumber,
} from './command-output.ts';
import { allOrganizations, findOrganization, readAll } from './organization.ts';

/** `admin key create | list | rotate | revoke`. A key in the clear is printed once, on stdout, and written nowhere. */

const DAY_MS = 86_400_000;
const EXPIRES_DAYS_MAX = 36_500;
const LABEL_MAX_CHARS = 200;
const HOUR_MS = 3_600_000;
/** Time for the holder of the key to replace it with the new one. */
const OVERLAP_HOURS = 24;
const OVERLAP_HOURS_MAX = 24 * 90;

interface NewKey {
  readonly label: string;
  readonly expiresDays?: string;
  readonly unitsPerDay?: string;
  readonly rights?: string;
}

export function addKeyCommands(admin: Command, run: RunAdmin): void {
  const key = admin.command('key').description('API keys');
  key
    .command('create')
    .description('make a key and print it, this once')
    .argument('<organization>', 'whose units it spends')
    .option('--label <text>', 'what it is for, shown in lists', '')
    .option('--expires-days <days>', 'refused after so many days (default: never)')
    .option(
      '--units-per-day <units>',
      'Query Units that it may use on a UTC day (default: no budget); it then manages no keys',
    )
    .option(
      '--rights <list>',
      `some of ${KEY_RIGHTS.join(',')}, or none (default: none for a key that expires or has a budget, all for any other)`,
    )
    .action((organization: string, given: NewKey) => run((deps) => create(deps, organization, given)));
  key
    .command('list')
    .description('keys of one or of all organizations, or trial keys; never the keys themselves')
    .argument('[organization]', 'only its keys')
    .option('--trial', 'keys that were bought at /test/x402')
    .action((organization: string | undefined, { trial = false }: { readonly trial?: boolean }) =>
      run((deps) => list(deps, organization, trial)),
    );
  key
    .command('rotate')
    .description('make a key like another and print it, this once; the other one is good for a while yet')
    .argument('<key id>', 'key_… of the list')
    .option('--overlap-hours <hours>', 'how long the old key is still good', String(OVERLAP_HOURS))
    .action((keyId: string, given: { readonly overlapHours: string }) =>
      run((deps) => rotate(deps, keyId, given.overlapHours)),
    );
  key
    .command('revoke')
    .description('refuse a key from its next request on')
    .argument('<key id>', 'key_… of the list')
    .action((keyId: string) => run((deps) => revoke(deps, keyId)));
}

async function create(deps: AdminDeps, organization: string, given: NewKey): Promise<CommandOutput> {
  const { store, nowMs } = deps;
  const { label } = given;
  if (label.length > LABEL_MAX_CHARS || hasInvisible(label))
    throw new UserError(`--label takes at most ${LABEL_MAX_CHARS} visible characters.`);
  const days =
    given.expiresDays === undefined
      ? null
      : wholeNumber('--expires-days', given.expiresDays, { min: 1, max: EXPIRES_DAYS_MAX });
  const { id: organizationId } = await findOrganization(store.accounts, organization);
  const expiresAtMs = days === null ? null : nowMs + days * DAY_MS;
  return addKey(deps, { organizationId, label, expiresAtMs, ...limitsOf(given) });
}

const UNITS_PER_DAY_MAX = 1_000_000_000;

/** Absent for a key without any. */
function limitsOf({ unitsPerDay: sent, rights: named }: NewKey): { readonly limits?: KeyLimits } {
  if (sent === undefined && named === undefined) return {};
  const unitsPerDay =
    sent === undefined ? null : wholeNumber('--units-per-day', sent, { min: 1, max: UNITS_PER_DAY_MAX });
  const rights = named === undefined ? null : rightsNamed(named);
  return { limits: { ...NO_KEY_LIMITS, managesKeys: unitsPerDay === null, unitsPerDay, rights } };
}

function rightsNamed(text: string): readonly KeyRight[] {
  const names = text === 'none' ? [] : text.split(',');
  const rights = KEY_RIGHTS.filter((right) => names.includes(right));
  if (rights.length === names.length) return rights;
  throw new UserError(`--rights takes some of ${KEY_RIGHTS.join(',')}, each once, or none.`);
}

async function addKey(
  { store, nowMs }: AdminDeps,
  {
    organizationId,
    label,
    expiresAtMs,
    limits,
  }: Pick<KeyRecord, 'label' | 'expiresAtMs' | 'limits'> & { organizationId: string },
): Promise<CommandOutput> {
  const apiKey = mintApiKey('live');
  const record: KeyRecord = {
    id: `key_${randomUUID().replaceAll('-', '')}`,
    digest: keyDigest(apiKey),
    kind: 'live',
    organizationId,
    label,
    createdAtMs: nowMs,
    expiresAtMs,
    revokedAtMs: null,
    ...(limits === undefined ? {} : { limits }),
  };
  const outcome = await store.accounts.addKey(record);
  if (outcome !== 'added') throw new Error(`a new key of an organization just read is ${outcome}`);
  return {
    json: { api_key: apiKey, ...shown(record, nowMs) },
    lines: [apiKey],
    asides: [
      `This key (${record.id}) of ${organizationId} is shown once and stored nowhere: keep it now. Anyone who has it can spend the units of ${organizationId}.`,
    ],
  };
}

/** A key as lists show it. */
function shown(
  { id, kind, organizationId, label, createdAtMs, expiresAtMs, revokedAtMs }: KeyRecord,
  nowMs: number,
) {
  return {
    id,
    kind,
    organization: organizationId,
    label,
    state: stateOf({ expiresAtMs, revokedAtMs }, nowMs),
    created_at: timeOf(createdAtMs),
    expires_at: timeOrNull(expiresAtMs),
    revoked_at: timeOrNull(revokedAtMs),
  };
}

function stateOf(
  { expiresAtMs, revokedAtMs }: Pick<KeyRecord, 'expiresAtMs' | 'revokedAtMs'>,
  nowMs: number,
) {
  if (revokedAtMs !== null) return revokedAtMs <= nowMs ? 'revoked' : 'retiring';
  return expiresAtMs !== null && expiresAtMs <= nowMs ? 'expired' : 'valid';
}

async function list(
  deps: AdminDeps,
  organization: string | undefined,
  trial: boolean,
): Promise<CommandOutput> {
  if (trial && organization !== undefined)
    throw new UserError('A trial key has no organization: give --trial or an organization, not both.');
  const keys = [];
  for (const organizationId of await owners(deps, organization, trial)) {
    const page = (after: string | null, limit: number) =>
      deps.store.accounts.listKeys({ organizationId, after, limit });
    keys.push(...(await readAll(page)));
  }
  const listed = keys.map((key) => shown(key, deps.nowMs));
  const rows = listed.map((key) => [
    key.id,
    key.organization ?? '(trial)',
    key.state,
    key.created_at,
    key.expires_at ?? 'never',
    key.label,
  ]);
  return {
    json: { keys: listed },
    lines:
      rows.length === 0
        ? ['there is no such key']
        : columns(['id', 'organization', 'state', 'created', 'expires', 'label'], rows),
  };
}

async function owners(
  { store }: AdminDeps,
  organization: string | undefined,
  trial: boolean,
): Promise<readonly (string | null)[]> {
  if (trial) return [null];
  if (organization !== undefined) return [(await findOrganization(store.accounts, organization)).id];
  return (await allOrganizations(store.accounts)).map(({ id }) => id);
}

/** The new key first: a rotation that is cut off leaves two good keys, never none. */
async function rotate(deps: AdminDeps, keyId: string, overlap: string): Promise<CommandOutput> {
  checkKeyId(keyId);
  const hours = wholeNumber('--overlap-hours', overlap, { min: 0, max: OVERLAP_HOURS_MAX });
  const old = await findLive(deps, keyId);
  const lifeMs = old.expiresAtMs === null ? null : old.expiresAtMs - old.createdAtMs;
  const expiresAtMs = lifeMs === null ? null : deps.nowMs + lifeMs;
  const { organizationId, label, limits } = old;
  const same = limits === undefined ? {} : { limits };
  const made = await addKey(deps, { organizationId, label, expiresAtMs, ...same });
  const endsAtMs = deps.nowMs + hours * HOUR_MS;
  await deps.store.accounts.revokeKey({ keyId, atMs: endsAtMs });
  return {
    ...made,
    json: { ...made.json, replaces: keyId, replaced_until: timeOf(endsAtMs) },
    asides: [...(made.asides ?? []), `${keyId} is good until ${timeOf(endsAtMs)}.`],
  };
}

/** A key that calls can be made with now, of an organization. */
async function findLive(
  { store, nowMs }: AdminDeps,
  keyId: string,
): Promise<KeyRecord & { readonly organizationId: string }> {
  for (const { id: organizationId } of await allOrganizations(store.accounts)) {
    const keys = await readAll((after, limit) => store.accounts.listKeys({ organizationId, after, limit }));
    const found = keys.find(({ id }) => id === keyId);
    if (found === undefined) continue;
    const state = stateOf(found, nowMs);
    if (state === 'valid') return { ...found, organizationId };
    throw new UserError(`${keyId} is ${state}: make a new key with ${commandText('admin key create')}`);
  }
  throw new UserError(
    `There is no key ${keyId} of an organization. Their ids: ${commandText('admin key list')}`,
  );
}

/** A key given in place of its id must not be echoed: it may be valid. */
function checkKeyId(keyId: string): void {
  if (!keyId.startsWith('key_'))
    throw new UserError(
      `Give the id of a key (key_…), never the key itself: ${commandText('admin key list')}`,
    );
}

async function revoke({ store, nowMs }: AdminDeps, keyId: string): Promise<CommandOutput> {
  checkKeyId(keyId);
  const outcome = await store.accounts.revokeKey({ keyId, atMs: nowMs });
  if (outcome === 'unknown')
    throw new UserError(`There is no key ${keyId}. Their ids: ${commandText('admin key list')} [--trial]`);
  return {
    json: { id: keyId, outcome },
    lines: [outcome === 'revoked' ? `${keyId} is revoked` : `${keyId} was revoked before; nothing changed`],
  };
}
