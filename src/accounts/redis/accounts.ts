import type { KeyDigest } from '../../../core/domain/caller.ts';
import { PLAN_IDS } from '../../../core/domain/plan.ts';
import type { AccountStore, Credential, KeyRecord, Organization } from '../store.ts';
import type { RedisConnection } from './connection.ts';
import { listOf, numberOf, oneOf, textOf } from './decode.ts';
import { decodeKey, encodeKey, encodeRevocation, type KeyRegistry } from './key-registry.ts';
import { type Home, keyHome, organizationHome, type Slots } from './slots.ts';

/** How many keys this process remembers the home of: some 20 MB at most. */
const HOMES_MAX = 50_000;

interface Parts {
  readonly redis: RedisConnection;
  readonly slots: Slots;
  readonly registry: KeyRegistry;
}

export function redisAccounts(parts: Parts): AccountStore {
  const { redis, slots, registry } = parts;
  const findKey = keyFinder(parts);
  return {
    createOrganization: async (organization) => {
      // On the list first: the list may name an organization that was never made, and readers pass over it. The other order
      // could leave one that no list and no sweeper ever sees.
      await redis.run((client) => client.zadd(slots.organizations, 0, organization.id));
      const { displayName, plan, createdAtMs } = organization;
      const profile = slots.profile(organizationHome(organization.id));
      const outcome = await redis.script('createOrganization', [profile], [displayName, plan, createdAtMs]);
      return oneOf(['created', 'exists'], outcome);
    },
    changePlan: async ({ organizationId, plan }) => {
      const profile = slots.profile(organizationHome(organizationId));
      return oneOf(['changed', 'unknown'], await redis.script('changePlan', [profile], [plan]));
    },
    findOrganization: (id) => findOrganization(parts, id),
    listOrganizations: (page) =>
      fillPage(page, {
        idsAfter: (after, limit) => idsAfter(redis, slots.organizations, after, limit),
        find: (id) => findOrganization(parts, id),
      }),
    addKey: (key) => addKey(parts, key),
    revokeKey: async ({ keyId, atMs }) => {
      const home = await registry.homeOfId(keyId);
      if (home === null) return 'unknown';
      const keys = [slots.keys(home), slots.revoked(home)];
      return oneOf(
        ['revoked', 'was_revoked', 'unknown'],
        await redis.script('revokeKey', keys, [keyId, atMs]),
      );
    },
    listKeys: async ({ organizationId, after, limit }) => {
      if (organizationId === null) {
        return await fillPage(
          { after, limit },
          {
            idsAfter: (last, count) => idsAfter(redis, slots.trialKeyIds, last, count),
            find: (keyId) => findTrialKey(registry, keyId),
          },
        );
      }
      const home = organizationHome(organizationId);
      return await registry.records(home, await idsAfter(redis, slots.keyIds(home), after, limit));
    },
    findKey,
  };
}

/**
 * Looks a digest up in one round trip when this process has seen the key before, in two otherwise. What is remembered is only
 * where the key lives, which never changes; the record, its revocation and the plan are read afresh every time.
 */
function keyFinder({ redis, slots, registry }: Parts): AccountStore['findKey'] {
  const homes = new Map<KeyDigest, Home>();
  const readAt = async (digest: KeyDigest, home: Home): Promise<Credential | null> => {
    const keys = [slots.keys(home), slots.digests(home), slots.revoked(home), slots.profile(home)];
    const answer = await redis.script('readKey', keys, [digest]);
    if (answer === null) return null;
    const [record, revokedAt, profile] = listOf(answer);
    const key = decodeKey(record, revokedAt);
    return { key, organization: decodeOrganization(key.organizationId, profile) };
  };

  return async (digest) => {
    const known = homes.get(digest);
    const remembered = known === undefined ? null : await readAt(digest, known);
    if (remembered !== null) return remembered;
    const home = await registry.homeOfDigest(digest);
    const credential = home === null ? null : await readAt(digest, home);
    if (home !== null && credential !== null) remember(homes, digest, home);
    return credential;
  };
}

