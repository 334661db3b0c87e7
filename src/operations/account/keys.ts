import { Type } from '@sinclair/typebox';
import { KEY_RIGHTS } from '../../../core/domain/key-right.ts';
import { fail } from '../../../core/errors.ts';
import { beforeParam, limitParam } from '../common-params.ts';
import { defineOperation } from '../define.ts';
import type { CallerKey, OperationDeps } from '../deps.ts';
import { type InputOf, invalid, type Param, quoted } from '../params.ts';
import { PRICES } from '../prices.ts';
import { nowText, oneOf, orNull, TimeShape } from '../shapes.ts';
import { type CLEARABLE, clearParam, KEY_LIMIT_PARAMS, RIGHTS_IN_WORDS } from './key-params.ts';
import type { AccountDeps, OwnKey, OwnKeyChange, OwnKeyEvent } from './own-account.ts';
import { keyManager, organizationScope } from './scope.ts';

/** Keys that an organization makes for its agents, each with what it may do and spend. */

/** The latest of each key. */
const HISTORY_MAX = 10;

const LIMITS = {
  manages_keys: Type.Boolean({ description: 'Whether it may make, change and revoke keys.' }),
  units_per_day: orNull(Type.Integer({ minimum: 1, description: 'Null without a budget.' })),
  operations: orNull(Type.Array(Type.String()), {
    description: 'Operations that it may call; null for all.',
  }),
  rights: Type.Array(oneOf(KEY_RIGHTS, { title: 'KeyRight' }), {
    description: `What it may do beyond reading and spending. ${RIGHTS_IN_WORDS}`,
  }),
  expires_at: orNull(TimeShape),
};

const KEY_FIELDS = {
  id: Type.String(),
  label: Type.String(),
  ...LIMITS,
  units_used_today: Type.Integer({
    minimum: 0,
    description: 'Of calls that it began this UTC day: charged, or held while they run.',
  }),
  created_at: TimeShape,
  created_by: orNull(Type.String({ description: 'The key that made it; null for the operator.' })),
  revoked_at: orNull(TimeShape),
};

const KeyShape = Type.Object(KEY_FIELDS, { title: 'AccountKey' });

const EventShape = Type.Object(
  {
    at: TimeShape,
    action: Type.String({ description: 'made, changed or revoked.' }),
    by: orNull(Type.String({ description: 'The key that did it; null for the operator.' })),
    set: Type.Partial(Type.Object({ label: Type.String(), ...LIMITS, rights: orNull(LIMITS.rights) }), {
      title: 'AccountKeyChange',
    }),
  },
  { title: 'AccountKeyEvent', description: 'What was done to a key.' },
);

const ListedKeyShape = Type.Object(
  {
    ...KEY_FIELDS,
    history: Type.Array(EventShape, {
      description: `What was done to it, newest first; the latest ${HISTORY_MAX}.`,
    }),
  },
  { title: 'ListedAccountKey' },
);

const KEY_EXAMPLE = {
  id: 'key_0b6f4c1d-9a57-4a0e-8f3c-2d1e0f9a8b7c',
  label: 'research agent',
  manages_keys: false,
  units_per_day: 200,
  operations: ['runSql', 'getSqlSchema'],
  rights: [],
  expires_at: '2026-12-31T00:00:00Z',
  units_used_today: 12,
  created_at: '2026-11-25T09:15:04Z',
  created_by: 'key_6a1e2f3d-4c5b-4697-8a89-0b1c2d3e4f50',
  revoked_at: null,
};

/** What all four have in common. */
export const listAccountKeys = defineOperation({
  id: 'listAccountKeys',
  wire: {
    path: '/account/keys',
    params: { limit: limitParam, before: beforeParam },
    output: Type.Object({
      keys: Type.Array(ListedKeyShape),
      next_before: orNull(Type.String()),
    }),
    fails: ['api_key_required'],
    paging: 'before',
  },
  words: {
    summary: 'The organization’s keys and their history',
    description:
      'A key that manages keys, and a bearer token, see all keys of the organization by id, including revoked ones; any other key sees itself. `history` says what was done to a key, when, and with which key. A key is never shown again: only its digest is stored.',
    tool: 'Keys of your organization with their limits, or your own.',
    example: {
      keys: [
        {
          ...KEY_EXAMPLE,
          history: [
            {
              at: '2026-11-25T09:15:04Z',
              action: 'made',
              by: KEY_EXAMPLE.created_by,
              set: { label: 'research agent', units_per_day: 200 },
            },
          ],
        },
      ],
      next_before: null,
    },
  },
  money: { price: PRICES.free, load: 'none' },
  run: async ({ limit, before }, { accounts: { keys } }: AccountDeps, { caller }) => {
    const of = organizationScope(caller);
    const found = await keys.list({ of, after: before ?? null, limit: limit + 1 });
    const shown = found.slice(0, limit);
    const events = await keys.events(of);
    const historyOf = (id: string) => events.filter(({ keyId }) => keyId === id).slice(0, HISTORY_MAX);
    return {
      keys: shown.map((key) => ({ ...keyAnswer(key), history: historyOf(key.id).map(eventAnswer) })),
      next_before: found.length > limit ? (shown.at(-1)?.id ?? null) : null,
    };
  },
});

