import type { KeyDigest } from '../../core/domain/caller.ts';
import type { KeyRight } from '../../core/domain/key-right.ts';
import type { PlanId } from '../../core/domain/plan.ts';

/** Organizations and their keys. A part of `ControlStore` (store.ts), under the same rules. */

export interface Organization {
  readonly id: string;
  readonly displayName: string;
  readonly plan: PlanId;
  readonly createdAtMs: number;
}

export interface KeyRecord {
  /** Public name of the key (`key_…`), for lists and for revoking. */
  readonly id: string;
  readonly digest: KeyDigest;
  readonly kind: 'live' | 'trial';
  /** Null for a trial key: no account stands behind it. */
  readonly organizationId: string | null;
  readonly label: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  /** Absent for a key that the operator made and no one changed since: it may do everything, and manages keys. */
  readonly limits?: KeyLimits;
  /** Units of calls that it began on the latest day on which it began one, held or charged. Absent before the first. */
  readonly used?: { readonly day: number; readonly units: number };
}

export interface KeyLimits {
  /** Whether it may make, change and revoke keys of its organization. Then it has no other limit. */
  readonly managesKeys: boolean;
  /** Null without a budget. */
  readonly unitsPerDay: number | null;
  /** The operations that it may call; null for all. */
  readonly operations: readonly string[] | null;
  /** The rights that it was given (core/domain/key-right.ts). Absent or null: those that follow from its other limits. */
  readonly rights?: readonly KeyRight[] | null;
  /** The key that made it; null for the operator. */
  readonly madeBy: string | null;
}

/** Null in a field takes the limit away, a field that is absent stays as it is. */
export type KeyChange = Partial<
  Pick<KeyRecord, 'label' | 'expiresAtMs'> &
    Pick<KeyLimits, 'managesKeys' | 'unitsPerDay' | 'operations' | 'rights'>
>;

/** One entry of the record of what was done to the keys of an organization. */
export interface KeyEvent {
  readonly atMs: number;
  readonly action: 'made' | 'changed' | 'revoked';
  readonly keyId: string;
  /** The key that did it; null for the operator. */
  readonly by: string | null;
  /** What it set. */
  readonly change: KeyChange;
}

/** So many are kept for each organization, the newest. */
export const KEY_EVENTS_KEPT = 1_000;
/** All that were ever made count, also revoked ones: a list that callers can make longer has an end. */
export const KEYS_OF_ORGANIZATION_MAX = 10_000;

/** Without a change yet: the limits of a key that has none. */
export const NO_KEY_LIMITS: KeyLimits = {
  managesKeys: true,
  unitsPerDay: null,
  operations: null,
  madeBy: null,
};

/** The record of a key's making, for both stores. */
export function keyMade({
  id,
  createdAtMs,
  label,
  expiresAtMs,
  limits = NO_KEY_LIMITS,
}: KeyRecord): KeyEvent {
  const { managesKeys, unitsPerDay, operations, rights, madeBy } = limits;
  const given = rights == null ? {} : { rights };
  const change = { label, expiresAtMs, managesKeys, unitsPerDay, operations, ...given };
  return { atMs: createdAtMs, action: 'made', keyId: id, by: madeBy, change };
}

/** The rule of `changeKey`, for both stores. The key is as it would be. */
export function changedKey(
  before: KeyRecord,
  set: KeyChange,
  atMs: number,
): { readonly outcome: 'changed' | 'revoked' | 'not_both'; readonly key: KeyRecord } {
  const { label = before.label, expiresAtMs = before.expiresAtMs, ...rest } = set;
  const limits = { ...(before.limits ?? NO_KEY_LIMITS), ...rest };
  const key = { ...before, label, expiresAtMs, limits };
  if (before.revokedAtMs !== null && before.revokedAtMs <= atMs) return { outcome: 'revoked', key };
  const isLimited = limits.unitsPerDay !== null || limits.operations !== null;
  return { outcome: limits.managesKeys && isLimited ? 'not_both' : 'changed', key };
}

