import type { ApiKey } from '../../../core/domain/caller.ts';
import type { KeyRight } from '../../../core/domain/key-right.ts';
import type { SettledPayment } from '../../../core/domain/payment.ts';
import type { UnitBalance } from '../../../core/domain/plan.ts';
import type { QueryRun, UsageRow } from '../../../core/domain/usage.ts';
import type { CallerKey, OperationDeps } from '../deps.ts';

/** What an account may read and change of itself. */

export interface AccountDeps extends OperationDeps {
  readonly accounts: AccountFacts;
}

export interface AccountFacts extends OwnAccount {
  /** Null for an organization that is not there. */
  balance(organizationId: string): Promise<UnitBalance | null>;
  /**
   * The trial key that a settled payment bought. `already_issued`: it bought one before, and the caller cannot show the
   * Idempotency-Key of that purchase.
   */
  issueTrialKey(
    payment: SettledPayment,
    idempotencyKey: string | undefined,
  ): Promise<
    | { readonly outcome: 'issued'; readonly apiKey: ApiKey; readonly expiresAtMs: number }
    | { readonly outcome: 'already_issued' }
  >;
}

/** The account as operations may use it. Rejects with a `Failure`. */
export interface OwnAccount {
  /** The counts of days from `dayFrom` to `dayTo`, both included, also those that this process has not written yet. */
  usage(question: {
    readonly of: UsageScope;
    readonly dayFrom: number;
    readonly dayTo: number;
  }): Promise<readonly UsageRow[]>;
  queries(page: {
    readonly of: OrganizationScope;
    readonly before: Pick<QueryRun, 'startedAtMs' | 'id'> | null;
    readonly limit: number;
  }): Promise<readonly QueryRun[]>;
  /** `id` null: all. Answers how many were there. */
  forgetQueries(forget: { readonly of: OrganizationScope; readonly id: string | null }): Promise<number>;
  readonly keys: OwnKeys;
}

export interface OwnKeys {
  /** By id; the one of the scope alone where it has one. */
  list(page: {
    readonly of: OrganizationScope;
    readonly after: string | null;
    readonly limit: number;
  }): Promise<readonly OwnKey[]>;
  /** What was done to the keys of the organization, newest first; as much of it as is kept. */
  events(of: { readonly organizationId: string }): Promise<readonly OwnKeyEvent[]>;
  make(
    wanted: ByManager & Required<OwnKeyChange>,
  ): Promise<{ readonly apiKey: ApiKey; readonly key: OwnKey }>;
  change(change: ByManager & { readonly keyId: string; readonly set: OwnKeyChange }): Promise<OwnKey>;
  /** Why it is not good now; null while it is. A key that the organization does not have counts as revoked. */
  endOf(key: {
    readonly organizationId: string;
    readonly keyId: string;
  }): Promise<'revoked' | 'expired' | null>;
  /** Null where it was revoked before. */
  revoke(revoked: ByManager & { readonly keyId: string }): Promise<{ readonly atMs: number } | null>;
}

/** Of a caller whose key manages keys. */
export interface ByManager {
  readonly organizationId: string;
  readonly by: CallerKey;
}

/** A field that is absent stays as it is; null takes a limit away. */
export interface OwnKeyChange {
  readonly label?: string;
  readonly expiresAtMs?: number | null;
  readonly unitsPerDay?: number | null;
  readonly operations?: readonly string[] | null;
  readonly rights?: readonly KeyRight[] | null;
  readonly managesKeys?: boolean;
}

export interface OwnKey {
  readonly id: string;
  readonly label: string;
  readonly createdAtMs: number;
  /** Null for the operator. */
  readonly madeBy: string | null;
  readonly expiresAtMs: number | null;
  readonly revokedAtMs: number | null;
  readonly managesKeys: boolean;
  readonly operations: readonly string[] | null;
  /** Those that it has, given by name or not. */
  readonly rights: readonly KeyRight[];
  readonly unitsPerDay: number | null;
  readonly unitsUsedToday: number;
}

export interface OwnKeyEvent {
  readonly atMs: number;
  readonly action: 'made' | 'changed' | 'revoked';
  readonly keyId: string;
  readonly by: string | null;
  readonly change: OwnKeyChange;
}

/** Whose figures a caller may see: of one key, or (null) of all keys of its organization. */
export interface OrganizationScope {
  readonly organizationId: string;
  readonly keyId: string | null;
}

export type UsageScope = OrganizationScope | { readonly trialKeyId: string };
