import type { Address } from './address.ts';
import type { Chain } from './chain.ts';

/** Values of the x402 lane that more than one layer speaks of. Wire forms are in src/payment. */

/** Where a payment failed, and whether the same one may be sent again. One table for answers, documentation and tests. */
export const PAYMENT_STAGES = {
  input: { retryable: false, meaning: 'The payment header cannot be read.' },
  signature: { retryable: false, meaning: 'The signature did not recover to the payer.' },
  fee: { retryable: true, meaning: 'The facilitator’s fee leg failed.' },
  verify: { retryable: false, meaning: 'The facilitator rejected the authorization; it will again.' },
  settle: { retryable: true, meaning: 'Verified, but the settlement failed or its outcome is not known.' },
  facilitator: { retryable: true, meaning: 'The facilitator did not answer, or answered nonsense.' },
} as const;
export type PaymentStage = keyof typeof PAYMENT_STAGES;

/** What an answer says of a payment that failed. Never the authorization: its nonce is public on chain, its signature spends. */
export interface PaymentTrouble {
  readonly stage: PaymentStage;
  /** A code of the facilitator's, only when it is harmless to print. */
  readonly reason?: string;
  /** The settlement's hash, where there is one. */
  readonly transaction?: string;
  /** The authorization's nonce, where the payer must look on the chain. */
  readonly authorizationNonce?: string;
  /** When the settlement was asked for, of one whose outcome is not known. */
  readonly sinceMs?: number;
}

/** What a 402 offers, in both wire versions: the v1 entries for the body, the v2 object ready for its header. */
export interface PaymentOffer {
  readonly accepts: readonly Readonly<Record<string, unknown>>[];
  /** Base64, for `PAYMENT-REQUIRED`. */
  readonly requiredHeader: string;
}

/** A payment that settled, as receipts and operations see it. */
export interface SettledPayment {
  readonly chain: Chain;
  readonly asset: Address;
  readonly payer: Address;
  readonly nonce: string;
  readonly transaction: string;
}
