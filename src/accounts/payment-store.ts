import type { AuthorShare, Sale } from '../../core/domain/sale.ts';
import type { KeyRecord } from './account-store.ts';

/** Payments over x402: what every store remembers of them. A part of `ControlStore` (store.ts), under the same rules. */

const DAY_MS = 24 * 60 * 60_000;

/**
 * How long a served payment is remembered after its authorization ended. An authorization that has ended cannot be settled, so a
 * payment that is forgotten cannot be used again. One with a share is kept for good: it says what its grant was paid with.
 */
export const PAYMENT_KEPT_MS = 90 * DAY_MS;
/** So many are forgotten with every claim: more than one, so that a backlog shrinks. */
export const PAYMENTS_FORGOTTEN_PER_CLAIM = 2;

/**
 * Identifies a signed payment, which can be settled once: by the nonce of its EIP-3009 authorization or of Permit2, or by the digest of the
 * message of Solana that it signs. Hex in lower case, base58 as it is.
 */
export interface AuthorizationId {
  readonly chain: string;
  readonly asset: string;
  readonly payer: string;
  readonly nonce: string;
}

/**
 * settling: handed to the facilitator, outcome not known yet. settled: on chain, its call not answered yet. serving: being
 * answered. served: used up. A claim in `settling` is dropped only when it is certain that nothing was settled.
 */
export type PaymentState = 'settling' | 'settled' | 'serving' | 'served';

export interface PaymentRecord {
  readonly id: AuthorizationId;
  /** SHA-256 of method, path, canonical query and body: what this payment bought (hex). */
  readonly binding: string;
  /** `GET /v0/flows`, for operators. */
  readonly resource: string;
  readonly payTo: string;
  /** Atomic units, decimal. */
  readonly amount: string;
  readonly state: PaymentState;
  readonly claimedAtMs: number;
  /** In `settling` and `serving`: until then the process that works on it counts as alive. Without meaning in other states. */
  readonly leaseUntilMs: number;
  /** How often serving was begun. */
  readonly attempts: number;
  /** When the authorization ends (`validBefore`): it cannot be settled later. Of a message of Solana, which the chain ends: a bound. */
  readonly expiresAtMs: number;
  /** In `settling`: when its process gave up without knowing the outcome; null before. */
  readonly leftOpenAtMs: number | null;
  /** The transaction that the facilitator named, where the chain did not confirm it. */
  readonly saidTransaction: string | null;
  /** The settlement's hash, from `settled` on. */
  readonly transaction: string | null;
  /** The trial key that it bought. */
  readonly keyId: string | null;
  /** What it was claimed for; null where the claim did not say. */
  readonly sale: ClaimedSale | null;
}

/** `Sale` of core/domain/sale.ts as it is remembered. */
export interface ClaimedSale {
  readonly units: number;
  /** Null once the payment was served. */
  readonly sold: string | null;
  readonly share: AuthorShare | null;
}

export interface UnresolvedPage {
  readonly nowMs: number;
  readonly after?: Pick<PaymentRecord, 'id' | 'leaseUntilMs'> | null;
  readonly limit: number;
}

export interface PaymentStore {
  find(id: AuthorizationId): Promise<PaymentRecord | null>;
  /**
   * Takes the authorization for one caller: of any number at once, in any process, exactly one is `claimed`. A lapsed lease
   * frees nothing: the settlement may have happened. `taken` comes with the record as it is. Payments that were served and have no
   * share may be forgotten PAYMENT_KEPT_MS after `expiresAtMs`, and no others. A share that the sale does not cover (`isCovered`) is
   * a bug of the caller: rejects with RangeError and claims nothing.
   */
  claim(
    claim: Pick<
      PaymentRecord,
      'id' | 'binding' | 'resource' | 'payTo' | 'amount' | 'expiresAtMs' | 'claimedAtMs' | 'leaseUntilMs'
    > & { readonly sale?: Sale },
  ): Promise<{ readonly outcome: 'claimed' | 'taken'; readonly record: PaymentRecord }>;
  /** settling → settled. May be repeated in any later state; another transaction is a `conflict` and changes nothing. */
  recordSettlement(settlement: {
    readonly id: AuthorizationId;
    readonly transaction: string;
  }): Promise<'settled' | 'replayed' | 'conflict' | 'unknown'>;
  /**
   * Marks a claim in `settling` whose process gave up without knowing the outcome. It stays claimed, and its lease stands for
   * `unresolved`. May be repeated: the last time counts, and the last transaction that was not null.
   */
  leaveOpen(left: {
    readonly id: AuthorizationId;
    readonly atMs: number;
    readonly transaction: string | null;
  }): Promise<'left' | 'not_settling' | 'unknown'>;
  /** Forgets a claim in `settling` whose settlement certainly did not happen, so that the payer may try again. */
  dropClaim(id: AuthorizationId): Promise<'dropped' | 'not_settling' | 'unknown'>;
  /**
   * settled → serving, or serving with a lapsed lease → serving, while fewer than `attemptsMax` were begun. `attempt` names
   * this one to `finishServing`, 1 for the first; it is 0 with every other outcome, so that no call finishes the attempt of another.
   * `busy`: another call is answering, its lease has not lapsed. `used`: served, or out of attempts. A lease has lapsed when
   * `leaseUntilMs <= nowMs`.
   */
  beginServing(serving: {
    readonly id: AuthorizationId;
    readonly nowMs: number;
    readonly leaseUntilMs: number;
    readonly attemptsMax: number;
  }): Promise<{
    readonly outcome: 'serving' | 'busy' | 'used' | 'unsettled' | 'unknown';
    readonly attempt: number;
  }>;
  /**
   * serving → served when answered, → settled when not; also after the lease lapsed, unless another attempt was begun. Changes
   * nothing when `attempt` is not the latest or was finished already, and for an unknown payment. Once it is served, the sold call is
   * forgotten. `uncounted`: the service failed,
   * so the attempt does not count towards `attemptsMax`; only for one that was not answered.
   */
  finishServing(finish: {
    readonly id: AuthorizationId;
    readonly attempt: number;
    readonly answered: boolean;
    readonly uncounted?: boolean;
  }): Promise<void>;
  /**
   * Payments in `settling` whose lease lapsed by `nowMs`, by `leaseUntilMs`: their process died, or the outcome is unknown. Those
   * of one time stand in an order of the store's own. With `after`, the last of a page, those behind it, whatever became of it.
   */
  unresolved(question: UnresolvedPage): Promise<readonly PaymentRecord[]>;
  /**
   * Adds the trial key that a settled payment bought and names it on the payment, both or neither. `issued` once in the life
   * of a payment, in any state but `settling` (that is `unsettled`); `already_issued` with the id of its key ever after. `keyId`
   * is null with the other outcomes. A key that has an organization, whatever the payment, and one to be issued whose id or
   * digest is taken, are bugs of the caller: rejects with RangeError and changes nothing.
   */
  issueKey(issue: { readonly id: AuthorizationId; readonly key: KeyRecord }): Promise<{
    readonly outcome: 'issued' | 'already_issued' | 'unsettled' | 'unknown';
    readonly keyId: string | null;
  }>;
}