function keyAnswer(key: OwnKey) {
  return {
    id: key.id,
    label: key.label,
    manages_keys: key.managesKeys,
    units_per_day: key.unitsPerDay,
    operations: key.operations === null ? null : [...key.operations],
    rights: [...key.rights],
    expires_at: timeOrNull(key.expiresAtMs),
    units_used_today: key.unitsUsedToday,
    created_at: nowText(key.createdAtMs),
    created_by: key.madeBy,
    revoked_at: timeOrNull(key.revokedAtMs),
  };
}

function eventAnswer({ atMs, action, by, change }: OwnKeyEvent) {
  const { label, expiresAtMs, unitsPerDay, operations, rights, managesKeys } = change;
  return {
    at: nowText(atMs),
    action,
    by,
    set: {
      ...(label === undefined ? {} : { label }),
      ...(expiresAtMs === undefined ? {} : { expires_at: timeOrNull(expiresAtMs) }),
      ...(unitsPerDay === undefined ? {} : { units_per_day: unitsPerDay }),
      ...(operations === undefined ? {} : { operations: operations && [...operations] }),
      ...(rights === undefined ? {} : { rights: rights && [...rights] }),
      ...(managesKeys === undefined ? {} : { manages_keys: managesKeys }),
    },
  };
}

function timeOrNull(atMs: number | null): string | null {
  return atMs === null ? null : nowText(atMs);
}

type SentLimits = InputOf<typeof KEY_LIMIT_PARAMS> & {
  readonly clear?: readonly (typeof CLEARABLE)[number][] | undefined;
};

/** What was sent, as the account takes it. Refuses what the caller's own key may not hand on. */
function changeOf(
  sent: SentLimits,
  by: CallerKey,
  { deployment, clock }: Pick<OperationDeps, 'deployment' | 'clock'>,
): OwnKeyChange {
  const { label, operations, manages_keys: managesKeys, clear = [] } = sent;
  const twice = clear.find((limit) => sent[limit] !== undefined);
  if (twice !== undefined) throw invalid('clear', `${twice} is both set and taken away.`);
  const { unitsPerDay, expiresAtMs } = { unitsPerDay: sent.units_per_day, expiresAtMs: sent.expires_at };
  const known = deployment.priceList.map(({ id }) => id);
  const unknown = operations?.find((id) => !known.includes(id));
  if (unknown !== undefined)
    throw invalid('operations', `There is no operation ${quoted(unknown)}. Operations: ${known.join(', ')}.`);
  if (expiresAtMs !== undefined && expiresAtMs <= clock.nowMs())
    throw invalid('expires_at', 'expires_at is not in the future. Revoke a key to end it now.');
  if (by.expiresAtMs !== null) {
    const outlives = clear.includes('expires_at') || (expiresAtMs ?? 0) > by.expiresAtMs;
    if (outlives || managesKeys === true)
      throw fail('key_restricted', {
        detail: `The key that was sent expires at ${nowText(by.expiresAtMs)}: it can make no key that is valid for longer, and none that manages keys.`,
      });
  }
  return {
    ...(label === undefined ? {} : { label }),
    ...setOrCleared('unitsPerDay', unitsPerDay, clear.includes('units_per_day')),
    ...setOrCleared('operations', operations, clear.includes('operations')),
    ...setOrCleared('rights', sent.rights, clear.includes('rights')),
    ...setOrCleared('expiresAtMs', expiresAtMs, clear.includes('expires_at')),
    ...(managesKeys === undefined ? {} : { managesKeys }),
  };
}

function setOrCleared<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
  isCleared: boolean,
): { readonly [N in Name]?: Value | null } {
  if (isCleared) return { [name]: null } as { readonly [N in Name]?: null }; // of that one name
  return value === undefined ? {} : ({ [name]: value } as { readonly [N in Name]?: Value });
}

