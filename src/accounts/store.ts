import type { AccountStore } from './account-store.ts';
import type { JobStore } from './job-store.ts';
import type { OwnTableStore } from './own-table-store.ts';
import type { PaymentStore } from './payment-store.ts';
import type { ResultStore } from './result-store.ts';
import type { RefreshStore, SavedQueryStore } from './saved-query-store.ts';
import type { ShareStore } from './share-store.ts';
import type { UnitStore } from './unit-store.ts';
import type { UsageStore } from './usage-store.ts';

/**
 * What the service must remember about callers: organizations, keys, units, payments, rates, jobs, kept results, saved queries, own tables. Two adapters, SQLite and Redis, keep
 * this contract, and one suite tests both (test/src/accounts/control-store.ts).
 *
 * - Every change is atomic, and durable before its promise resolves, whichever process dies and when; only holds of units need not
 *   outlive the store (unit-store.ts). An identical call may be repeated and changes nothing more.
 * - Every method rejects with `StoreUnavailable` when the store cannot be reached, and with nothing else that a caller could
 *   cause. After `close`, which may be repeated, every other method rejects with it.
 * - Times are milliseconds since the Unix epoch and come from the caller: no method reads a clock.
 * - Ids, labels and notes are any text without NUL and lone surrogates, kept and compared exactly. "By id, ascending" is by the
 *   bytes of UTF-8. Limits of pages are whole numbers from 1.
 *
 * Design: docs/design/accounts.md, docs/design/gate.md.
 *
 *     const { outcome } = await store.units.hold({ organizationId, holdId, units: 3, operation, heldAtMs, overdueAtMs });
 */
export interface ControlStore {
  readonly accounts: AccountStore;
  readonly units: UnitStore;
  readonly payments: PaymentStore;
  readonly usage: UsageStore;
  readonly rates: RateStore;
  readonly replies: ReplyStore;
  readonly jobs: JobStore;
  readonly results: ResultStore;
  readonly shares: ShareStore;
  readonly saved: SavedQueryStore;
  readonly refreshes: RefreshStore;
  readonly ownTables: OwnTableStore;
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
   * `windowSeconds`. Nothing is refused before `limit` requests were taken. Each process may count up to ten by itself before it
   * tells the others, so that several of them together may let through so many more; one process alone never does.
   */
  take(request: {
    readonly key: string;
    readonly limit: number;
    readonly windowSeconds: number;
    readonly nowMs: number;
  }): Promise<RateDecision>;
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
   * Keeps the reply of a begun call; `null` forgets the call, so that it may be tried again. A reply once kept stands. Does
   * nothing for a key that was not begun.
   */
  finish(reply: {
    readonly scope: string;
    readonly key: string;
    readonly reply: string | null;
  }): Promise<void>;
}
