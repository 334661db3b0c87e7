import type { Address } from './address.ts';
import type { Chain } from './chains.ts';
import type { Hash } from './settlement.ts';

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

/** What a feedback file says of a payment, held against the settlements. Source: ERC-8004. */

/** A payment that a feedback file names. */
export interface ProofOfPayment {
  /** CAIP-2; of any chain, indexed or not. */
  readonly chain: string;
  readonly txHash: Hash;
  readonly from: Address;
  readonly to: Address;
}

/** A payment that was made: the first settlement of a transaction between two parties. */
export interface ProvenPayment {
  readonly logIndex: number;
  readonly amount: bigint;
  readonly amountUsdMicros: bigint;
}

/**
 * proven: a settlement of this transaction went from one to the other. contradicted: the transaction is in the index and none of
 * its settlements did, or the file is not the one that was logged, or is about somebody else. unknown: nothing is known of the
 * transaction; it may be on a chain, or from a time, that is not indexed.
 */
export const PROOF_STATUSES = ['proven', 'contradicted', 'unknown'] as const;
export type ProofStatus = (typeof PROOF_STATUSES)[number];

export function proofStatus(facts: {
  /** Whether the file has the hash that was logged, and names the agent and client of its log or none. */
  readonly fileFitsLog: boolean;
  /** Whether any settlement of the transaction is in the index. */
  readonly isTransactionKnown: boolean;
  readonly payment: ProvenPayment | undefined;
}): ProofStatus {
  if (!facts.fileFitsLog) return 'contradicted';
  if (facts.payment !== undefined) return 'proven';
  return facts.isTransactionKnown ? 'contradicted' : 'unknown';
}
