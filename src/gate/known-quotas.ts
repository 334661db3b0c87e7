import type { KeyDigest } from '../../core/domain/api-key.ts';
import type { Quota } from './rate-limit.ts';

/**
 * The window that a key's requests were counted in last. The store can then be asked for the key and for the count at the same
 * time, which on Redis saves a round trip of every call. Only a guess: where the key has moved to another window since (its
 * organization changed the plan, it was revoked), the count is undone and the request is counted in the right one.
 */
export interface KnownQuotas {
  guess(digest: KeyDigest): Quota | undefined;
  /** `quota` is null for a key that is not good any more. */
  remember(digest: KeyDigest, quota: Quota | null): void;
}

/** A few hundred bytes each. */
const KEYS_MAX = 10_000;

/** Named by digest: a key in the clear is kept nowhere. */
export function createKnownQuotas(keysMax = KEYS_MAX): KnownQuotas {
  const quotas = new Map<KeyDigest, Quota>();
  return {
    guess: (digest) => quotas.get(digest),
    remember(digest, quota) {
      if (quota === null) {
        quotas.delete(digest);
        return;
      }
      if (quotas.size >= keysMax) quotas.clear();
      quotas.set(digest, quota);
    },
  };
}

export function isSameQuota(one: Quota, other: Quota): boolean {
  return one.key === other.key && one.requestsPerMinute === other.requestsPerMinute;
}