/** Why a key is not good at this time; null while it is. */
export function endOfKey(
  { revokedAtMs, expiresAtMs }: Pick<KeyRecord, 'revokedAtMs' | 'expiresAtMs'>,
  nowMs: number,
): 'revoked' | 'expired' | null {
  if (revokedAtMs !== null && revokedAtMs <= nowMs) return 'revoked';
  return expiresAtMs !== null && expiresAtMs <= nowMs ? 'expired' : null;
}

/** The key of this id; null where the organization has none. */
export async function keyOfOrganization(
  accounts: Pick<AccountStore, 'listKeys'>,
  { organizationId, keyId }: { readonly organizationId: string; readonly keyId: string },
): Promise<KeyRecord | null> {
  const [key] = await accounts.listKeys({ organizationId, after: before(keyId), limit: 1 });
  return key?.id === keyId ? key : null;
}

/** The largest text below an id of ours, whose last character is a hexadecimal digit: a page after it begins with the id. */
function before(keyId: string): string {
  return `${keyId.slice(0, -1)}${String.fromCharCode(keyId.charCodeAt(keyId.length - 1) - 1)}\u{10ffff}`;
}

/** A key with the organization it stands for, read at one instant. */
export interface Credential {
  readonly key: KeyRecord;
  /** Null for a trial key, and for a key whose organization row cannot be found. */
  readonly organization: Organization | null;
}

export interface AccountStore {
  /** `exists` when the id is taken, also by an identical organization. */
  createOrganization(organization: Organization): Promise<'created' | 'exists'>;
  changePlan(change: {
    readonly organizationId: string;
    readonly plan: PlanId;
  }): Promise<'changed' | 'unknown'>;
  findOrganization(id: string): Promise<Organization | null>;
  /** By id, ascending, those after `after`. */
  listOrganizations(page: {
    readonly after: string | null;
    readonly limit: number;
  }): Promise<readonly Organization[]>;
  /**
   * `exists` when the id or the digest is taken, `too_many` when the organization has KEYS_OF_ORGANIZATION_MAX. Like the next two,
   * it writes its `KeyEvent` in the same change.
   */
  addKey(key: KeyRecord): Promise<'added' | 'exists' | 'unknown_organization' | 'too_many'>;
  /**
   * `unknown` for a key that is not the organization's. `revoked` for one that is revoked by `atMs`, `not_both` where the key would
   * manage keys and be limited: neither changes anything. The key is as it is after the call; null when it is unknown.
   */
  changeKey(change: {
    readonly keyId: string;
    readonly organizationId: string;
    readonly set: KeyChange;
    readonly by: string | null;
    readonly atMs: number;
  }): Promise<{
    readonly outcome: 'changed' | 'revoked' | 'not_both' | 'unknown';
    readonly key: KeyRecord | null;
  }>;
  /**
   * `atMs` may lie ahead: the key is good until then. The earliest revocation stands. With `organizationId`, a key of another
   * organization is `unknown`. `by` is the key that revokes it; the operator without it.
   */
  revokeKey(key: {
    readonly keyId: string;
    readonly atMs: number;
    readonly organizationId?: string;
    readonly by?: string;
  }): Promise<'revoked' | 'was_revoked' | 'unknown'>;
  /** Newest first. */
  keyEvents(page: { readonly organizationId: string; readonly limit: number }): Promise<readonly KeyEvent[]>;
  /** Keys of an organization, or the trial keys (null): by id, ascending, those after `after`. */
  listKeys(page: {
    readonly organizationId: string | null;
    readonly after: string | null;
    readonly limit: number;
  }): Promise<readonly KeyRecord[]>;
  /** Also revoked and expired keys: the gate decides whether they count. */
  findKey(digest: KeyDigest): Promise<Credential | null>;
}
