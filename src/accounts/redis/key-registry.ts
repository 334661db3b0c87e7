import type { KeyDigest } from '../../../core/domain/caller.ts';
import type { KeyRecord } from '../store.ts';
import type { RedisConnection } from './connection.ts';
import { jsonObject, nullable, numberOf, oneOf, textOf } from './decode.ts';
import type { Home, Slots } from './slots.ts';

/**
 * A key is spread over three slots: its record in its home (the slot of an organization or of a payment), and two claims that
 * lead there, one from its digest and one from its id. The record is the truth: a key exists when its home has it. Claims are
 * written before the record and never change, so a crash in between leaves claims that lead to no key, and the call may be
 * repeated: it finds its claims and goes on, also with another id for the same digest, as the key of an Idempotency-Key has when
 * its buyer comes again. Once the record is there, everything that leads to it is.
 *
 * Digests and ids are looked for before anything is claimed, so a refused key leaves nothing. Two calls at once that share only
 * the id, or only the digest, can leave a claim without a key: random names, never used again.
 */
export interface KeyRegistry {
  /** `exists`: a key has the id or the digest. */
  claim(key: KeyRecord, home: Home): Promise<'claimed' | 'exists'>;
  homeOfDigest(digest: KeyDigest): Promise<Home | null>;
  homeOfId(keyId: string): Promise<Home | null>;
  /** The records of these ids in one home, without those that it does not have. */
  records(home: Home, keyIds: readonly string[]): Promise<readonly KeyRecord[]>;
}

export function keyRegistry(redis: RedisConnection, slots: Slots): KeyRegistry {
  const read = async (name: string): Promise<Home | null> =>
    // Only homes are written there.
    (await redis.run((client) => client.get(name))) as Home | null;
  const take = async (name: string, home: Home): Promise<boolean> => {
    const written = await redis.run((client) => client.set(name, home, 'NX'));
    return written === 'OK' || (await read(name)) === home;
  };
  const isTaken = async (key: KeyRecord, home: Home): Promise<boolean> => {
    const [byDigest, byId, here] = await Promise.all([
      read(slots.digestClaim(key.digest)),
      read(slots.keyIdClaim(key.id)),
      redis.script('hasKey', [slots.keys(home), slots.digests(home)], [key.id, key.digest]),
    ]);
    return here !== 0 || (byDigest ?? home) !== home || (byId ?? home) !== home;
  };

  return {
    claim: async (key, home) => {
      if (await isTaken(key, home)) return 'exists';
      const digestIsOurs = await take(slots.digestClaim(key.digest), home);
      return digestIsOurs && (await take(slots.keyIdClaim(key.id), home)) ? 'claimed' : 'exists';
    },
    homeOfDigest: (digest) => read(slots.digestClaim(digest)),
    homeOfId: (keyId) => read(slots.keyIdClaim(keyId)),
    records: async (home, keyIds) => {
      if (keyIds.length === 0) return [];
      const [records, revocations] = await Promise.all([
        redis.run((client) => client.hmget(slots.keys(home), ...keyIds)),
        redis.run((client) => client.hmget(slots.revoked(home), ...keyIds)),
      ]);
      return records.flatMap((record, i) => (record === null ? [] : [decodeKey(record, revocations[i])]));
    },
  };
}

/** Everything of a key that never changes. Its revocation is kept beside it. */
export function encodeKey(key: KeyRecord): string {
  const { revokedAtMs: _, ...fixed } = key;
  return JSON.stringify(fixed);
}

/** What scripts take for "revoked at": empty for a key that stands. */
export function encodeRevocation(key: KeyRecord): string {
  return key.revokedAtMs === null ? '' : String(key.revokedAtMs);
}

export function decodeKey(record: unknown, revokedAt: unknown): KeyRecord {
  const fields = jsonObject(textOf(record));
  return {
    id: textOf(fields['id']),
    // A digest went in, so a digest comes out.
    digest: textOf(fields['digest']) as KeyDigest,
    kind: oneOf(['live', 'trial'], fields['kind']),
    organizationId: nullable(textOf, fields['organizationId']),
    label: textOf(fields['label']),
    createdAtMs: Number(fields['createdAtMs']),
    expiresAtMs: nullable(Number, fields['expiresAtMs']),
    revokedAtMs: nullable(numberOf, revokedAt),
  };
}
