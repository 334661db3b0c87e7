import type { Address, TransactionId } from './account.ts';
import type { Chain } from './chains.ts';

/** Values of the x402 lane that several layers share. Wire forms are in src/payment. */

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

/** How an answer describes a failed payment. Never the authorization: its nonce is public on chain, but its signature can spend. */
export interface PaymentTrouble {
  readonly stage: PaymentStage;
  /** A code of the facilitator's, only when it is harmless to print. */
  readonly reason?: string;
  /** The settlement's hash, where there is one. */
  readonly transaction?: string;
  /** The authorization's nonce, where the payer must look on the chain. */
  readonly authorizationNonce?: string;
  /** When the settlement was requested, if its outcome is unknown. */
  readonly sinceMs?: number;
}

/** The offers of a 402 in both wire versions: v1 entries for the body, the v2 object encoded for its header. */
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

/** The payment claimed by a feedback file, checked against the settlements. Source: ERC-8004. */

/** A payment that a feedback file names. */
export interface ProofOfPayment {
  /** CAIP-2; of any chain, indexed or not. */
  readonly chain: string;
  readonly txHash: TransactionId;
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
 * proven: the transaction has a settlement between the two parties. contradicted: the transaction is indexed but has no such
 * settlement, or the file does not match its logged hash, or the file names another agent or client. unknown: the transaction is
 * not in the index, which may not cover its chain or time.
 */
export const PROOF_STATUSES = ['proven', 'contradicted', 'unknown'] as const;
export type ProofStatus = (typeof PROOF_STATUSES)[number];

export function proofStatus(facts: {
  /** Whether the file matches the logged hash and names no other agent or client than its log. */
  readonly fileFitsLog: boolean;
  /** Whether any settlement of the transaction is in the index. */
  readonly isTransactionKnown: boolean;
  readonly payment: ProvenPayment | undefined;
}): ProofStatus {
  if (!facts.fileFitsLog) return 'contradicted';
  if (facts.payment !== undefined) return 'proven';
  return facts.isTransactionKnown ? 'contradicted' : 'unknown';
}
