import type { KeyDigest } from '../../core/domain/caller.ts';
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
  /** `exists` when the id or the digest is taken. */
  addKey(key: KeyRecord): Promise<'added' | 'exists' | 'unknown_organization'>;
  /** `atMs` may lie ahead: the key is good until then. The earliest revocation stands. */
  revokeKey(key: {
    readonly keyId: string;
    readonly atMs: number;
  }): Promise<'revoked' | 'was_revoked' | 'unknown'>;
  /** Keys of an organization, or the trial keys (null): by id, ascending, those after `after`. */
  listKeys(page: {
    readonly organizationId: string | null;
    readonly after: string | null;
    readonly limit: number;
  }): Promise<readonly KeyRecord[]>;
  /** Also revoked and expired keys: what they are worth is the gate's rule. */
  findKey(digest: KeyDigest): Promise<Credential | null>;
}
