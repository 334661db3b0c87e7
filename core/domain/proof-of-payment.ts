import type { Address } from './address.ts';
import type { Hash } from './settlement.ts';

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
