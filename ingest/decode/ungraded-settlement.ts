import type { Settlement } from '../../core/domain/settlement.ts';

/** What on chain marks a transfer as a payment; `none` is a bare transfer to a catalogued payee. */
export type Marker = 'authorization' | 'permit2' | 'none';

/** A settlement as the chain shows it, before any catalogue is asked. */
export interface UngradedSettlement extends Omit<Settlement, 'facilitator' | 'method' | 'seen'> {
  readonly marker: Marker;
  /** The transaction called the token itself, and its calldata equals the log (protocol.md 2.3). */
  readonly directCall: boolean;
  /** The sender of the transaction is the payer, or the payee; both in a self-payment. */
  readonly relayedByPayer: boolean;
  readonly relayedByPayee: boolean;
  readonly selfPayment: boolean;
  /** The payee pulled the payment (`receiveWithAuthorization`): nobody relayed it. */
  readonly received: boolean;
  /** The call went through a contract that serves x402 only. */
  readonly viaX402Contract: boolean;
}
