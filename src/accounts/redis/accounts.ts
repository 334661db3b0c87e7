import type { KeyDigest } from '../../../core/domain/caller.ts';
import { KEY_RIGHTS } from '../../../core/domain/key-right.ts';
import { PLAN_IDS } from '../../../core/domain/plan.ts';
import {
  type AccountStore,
  KEY_EVENTS_KEPT,
  KEYS_OF_ORGANIZATION_MAX,
  type KeyChange,
  type KeyEvent,
  type KeyRecord,
  keyMade,
  type Organization,
} from '../account-store.ts';
import { fieldsOf, listOf, nullable, numberOf, oneOf, type RedisConnection, textOf } from './connection.ts';
import type { Names } from './layout.ts';

export function redisAccounts(redis: RedisConnection, names: Names): AccountStore {
  return {
    createOrganization: async ({ id, displayName, plan, createdAtMs }) => {
      const keys = [names.organization(id), names.organizations];
      const outcome = await redis.script('createOrganization', keys, [id, displayName, plan, createdAtMs]);
      return oneOf(['created', 'exists'], outcome);
    },
    changePlan: async ({ organizationId, plan }) => {
      const outcome = await redis.script('changePlan', [names.organization(organizationId)], [plan]);
      return oneOf(['changed', 'unknown'], outcome);
    },
    findOrganization: (id) => findOrganization(redis, names, id),
    listOrganizations: async ({ after, limit }) => {
      const ids = await idsAfter(redis, names.organizations, after, limit);
      const found = await Promise.all(ids.map((id) => findOrganization(redis, names, id)));
      return found.filter((organization) => organization !== null);
    },
    addKey: async (key) => {
      const { organizationId } = key;
      const owner =
        organizationId === null ? [] : [names.organization(organizationId), names.keyEvents(organizationId)];
      const list = organizationId === null ? names.trialKeys : names.keysOf(organizationId);
      const keys = [names.key(key.id), names.keyDigests, list, ...owner];
      const record = [JSON.stringify(keyMade(key)), KEY_EVENTS_KEPT];
      const values = [key.id, key.digest, KEYS_OF_ORGANIZATION_MAX, ...record, ...encodeKey(key)];
      const outcome = await redis.script('addKey', keys, values);
      return oneOf(['added', 'exists', 'unknown_organization', 'too_many'], outcome);
    },
    changeKey: async ({ keyId, organizationId, set, by, atMs }) => {
      const event: KeyEvent = { atMs, action: 'changed', keyId, by, change: set };
      const keys = [names.key(keyId), names.keyEvents(organizationId)];
      const values = [organizationId, atMs, JSON.stringify(event), KEY_EVENTS_KEPT, ...encodeChange(set)];
      const outcome = oneOf(
        ['changed', 'revoked', 'not_both', 'unknown'],
        await redis.script('changeKey', keys, values),
      );
      return { outcome, key: outcome === 'unknown' ? null : await readKey(redis, names, keyId) };
    },
    revokeKey: async ({ keyId, atMs, organizationId, by = null }) => {
      const event: KeyEvent = { atMs, action: 'revoked', keyId, by, change: {} };
      const owner = organizationId === undefined ? '-' : `=${organizationId}`;
      const values = [atMs, owner, names.keyEvents(''), JSON.stringify(event), KEY_EVENTS_KEPT];
      const outcome = await redis.script('revokeKey', [names.key(keyId)], values);
      return oneOf(['revoked', 'was_revoked', 'unknown'], outcome);
    },
    keyEvents: async ({ organizationId, limit }) => {
      const list = names.keyEvents(organizationId);
      const events = await redis.run((client) => client.lrange(list, -limit, -1));
      return events.reverse().map((event) => JSON.parse(event) as KeyEvent); // written from one
    },
    listKeys: async ({ organizationId, after, limit }) => {
      const list = organizationId === null ? names.trialKeys : names.keysOf(organizationId);
      const ids = await idsAfter(redis, list, after, limit);
      return await Promise.all(ids.map((id) => readKey(redis, names, id)));
    },
    findKey: async (digest) => {
      const starts = [names.key(''), names.organization('')];
      const answer = await redis.script('readKey', [names.keyDigests], [digest, ...starts]);
      if (answer === null) return null;
      const [id, fields, organization] = listOf(answer);
      const key = decodeKey(textOf(id), fieldsOf(fields));
      return { key, organization: decodeOrganization(key.organizationId, organization) };
    },
  };
}

