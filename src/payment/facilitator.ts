import type { Address } from '../../core/domain/address.ts';
import type { Chain } from '../../core/domain/chains.ts';

/**
 * A facilitator: checks signed payments and settles them on chain, for a service that holds no key and pays no gas. One
 * contract suite runs over the HTTP adapter, in front of a real facilitator and of one that misbehaves
 * (test/src/payment/facilitator.ts).
 */
export interface Facilitator {
  /** Reads the chain only. Never rejects: what cannot be asked is `unreachable`. */
  verify(payment: PaymentToSettle, signal?: AbortSignal): Promise<Verdict>;
  /**
   * Submits the payment on chain. Called at most once per authorization. `unknown` after a time-out, a lost connection or
   * an answer that cannot be read: it may have settled. Never rejects.
   */
  settle(payment: PaymentToSettle): Promise<Settling>;
  /** With which addresses it settles ceilings (`upto`), by chain. Never rejects. */
  announced(): Promise<Announcement>;
}

export type Announcement =
  | { readonly outcome: 'announced'; readonly upto: readonly UptoSigner[] }
  | { readonly outcome: 'unreachable'; readonly cause: unknown };

export interface UptoSigner {
  readonly chain: Chain;
  readonly address: Address;
}

/** A decoded payment with the requirement that we rebuilt from the route; never the one that the client echoes. */
export interface PaymentToSettle {
  readonly x402Version: 1 | 2;
  readonly chain: Chain;
  readonly payer: Address;
  /** The decoded payment object as the facilitator takes it. Spendable: never logged. */
  readonly paymentPayload: Readonly<Record<string, unknown>>;
  readonly paymentRequirements: Readonly<Record<string, unknown>>;
}

/** A `cause` is for the log: it holds no URL, no header and nothing of the payment. */
export type Verdict =
  | { readonly outcome: 'valid' }
  /** `reason` is a harmless code or null. */
  | { readonly outcome: 'invalid'; readonly reason: string | null }
  | { readonly outcome: 'unreachable'; readonly cause: unknown };

export type Settling =
  | { readonly outcome: 'settled'; readonly transaction: string }
  /** The facilitator says that nothing was settled. */
  | { readonly outcome: 'failed'; readonly reason: string | null }
  /** It says so, but in a way in which it also speaks of transactions that it sent and lost sight of. */
  | { readonly outcome: 'doubtful'; readonly reason: string | null }
  /** No connection could be made: certainly nothing was settled. */
  | { readonly outcome: 'unsent'; readonly cause: unknown }
  | { readonly outcome: 'unknown'; readonly reason: string | null; readonly cause: unknown };
