import { SHARE_REMEMBERED_MS, type ShareRecord, type ShareStore } from '../share-store.ts';
import { nullable, numberOf, oneOf, type RedisConnection, textOf } from './connection.ts';
import type { Names } from './layout.ts';

/** Links to kept results in Redis, which forgets them by itself. Like these results they are not part of a backup. */
export function redisShares(redis: RedisConnection, names: Names): ShareStore {
  const find = async (id: string): Promise<ShareRecord | null> => {
    const fields = await redis.run((client) => client.hgetall(names.share(id)));
    return fields['resultId'] === undefined ? null : shareOf(id, fields);
  };
  return {
    add: async ({ id, resultId, organizationId, facts, createdAtMs, expiresAtMs, max }) => {
      const keys = [names.share(id), names.sharesOf(organizationId, resultId)];
      const rememberedMs = expiresAtMs - createdAtMs + SHARE_REMEMBERED_MS;
      const values = [id, max, rememberedMs, resultId, organizationId, facts, createdAtMs, expiresAtMs];
      return oneOf(['added', 'replayed', 'too_many'], await redis.script('addShare', keys, values));
    },
    find,
    list: async ({ organizationId, resultId }) => {
      const name = names.sharesOf(organizationId, resultId);
      const ids = await redis.run((client) => client.smembers(name));
      const shares = (await Promise.all(ids.map(find))).filter((share) => share !== null);
      return shares.sort(
        (a, b) => b.createdAtMs - a.createdAtMs || Number(a.id > b.id) - Number(a.id < b.id),
      );
    },
    revoke: async ({ id, organizationId, atMs }) =>
      (await redis.script('revokeShare', [names.share(id)], [organizationId, atMs])) === 1,
  };
}

function shareOf(id: string, fields: Readonly<Record<string, string>>): ShareRecord {
  return {
    id,
    resultId: textOf(fields['resultId']),
    organizationId: textOf(fields['organizationId']),
    facts: textOf(fields['facts']),
    createdAtMs: numberOf(fields['createdAtMs']),
    expiresAtMs: numberOf(fields['expiresAtMs']),
    revokedAtMs: nullable(numberOf, fields['revokedAtMs']),
  };
}
