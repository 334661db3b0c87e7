import { createHash } from 'node:crypto';
import type { AuthorizationId } from '../store.ts';

/**
 * Names of Redis keys. What has to change together carries one hash tag (`{…}`), so that it lies in one slot and one script can
 * change it, also on a Redis Cluster. A `Home` is such a tag: that of an organization, of a payment, or of a key alone.
 */
export type Home = string & { readonly __brand: 'Home' };

export interface Slots {
  profile(home: Home): string;
  units(home: Home): string;
  ledger(home: Home): string;
  grants(home: Home): string;
  holds(home: Home): string;
  /** Open holds by the time they are overdue. */
  openHolds(home: Home): string;
  /** Resolved holds by the time they would have been overdue. */
  resolvedHolds(home: Home): string;
  payment(home: Home): string;
  /** Key records by id. */
  keys(home: Home): string;
  /** Key ids by digest. */
  digests(home: Home): string;
  /** When a key was revoked, by id. */
  revoked(home: Home): string;
  /** Ids of the keys of a home, in order. */
  keyIds(home: Home): string;
  /** The home of the key with this digest. */
  digestClaim(digest: string): string;
  /** The home of the key with this id. */
  keyIdClaim(keyId: string): string;
  /** Ids of all organizations, in order. */
  readonly organizations: string;
  /** Ids of all keys without an organization, in order. */
  readonly trialKeyIds: string;
  /** Claims that may be unresolved, by the end of their lease. */
  readonly openClaims: string;
  /** Holds of all organizations that may be open, by the time they are overdue. */
  readonly allOpenHolds: string;
  rate(key: string): string;
  reply(scope: string, key: string): string;
}

/** The last part of every name that carries the tag of an organization, of a payment, or of a key alone. */
export const HOME_PARTS = [
  'profile',
  'units',
  'ledger',
  'grants',
  'holds',
  'open-holds',
  'resolved-holds',
  'payment',
  'keys',
  'digests',
  'revoked',
  'key-ids',
  'claim',
] as const;

export function slotsOf(prefix: string): Slots {
  const in_ = (home: Home, part: string): string => `${prefix}:{${home}}:${part}`;
  return {
    profile: (home) => in_(home, 'profile'),
    units: (home) => in_(home, 'units'),
    ledger: (home) => in_(home, 'ledger'),
    grants: (home) => in_(home, 'grants'),
    holds: (home) => in_(home, 'holds'),
    openHolds: (home) => in_(home, 'open-holds'),
    resolvedHolds: (home) => in_(home, 'resolved-holds'),
    payment: (home) => in_(home, 'payment'),
    keys: (home) => in_(home, 'keys'),
    digests: (home) => in_(home, 'digests'),
    revoked: (home) => in_(home, 'revoked'),
    keyIds: (home) => in_(home, 'key-ids'),
    digestClaim: (digest) => in_(keyHome(digest), 'claim'),
    keyIdClaim: (keyId) => in_(`key-id:${segment(keyId)}` as Home, 'claim'),
    organizations: `${prefix}:{organizations}`,
    trialKeyIds: `${prefix}:{trial-keys}`,
    openClaims: `${prefix}:{open-claims}`,
    allOpenHolds: `${prefix}:{open-holds}`,
    rate: (key) => `${prefix}:{rate:${segment(key)}}`,
    // The key comes from a caller and may be long.
    reply: (scope, key) => `${prefix}:{reply:${digestOf([scope, key])}}`,
  };
}

const ORGANIZATION = 'org:';

export function organizationHome(organizationId: string): Home {
  return `${ORGANIZATION}${segment(organizationId)}` as Home;
}

/** Whose home it is: the reverse of `organizationHome`. */
export function organizationOf(home: Home): string {
  const text = home.slice(ORGANIZATION.length);
  return text.replace(/%([0-9a-f]{2})/g, (_all, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

export function paymentHome(id: AuthorizationId): Home {
  const parts = [id.chain, id.asset, id.payer, id.nonce].map(segment);
  return `pay:${parts.join(':')}` as Home;
}

/** Where a key lives that neither an organization nor a payment stands behind. */
export function keyHome(digest: string): Home {
  return `key:${segment(digest)}` as Home;
}

/** An entry of the list of open claims. Those of one time are ordered by their homes. */
export function openClaimEntry(token: string, home: Home): string {
  return `${home} ${token}`;
}

/** Two different texts never become one name, and no text ends a hash tag. */
function segment(text: string): string {
  return text.replace(/[%{}:]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
}

function digestOf(parts: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
