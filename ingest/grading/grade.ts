import { SEEN } from '../../core/domain/evidence.ts';
import type { Settlement } from '../../core/domain/settlement.ts';
import type { UngradedSettlement } from '../decode/settlements.ts';
import type { Catalogue } from './catalogue.ts';
import { methodOf } from './grade-rules.ts';

/**
 * Grades a settlement against the catalogues. `facilitator` is the owner of the relayer whenever that is known (also on the
 * lower rungs: it states who relayed, not how sure we are); on rung `builder_code` the claimed code names it instead.
 */
export function gradeSettlement(found: UngradedSettlement, catalogue: Catalogue): Settlement {
  const named = catalogue.facilitatorOf(found.chain, found.relayer, found.blockTime);
  const seen =
    seenOnChain(found) |
    (catalogue.isPayee(found.chain, found.payee) ? SEEN.payee_catalogued : 0) |
    (catalogue.isDepositContract(found.payee) ? SEEN.channel_deposit : 0) |
    (named === undefined ? 0 : SEEN.relayer_named);
  const method = methodOf(seen);
  const claimed =
    method === 'builder_code' ? catalogue.builderCodes.get(found.builderFacilitator) : undefined;
  return {
    blockTime: found.blockTime,
    chain: found.chain,
    blockNumber: found.blockNumber,
    logIndex: found.logIndex,
    blockHash: found.blockHash,
    txHash: found.txHash,
    payer: found.payer,
    payee: found.payee,
    asset: found.asset,
    assetSymbol: found.assetSymbol,
    amount: found.amount,
    amountUsdMicros: found.amountUsdMicros,
    relayer: found.relayer,
    facilitator: named ?? claimed ?? '',
    method,
    seen,
    builderFacilitator: found.builderFacilitator,
    builderApps: found.builderApps,
  };
}

const MARKER_BIT = {
  authorization: SEEN.authorization_used,
  permit2: SEEN.permit2_settled,
  none: SEEN.no_marker,
} as const;

function seenOnChain(found: UngradedSettlement): number {
  return (
    MARKER_BIT[found.marker] |
    (found.directCall ? SEEN.direct_call : SEEN.routed_call) |
    relayBits(found) |
    (found.received ? SEEN.receive_with_authorization : 0) |
    (found.builderFacilitator === '' ? 0 : SEEN.builder_code) |
    (found.viaX402Contract ? SEEN.x402_contract : 0) |
    (found.selfPayment ? SEEN.self_payment : 0)
  );
}

/** States only who sent the transaction; whether the payee pulled the payment is a bit of its own. */
function relayBits({ relayedByPayer, relayedByPayee }: UngradedSettlement): number {
  if (!relayedByPayer && !relayedByPayee) return SEEN.third_party_relay;
  return (relayedByPayer ? SEEN.relayed_by_payer : 0) | (relayedByPayee ? SEEN.relayed_by_payee : 0);
}