async function readKey(redis: RedisConnection, names: Names, id: string): Promise<KeyRecord> {
  const fields = await redis.run((client) => client.hgetall(names.key(id)));
  return decodeKey(id, new Map(Object.entries(fields)));
}

async function findOrganization(
  redis: RedisConnection,
  names: Names,
  id: string,
): Promise<Organization | null> {
  const name = names.organization(id);
  const fields = await redis.run((client) => client.hmget(name, 'displayName', 'plan', 'createdAtMs'));
  return decodeOrganization(id, fields);
}

/** Null for a key without an organization, and for an organization that is not there. */
function decodeOrganization(id: string | null, fields: unknown): Organization | null {
  const [displayName, plan, createdAtMs] = listOf(fields);
  if (id === null || displayName == null) return null;
  return {
    id,
    displayName: textOf(displayName),
    plan: oneOf(PLAN_IDS, plan),
    createdAtMs: numberOf(createdAtMs),
  };
}

/** Ids in the order of their bytes; all have the score 0. */
async function idsAfter(
  redis: RedisConnection,
  name: string,
  after: string | null,
  limit: number,
): Promise<readonly string[]> {
  const min = after === null ? '-' : `(${after}`;
  return await redis.run((client) => client.zrangebylex(name, min, '+', 'LIMIT', 0, limit));
}

/** The fields of a key and their values in turn; a field that is null is left out. */
export function encodeKey(key: KeyRecord): readonly (string | number)[] {
  const fields = {
    digest: key.digest,
    kind: key.kind,
    organizationId: key.organizationId,
    label: key.label,
    createdAtMs: key.createdAtMs,
    expiresAtMs: key.expiresAtMs,
    revokedAtMs: key.revokedAtMs,
    managesKeys: key.limits === undefined ? null : Number(key.limits.managesKeys),
    unitsPerDay: key.limits?.unitsPerDay ?? null,
    operations: key.limits?.operations ? JSON.stringify(key.limits.operations) : null,
    rights: key.limits?.rights ? JSON.stringify(key.limits.rights) : null,
    madeBy: key.limits?.madeBy ?? null,
  };
  return Object.entries(fields).flatMap(([field, value]) => (value === null ? [] : [field, value]));
}

/** Fields and what becomes of them, in turn, as change-key.lua reads them. */
function encodeChange(set: KeyChange): readonly string[] {
  const { managesKeys, operations, rights, ...plain } = set;
  const fields = {
    ...plain,
    ...(managesKeys === undefined ? {} : { managesKeys: Number(managesKeys) }),
    ...(operations === undefined ? {} : { operations: operations && JSON.stringify(operations) }),
    ...(rights === undefined ? {} : { rights: rights && JSON.stringify(rights) }),
  };
  return Object.entries(fields).flatMap(([field, value]) => [field, value === null ? '-' : `=${value}`]);
}

function decodeLimits(fields: ReadonlyMap<string, string>): Pick<KeyRecord, 'limits' | 'used'> {
  const managesKeys = fields.get('managesKeys');
  const operations = fields.get('operations');
  const rights = fields.get('rights');
  const usedDay = fields.get('usedDay');
  const limits = {
    managesKeys: managesKeys === '1',
    unitsPerDay: nullable(numberOf, fields.get('unitsPerDay')),
    operations: operations === undefined ? null : listOf(JSON.parse(operations)).map(textOf),
    madeBy: nullable(textOf, fields.get('madeBy')),
    ...(rights === undefined
      ? {}
      : { rights: listOf(JSON.parse(rights)).map((right) => oneOf(KEY_RIGHTS, right)) }),
  };
  const used = { day: Number(usedDay), units: numberOf(fields.get('usedUnits') ?? '0') };
  return { ...(managesKeys === undefined ? {} : { limits }), ...(usedDay === undefined ? {} : { used }) };
}

function decodeKey(id: string, fields: ReadonlyMap<string, string>): KeyRecord {
  return {
    id,
    // A digest went in, so a digest comes out.
    digest: textOf(fields.get('digest')) as KeyDigest,
    kind: oneOf(['live', 'trial'], fields.get('kind')),
    organizationId: nullable(textOf, fields.get('organizationId')),
    label: textOf(fields.get('label')),
    createdAtMs: numberOf(fields.get('createdAtMs')),
    expiresAtMs: nullable(numberOf, fields.get('expiresAtMs')),
    revokedAtMs: nullable(numberOf, fields.get('revokedAtMs')),
    ...decodeLimits(fields),
  };
}
