import type { AuthorizationId } from '../accounts/store.ts';

/**
 * Asks the chain itself what became of an authorization: for outcomes that the facilitator left unknown, and to believe no
 * facilitator that only says so. Source: protocol.md 2.1, 2.2.
 */
export interface ChainWitness {
  /**
   * `settled`: the nonce was used in a transaction that paid at least `amount` to `payTo`. `unsettled`: the node answers and
   * the nonce is not used. `spent_otherwise`: used, but not for this payment (cancelled, or paid to somebody else).
   * `silent`: nothing can be said, because no node answers or the transaction lies outside the blocks that may be searched.
   * Rejects never.
   */
  lookUp(question: WitnessQuestion): Promise<Testimony>;
}

export interface WitnessQuestion {
  readonly id: AuthorizationId;
  readonly payTo: string;
  /** Atomic units, decimal. */
  readonly amount: string;
  /** The settlement lies between this time and now; bounds the blocks that are searched. */
  readonly sinceMs: number;
  /** The transaction that somebody says it was: looked at first, believed never. */
  readonly claimed?: string;
}

export type Testimony =
  | { readonly outcome: 'settled'; readonly transaction: string }
  | { readonly outcome: 'unsettled' | 'spent_otherwise' | 'silent' };
