import type { Hold } from '../../core/domain/hold.ts';
import type { UnitBalance } from '../../core/domain/plan.ts';
import { type AuthorShare, SALE_PREFIX } from '../../core/domain/sale.ts';
import type { AuthorizationId } from './payment-store.ts';

export type { Hold } from '../../core/domain/hold.ts';

/** Units of organizations: granted, held and spent. A part of `ControlStore` (store.ts), under the same rules. */

const DAY_MS = 24 * 60 * 60_000;

/**
 * How long a resolved hold can be replayed after its overdue time, by the times of later captures and releases. Far above the day
 * for which an Idempotency-Key is kept.
 */
export const HOLD_KEPT_MS = 7 * DAY_MS;
/** So many are forgotten with every end of a hold: more than one, so that a backlog shrinks; few, so that no caller waits. */
export const HOLDS_FORGOTTEN_PER_END = 2;

export const LEDGER_KINDS = ['grant', 'hold', 'capture', 'release', 'overdue'] as const;
export type LedgerKind = (typeof LEDGER_KINDS)[number];

/** One change of an organization's units. The rows alone give every figure again (`npm run admin -- reconcile`). */
export interface LedgerEntry {
  /** 1, 2, 3 … within the organization, without gaps. */
  readonly sequence: number;
  readonly atMs: number;
  readonly kind: LedgerKind;
  /** Units granted, held, captured, or given back. 0 only for a capture that charges nothing. */
  readonly units: number;
  /** On a capture: the rest of the hold, given back in the same change. 0 elsewhere. */
  readonly released: number;
  /** The grant or hold that this belongs to. */
  readonly subject: string;
  /** The operation of a hold and of its capture, the reason of a grant, why a hold was given back. */
  readonly note: string;
  /** The free units after this change. */
  readonly balance: number;
  readonly held: number;
}

/** Names the grant of a share that was paid for with units. */
export function saleOfHold(holdId: string): string {
  return SALE_PREFIX + holdId;
}

/** The same of one that was paid for over x402. */
export function saleOfPayment({ chain, asset, payer, nonce }: AuthorizationId): string {
  return SALE_PREFIX + [chain, asset, payer, nonce].join(':');
}

export interface Grant {
  readonly organizationId: string;
  readonly grantId: string;
  readonly units: number;
  readonly note: string;
}

/**
 * Units are safe integers: at least 1 in a grant and a hold, at least 0 in a capture. Anything else is a bug of the caller and
 * rejects with RangeError, changing nothing. Grants and holds are named within their organization, each kind for itself. The
 * balance of an answer is that of the organization after the call, also when nothing changed; NO_UNITS when it is unknown.
 * `atMs` may jump: the sequence alone orders the ledger.
 */
