import type { KeyDigest } from '../../core/domain/caller.ts';
import type { PlanId, UnitBalance } from '../../core/domain/plan.ts';

/**
 * What the service must remember about callers: organizations, keys, units, payments, rates. Two adapters, SQLite and Redis,
 * keep one contract (test/src/accounts/control-store.ts). Every change is atomic and durable before its promise resolves, whatever
 * process dies when; identical calls may be repeated and change nothing more. Every method rejects with `StoreUnavailable`
 * when the store cannot be reached, and with nothing else that a caller could cause. Times are milliseconds since the Unix
 * epoch and come from the caller, so that tests can hold them still; no method reads a clock of its own. Ids, labels and notes
 * are any text without NUL and lone surrogates, kept and compared exactly: two texts are never taken for one another. "By id,
 * ascending" is by the bytes of UTF-8. Limits of pages are whole numbers from 1. After `close`, which may be repeated, every
 * other method rejects with `StoreUnavailable`. See docs/design/accounts.md, docs/design/gate.md.
 */
export interface ControlStore {
  readonly accounts: AccountStore;
  readonly units: UnitStore;
  readonly payments: PaymentStore;
  readonly rates: RateStore;
  readonly replies: ReplyStore;
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/** The store cannot be reached or refuses to write. Its message holds no URL and no path. */
export class StoreUnavailable extends Error {
  constructor(cause: unknown) {
    super('the control store does not answer', { cause });
    this.name = 'StoreUnavailable';
  }
}

/**
 * The accounts were written by another version of this program, which may keep rules that this one does not know. The message says
 * so, `advice` what the operator does about it.
 */
export class OtherVersion extends StoreUnavailable {
  readonly advice: string;

  constructor(message: string, advice: string) {
    super(undefined);
    this.message = message;
    this.advice = advice;
    this.name = 'OtherVersion';
  }
}

// ── organizations and keys

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

// ── units

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
  /** What is left free after this change. */
  readonly balance: number;
  readonly held: number;
}

