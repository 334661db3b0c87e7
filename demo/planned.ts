import type { Hex } from 'viem';
import type { Address } from '../core/domain/account.ts';
import type { EvidenceMethod } from '../core/domain/evidence.ts';
import type { Relayer } from './actors.ts';
import { withBuilderCode } from './chain/payments.ts';
import type { Transaction } from './chain/sender.ts';

/** Transactions that actors of the demo are about to send. */

/** `by_payee`: catalogued_payee or gasless_authorization, whichever the payee of the row earns. */
export type Expectation = EvidenceMethod | 'by_payee';

/** A transaction that an actor of the demo is about to send. */
export interface PlannedTransaction {
  readonly transaction: Transaction;
  /** Rows that the index must show for it. 0: a trap, it must show none. */
  readonly settlements: number;
  readonly expected: Expectation;
}

/** Plans one transaction of at most `settlementsMax` settlements (1 or more). */
export type PlanTransaction = (settlementsMax: number) => Promise<PlannedTransaction>;

/** The calldata with the relayer's ERC-8021 code, where it appends one. */
export function withCode(relayer: Relayer, data: Hex): Hex {
  return relayer.builderCode === null ? data : withBuilderCode(data, { w: relayer.builderCode });
}

/** What a payment is graded that this relayer sent. */
export function relayedGrade(relayer: Relayer): Expectation {
  if (relayer.facilitator !== null) return 'facilitator_relay';
  return relayer.builderCode === null ? 'by_payee' : 'builder_code';
}

export function selfSent(from: Address, to: Address, data: Hex): PlannedTransaction {
  return { transaction: { from, to, data }, settlements: 1, expected: 'self_relayed' };
}

/** A trap, or something else that happens on the chain: no row may come of it. */
export function payingNobody(transaction: Transaction): PlannedTransaction {
  return { transaction, settlements: 0, expected: 'by_payee' };
}