export interface UnitStore {
  /**
   * Adds units. The same `grantId` adds nothing again and answers `replayed`, whatever else is asked. `unknown` for an unknown
   * organization. `too_large` when granted would pass UNITS_MAX: nothing is remembered, the id stays free. An id that begins like
   * that of a sale (SALE_PREFIX) is a bug of the caller: RangeError.
   */
  grant(grant: Grant & { readonly atMs: number }): Promise<{
    readonly outcome: 'granted' | 'replayed' | 'unknown' | 'too_large';
    readonly balance: UnitBalance;
  }>;
  /**
   * Grants the share that a payment was claimed with (`claim`), once the payment is settled, under the name `saleOfPayment`: the
   * caller names no amount. It is also counted, as a call of its operation on the lane `earned` of the UTC day of `atMs`.
   * `replayed`: it was granted before. `unsettled`: the payment is in `settling`. `no_share`: it has none, or one that the claim does
   * not cover. `unknown`: there is no such payment, or no such organization. Nothing changes with any but `granted`.
   */
  grantSale(sale: { readonly payment: AuthorizationId; readonly atMs: number }): Promise<{
    readonly outcome: 'granted' | 'replayed' | 'unsettled' | 'no_share' | 'unknown' | 'too_large';
  }>;
  /**
   * Sets units aside. `insufficient` takes nothing, leaves no ledger row and leaves the id free. A hold replayed with the same
   * id takes nothing twice and answers `replayed`, also after it was resolved, and whatever else is asked. `unknown` for an
   * unknown organization.
   *
   * `over_budget` where the units that its key began calls with on the UTC day of `heldAtMs` would pass the key's budget; units that are
   * given back of a hold of that day are free again. A hold of an earlier day than the key's last one counts for that one.
   *
   * Lasts as long as the store is up, and bounds the spending of every process; the death of a process takes nothing from it. It
   * need not be on disk: where the store itself dies (a power cut, a killed Redis), the newest holds may be gone, each as if it had
   * never been made, and always the last rows of the ledger. Any other change puts all earlier holds of the organization on disk.
   */
  hold(hold: Hold): Promise<{
    readonly outcome: 'held' | 'insufficient' | 'over_budget' | 'replayed' | 'unknown';
    readonly balance: UnitBalance;
    /** With `over_budget`: the key's budget, and the used part of it. */
    readonly budget?: { readonly unitsPerDay: number; readonly used: number };
  }>;
  /**
   * Spends `units` (0 ≤ units ≤ held) of a hold and gives the rest back, in one change. `replayed`: it was captured before,
   * and `charged` is what that capture took. `released`: it was given back before (late, or overdue), nothing is charged.
   * `unknown`: there was no such hold. `charged` is 0 in these two. More units than an open hold has is a bug of the caller:
   * rejects with RangeError and leaves the hold open. A hold past `overdueAtMs` that is still open can be captured.
   *
   * The change also counts the call and its units in the usage of the organization (usage-store.ts), on the UTC day of `atMs`. With
   * `share` it also grants, to whom a part of the charge belongs, under the name `saleOfHold`, and counts it as earned: both or
   * neither, and never with another outcome than `captured`. A share of an unknown organization, and one that passes UNITS_MAX, is
   * left out. One that `units` do not cover (`isCovered`) is a bug of the caller: rejects with RangeError and leaves the hold open.
   *
   * With `held`, the hold as it was made, one that the store lost is made again in the same change, so that a restart of the store
   * gives nothing away; `unknown` then says that the free units do not suffice.
   *
   * A hold that ends by this or by `release` lets a few of the organization's resolved ones be forgotten: those with
   * `overdueAtMs + HOLD_KEPT_MS <= atMs` of the end. Their ids are unknown and free then; the ledger keeps its rows.
   */
  capture(capture: {
    readonly organizationId: string;
    readonly holdId: string;
    readonly units: number;
    readonly atMs: number;
    readonly held?: Omit<Hold, 'organizationId' | 'holdId'>;
    readonly share?: AuthorShare;
  }): Promise<{
    readonly outcome: 'captured' | 'replayed' | 'released' | 'unknown';
    readonly charged: number;
    readonly balance: UnitBalance;
  }>;
  /**
   * Gives a whole hold back. `kind` says in the ledger whether the call failed or the sweeper found it overdue; the store does
   * not compare times. `replayed`: it was given back before. `captured`: too late, nothing changes.
   */
  release(release: {
    readonly organizationId: string;
    readonly holdId: string;
    readonly kind: 'release' | 'overdue';
    readonly note: string;
    readonly atMs: number;
  }): Promise<{
    readonly outcome: 'released' | 'replayed' | 'captured' | 'unknown';
    readonly balance: UnitBalance;
  }>;
  /** Open holds with `overdueAtMs <= nowMs`, of all organizations, by `overdueAtMs`. */
  overdueHolds(question: { readonly nowMs: number; readonly limit: number }): Promise<readonly Hold[]>;
  /** Null for an unknown organization; zeros for one that was never granted anything. */
  balance(organizationId: string): Promise<UnitBalance | null>;
  /** Ascending by sequence, those after `after` (0: from the first). Empty for an unknown organization. */
  ledger(page: {
    readonly organizationId: string;
    readonly after: number;
    readonly limit: number;
  }): Promise<readonly LedgerEntry[]>;
}