const FAILS_OF_CHANGES = ['api_key_required', 'key_restricted'] as const;

export const makeAccountKey = defineOperation({
  id: 'makeAccountKey',
  wire: {
    method: 'POST',
    path: '/account/keys',
    params: { ...KEY_LIMIT_PARAMS, label: { ...KEY_LIMIT_PARAMS.label, required: true } },
    output: Type.Object({
      api_key: Type.String({ description: 'Keep it: only its digest is stored.' }),
      key: KeyShape,
    }),
    fails: FAILS_OF_CHANGES,
    status: 201,
  },
  words: {
    summary: 'Create a key for an agent',
    description:
      'Needs a key that manages keys. The new key uses the organization’s units, up to its own daily budget (UTC): a call beyond it is refused with `key_budget_exhausted`. The key may call only the named operations, and only until it expires. It is shown once.',
    tool: 'Make a key with limits, shown once.',
    example: { api_key: 'six_live_…', key: { ...KEY_EXAMPLE, units_used_today: 0 } },
  },
  money: { price: PRICES.free, load: 'none' },
  access: { changes: 'adds' },
  check: (input) => {
    if (input.label === undefined) throw invalid('label', 'label is missing: what the key is for.');
    return input;
  },
  run: async (input, deps: AccountDeps, { caller }) => {
    const manager = keyManager(caller);
    const all = {
      label: '',
      expiresAtMs: manager.by.expiresAtMs,
      unitsPerDay: null,
      operations: null,
      rights: null,
      managesKeys: false,
      ...changeOf(input, manager.by, deps),
    };
    const { apiKey, key } = await deps.accounts.keys.make({ ...manager, ...all });
    return { api_key: apiKey, key: keyAnswer(key) };
  },
});

const keyParam: Param<string> = {
  in: 'path',
  description: 'Id of the key, as the list has it.',
  toolText: 'Its id.',
  required: true,
  schema: Type.String({ maxLength: 100 }),
  example: KEY_EXAMPLE.id,
  read: (raw, name) => {
    if (typeof raw === 'string' && /^[\w-]{1,100}$/.test(raw)) return raw;
    throw invalid(name, `${name} must be the id of a key, key_…, not ${quoted(raw)}.`);
  },
};

export const changeAccountKey = defineOperation({
  id: 'changeAccountKey',
  wire: {
    method: 'PATCH',
    path: '/account/keys/{key}',
    params: { key: keyParam, ...KEY_LIMIT_PARAMS, clear: clearParam },
    output: Type.Object({ key: KeyShape }),
    fails: [...FAILS_OF_CHANGES, 'key_not_found'],
  },
  words: {
    summary: 'Change the limits of a key',
    description:
      'Needs a key that manages keys. Limits that are not sent stay as they are; `clear` removes limits. The change applies from the key’s next call; what the key has already used today counts against the new budget.',
    tool: 'Change limits of a key.',
    example: { key: KEY_EXAMPLE },
  },
  money: { price: PRICES.free, load: 'none' },
  access: { changes: 'replaces' },
  run: async ({ key: keyId, ...sent }, deps: AccountDeps, { caller }) => {
    const manager = keyManager(caller);
    const set = changeOf(sent, manager.by, deps);
    if (Object.keys(set).length === 0)
      throw fail('malformed_request', { detail: 'The body changes nothing: send at least one field.' });
    return { key: keyAnswer(await deps.accounts.keys.change({ ...manager, keyId, set })) };
  },
});

export const revokeAccountKey = defineOperation({
  id: 'revokeAccountKey',
  wire: {
    method: 'DELETE',
    path: '/account/keys/{key}',
    params: { key: keyParam },
    output: Type.Object({ id: Type.String(), was_revoked: Type.Boolean() }),
    fails: [...FAILS_OF_CHANGES, 'key_not_found'],
  },
  words: {
    summary: 'Revoke a key',
    description:
      'Needs a key that manages keys; such a key may revoke itself. The revoked key is refused from its next call; a call that is running is finished. `was_revoked` says whether it was revoked before.',
    tool: 'Revoke a key at once.',
    example: { id: KEY_EXAMPLE.id, was_revoked: false },
  },
  money: { price: PRICES.free, load: 'none' },
  access: { changes: 'removes' },
  run: async ({ key: keyId }, { accounts }: AccountDeps, { caller }) => {
    const revoked = await accounts.keys.revoke({ ...keyManager(caller), keyId });
    return { id: keyId, was_revoked: revoked === null };
  },
});