export interface Hold {
  readonly organizationId: string;
  readonly holdId: string;
  readonly units: number;
  readonly operation: string;
  readonly heldAtMs: number;
  /** From then on nobody is expected to resolve it, and the sweeper does. */
  readonly overdueAtMs: number;
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
   * organization. `too_large` when granted would pass UNITS_MAX: nothing is remembered, the id stays free.
   */
  grant(grant: {
    readonly organizationId: string;
    readonly grantId: string;
    readonly units: number;
    readonly note: string;
    readonly atMs: number;
  }): Promise<{
    readonly outcome: 'granted' | 'replayed' | 'unknown' | 'too_large';
    readonly balance: UnitBalance;
  }>;
  /**
   * Sets units aside. `insufficient` takes nothing, leaves no ledger row and leaves the id free. A hold replayed with the same
   * id takes nothing twice and answers `replayed`, also after it was resolved, and whatever else is asked. `unknown` for an
   * unknown organization. A new hold lets a few of the organization's resolved ones be forgotten (retention.ts): those with
   * `overdueAtMs + HOLD_KEPT_MS <= heldAtMs` of the new one. Their ids are unknown and free then; the ledger keeps its rows.
   */
  hold(hold: Hold): Promise<{
    readonly outcome: 'held' | 'insufficient' | 'replayed' | 'unknown';
    readonly balance: UnitBalance;
  }>;
  /**
   * Spends `units` (0 ≤ units ≤ held) of a hold and gives the rest back, in one change. `replayed`: it was captured before,
   * and `charged` is what that capture took. `released`: it was given back before (late, or overdue), nothing is charged.
   * `unknown`: there was no such hold. `charged` is 0 in these two. More units than an open hold has is a bug of the caller:
   * rejects with RangeError and leaves the hold open. A hold past `overdueAtMs` that nobody resolved is still captured.
   */
  capture(capture: {
    readonly organizationId: string;
    readonly holdId: string;
    readonly units: number;
    readonly atMs: number;
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

// ── payments

/** What makes a signed EIP-3009 authorization (or a Permit2 nonce) one thing: it can be settled once. Lower-case hex. */
export interface AuthorizationId {
  readonly chain: string;
  readonly asset: string;
  readonly payer: string;
  readonly nonce: string;
}

/**
 * settling: handed to the facilitator, outcome not known yet. settled: on chain, its call not answered yet. serving: being
 * answered. served: used up. A payment leaves `settling` backwards only when the facilitator said that nothing was settled.
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
  /** In `settling` and `serving`: before then the process that works on it is believed alive. Elsewhere it says nothing. */
  readonly leaseUntilMs: number;
  /** How often serving was begun. */
  readonly attempts: number;
  /** When the authorization ends (`validBefore`): what has not settled by then never will. */
  readonly expiresAtMs: number;
  /** In `settling`: when its process gave up without knowing the outcome, so that no request is using it; null before. */
  readonly leftOpenAtMs: number | null;
  /** What the facilitator said the settlement was, where nothing confirmed it. */
  readonly saidTransaction: string | null;
  /** The settlement's hash, from `settled` on. */
  readonly transaction: string | null;
  /** The trial key that it bought. */
  readonly keyId: string | null;
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
   * frees nothing: the settlement may have happened. `taken` comes with the record as it is. Payments that were served may be
   * forgotten PAYMENT_KEPT_MS after `expiresAtMs` (retention.ts), and no others.
   */
  claim(
    claim: Pick<
      PaymentRecord,
      'id' | 'binding' | 'resource' | 'payTo' | 'amount' | 'expiresAtMs' | 'claimedAtMs' | 'leaseUntilMs'
    >,
  ): Promise<{ readonly outcome: 'claimed' | 'taken'; readonly record: PaymentRecord }>;
  /** settling → settled. Repeating it is fine, in any later state; another transaction is a `conflict` and changes nothing. */
  recordSettlement(settlement: {
    readonly id: AuthorizationId;
    readonly transaction: string;
  }): Promise<'settled' | 'replayed' | 'conflict' | 'unknown'>;
  /**
   * Says of a claim in `settling` that whoever worked on it stopped without knowing its outcome. It stays claimed, and its lease
   * stands for `unresolved`. Repeating it is fine: the last time counts, and the last transaction that was not null.
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
   * this one to `finishServing`, 1 for the first; it is 0 with every other outcome, so that nobody finishes for another.
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
   * serving → served when answered, → settled when not; also after the lease lapsed, while nobody else began. Nothing when
   * `attempt` is not the latest, when it is finished already, and for an unknown payment. `uncounted`: the service failed, so
   * that the attempt is taken off those that were begun; only of one that was not answered.
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

// ── rates

/** What a caller has left of the current window. */
export interface RateDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly remaining: number;
  /** Seconds until the window starts anew, at least 1. */
  readonly resetSeconds: number;
}

export interface RateStore {
  /**
   * Takes one request from the fixed window of `key`. Shared by every API process of the store (an adapter for one process may
   * count in its memory); may forget on restart. A window opens with the first request after the last one ended and lasts
   * `windowSeconds`.
   */
  take(request: {
    readonly key: string;
    readonly limit: number;
    readonly windowSeconds: number;
    readonly nowMs: number;
  }): Promise<RateDecision>;
  /**
   * Undoes one `take` of `key` that was made at `takenAtMs`, for a request that belongs in another window. Nothing where that window
   * has ended since.
   */
  giveBack(taken: {
    readonly key: string;
    readonly windowSeconds: number;
    readonly takenAtMs: number;
  }): Promise<void>;
}

// ── replies (Idempotency-Key)

export interface ReplyStore {
  /**
   * The first call with this scope and key is `begun`; while it runs others are `running`; afterwards they are `done` and get
   * its reply. `conflict`: the key was used for another request, running, lapsed or done. A begun call whose lease lapsed
   * (`leaseUntilMs <= nowMs`) may be begun again. From `keepUntilMs` of the last beginning on, the key is free for anything.
   */
  begin(request: {
    readonly scope: string;
    readonly key: string;
    /** SHA-256 of what was asked. */
    readonly requestDigest: string;
    readonly nowMs: number;
    readonly leaseUntilMs: number;
    /** When a reply may be forgotten. */
    readonly keepUntilMs: number;
  }): Promise<
    | { readonly outcome: 'begun' }
    | { readonly outcome: 'done'; readonly reply: string }
    | { readonly outcome: 'running' | 'conflict' }
  >;
  /**
   * Keeps the reply of a begun call; `null` forgets the call, so that it may be tried again. A reply once kept stands. Nothing
   * for a key that was not begun.
   */
  finish(reply: {
    readonly scope: string;
    readonly key: string;
    readonly reply: string | null;
  }): Promise<void>;
}