/** Forgets the oldest when full: a Map keeps the order of insertion. */
function remember(homes: Map<KeyDigest, Home>, digest: KeyDigest, home: Home): void {
  if (homes.size >= HOMES_MAX) {
    const [oldest] = homes.keys();
    if (oldest !== undefined) homes.delete(oldest);
  }
  homes.set(digest, home);
}

async function addKey(
  { redis, slots, registry }: Parts,
  key: KeyRecord,
): Promise<'added' | 'exists' | 'unknown_organization'> {
  const home = key.organizationId === null ? keyHome(key.digest) : organizationHome(key.organizationId);
  // Organizations are never removed, so one that is there stays there.
  if (key.organizationId !== null && !(await isThere(redis, slots.profile(home))))
    return 'unknown_organization';
  if ((await registry.claim(key, home)) === 'exists') return 'exists';
  if (key.organizationId === null) await listTrialKey(redis, slots, key.id);
  const keys = [slots.keys(home), slots.digests(home), slots.revoked(home), slots.keyIds(home)];
  const values = [key.id, key.digest, encodeKey(key), encodeRevocation(key)];
  const outcome = await redis.script('addKey', keys, values);
  return oneOf(['added', 'exists'], outcome);
}

/** Before the key itself: a name on the list without a key is passed over, a key without a name on it could not be found. */
export async function listTrialKey(redis: RedisConnection, slots: Slots, keyId: string): Promise<void> {
  await redis.run((client) => client.zadd(slots.trialKeyIds, 0, keyId));
}

async function findTrialKey(registry: KeyRegistry, keyId: string): Promise<KeyRecord | null> {
  const home = await registry.homeOfId(keyId);
  if (home === null) return null;
  const [record] = await registry.records(home, [keyId]);
  // The id may have been listed by a call that failed, and taken by a key of an organization since.
  return record?.organizationId === null ? record : null;
}

async function findOrganization({ redis, slots }: Parts, id: string): Promise<Organization | null> {
  const profile = slots.profile(organizationHome(id));
  return decodeOrganization(
    id,
    await redis.run((client) => client.hmget(profile, 'displayName', 'plan', 'createdAtMs')),
  );
}

/** Null when no organization is asked for, and for one that is not there. */
function decodeOrganization(id: string | null, profile: unknown): Organization | null {
  const [displayName, plan, createdAtMs] = listOf(profile);
  if (id === null || displayName === null) return null;
  return {
    id,
    displayName: textOf(displayName),
    plan: oneOf(PLAN_IDS, plan),
    createdAtMs: numberOf(createdAtMs),
  };
}

async function isThere(redis: RedisConnection, name: string): Promise<boolean> {
  return (await redis.run((client) => client.exists(name))) === 1;
}

/** Ids in the order of their bytes; all have the score 0. */
export async function idsAfter(
  redis: RedisConnection,
  name: string,
  after: string | null,
  limit: number,
): Promise<readonly string[]> {
  const min = after === null ? '-' : `(${after}`;
  return await redis.run((client) => client.zrangebylex(name, min, '+', 'LIMIT', 0, limit));
}

/** A page of what the ids stand for. Ids of what was never made are passed over, and the page is filled from the next ones. */
async function fillPage<T>(
  page: { readonly after: string | null; readonly limit: number },
  source: {
    idsAfter(after: string | null, limit: number): Promise<readonly string[]>;
    find(id: string): Promise<T | null>;
  },
): Promise<readonly T[]> {
  const found: T[] = [];
  let { after } = page;
  while (found.length < page.limit) {
    const wanted = page.limit - found.length;
    const ids = await source.idsAfter(after, wanted);
    const items = await Promise.all(ids.map((id) => source.find(id)));
    for (const item of items) if (item !== null) found.push(item);
    after = ids.at(-1) ?? null;
    if (ids.length < wanted) break;
  }
  return found;
}
