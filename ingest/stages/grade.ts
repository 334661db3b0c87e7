import { type EvidenceMethod, SEEN } from '../../src/domain/evidence.ts';
import type { Settlement } from '../../src/domain/settlement.ts';
import type { Catalogue } from '../catalogues/catalogue.ts';
import type { UngradedSettlement } from './ungraded-settlement.ts';

const PAIRED = SEEN.authorization_used | SEEN.permit2_settled;
const RELAYED_BY_PARTY = SEEN.relayed_by_payer | SEEN.relayed_by_payee;
const X402_SIGN = SEEN.builder_code | SEEN.x402_contract;

/**
 * The rung of the evidence ladder that a set of observations reaches; a function of the stored bits alone, so that rows can
 * be regraded without the chain. Source: api.md 2, protocol.md 3.5.
 *
 * Read top down, the first that holds counts, as in the table of api.md 2. `receiveWithAuthorization` stands above the named
 * relayer because nothing was relayed there: the payee pulled the payment (protocol.md 2.1). A named relayer proves also a
 * payment of its own, which `relayed_by_payer` and `relayed_by_payee` among the reasons then say.
 */
export function methodOf(seen: number): EvidenceMethod {
  if (seen & SEEN.no_marker) return 'bare_transfer';
  if (!(seen & PAIRED)) return 'not_examined';
  if (seen & SEEN.receive_with_authorization) return 'self_relayed';
  if (seen & SEEN.relayer_named) return 'facilitator_relay';
  if (seen & RELAYED_BY_PARTY) return 'self_relayed';
  if (seen & X402_SIGN) return 'builder_code';
  return seen & SEEN.payee_catalogued ? 'catalogued_payee' : 'gasless_authorization';
}

/**
 * Grades a settlement against the catalogues. `facilitator` is the owner of the relayer whenever that is known (also on the
 * lower rungs: it states who relayed, not how sure we are); on rung `builder_code` the claimed code names it instead.
 */
export function gradeSettlement(found: UngradedSettlement, catalogue: Catalogue): Settlement {
  const named = catalogue.facilitatorOf(found.chain, found.relayer, found.blockTime);
  const seen =
    seenOnChain(found) |
    (catalogue.isPayee(found.chain, found.payee) ? SEEN.payee_catalogued : 0) |
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
