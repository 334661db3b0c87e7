import { type Grade, gradedSettlement, type Settlement } from '../../clickhouse/tables/settlements.ts';
import { type EvidenceMethod, SEEN } from '../../core/domain/evidence.ts';
import type { Catalogue } from './catalogue.ts';

/**
 * What on the chain marks a row; `none` is a bare transfer to a catalogued payee. A claim is of a payment channel, a capture of an escrow,
 * and a move is any other row of these: money goes in or out, and no seller is paid. On Solana nothing marks a payment but that another account
 * paid the fee: in a transaction of the form of `exact`, or of another one.
 */
export type Marker =
  | 'authorization'
  | 'permit2'
  | 'claim'
  | 'capture'
  | 'move'
  | 'sponsored_exact'
  | 'sponsored'
  | 'none';

/** A settlement as the chain shows it, before the catalogue is applied. */
export interface UngradedSettlement extends Omit<Settlement, keyof Grade> {
  readonly marker: Marker;
  /** The transaction called the token itself, and its calldata equals the log (docs/design/evidence.md). */
  readonly directCall: boolean;
  /** The sender of the transaction is the payer, or the payee; both in a self-payment. */
  readonly relayedByPayer: boolean;
  readonly relayedByPayee: boolean;
  readonly selfPayment: boolean;
  /** The payee pulled the payment (`receiveWithAuthorization`): there was no relayer. */
  readonly received: boolean;
  /** The call went through a contract that serves x402 only. */
  readonly viaX402Contract: boolean;
}

/**
 * Grades a settlement against the catalogue. `facilitator` is the owner of the relayer whenever known (also on the lower rungs: it
 * states who relayed, not how sure we are); on rung `builder_code` the claimed code names it instead.
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
  return gradedSettlement(found, { facilitator: named ?? claimed ?? '', method, seen });
}

const MARKER_BIT = {
  authorization: SEEN.authorization_used,
  permit2: SEEN.permit2_settled,
  claim: SEEN.voucher_claimed,
  capture: SEEN.escrow_captured,
  move: SEEN.channel_move,
  sponsored_exact: SEEN.sponsored_exact,
  sponsored: SEEN.sponsored_transfer,
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

/** Covers only the sender of the transaction; whether the payee pulled the payment is a separate bit. */
function relayBits({ relayedByPayer, relayedByPayee }: UngradedSettlement): number {
  if (!relayedByPayer && !relayedByPayee) return SEEN.third_party_relay;
  return (relayedByPayer ? SEEN.relayed_by_payer : 0) | (relayedByPayee ? SEEN.relayed_by_payee : 0);
}

/** A row whose observations hold `any` of the bits, or `none` of them, gets the method. */
export interface GradeRule {
  readonly when: 'any' | 'none';
  readonly bits: number;
  readonly method: EvidenceMethod;
}

const PAIRED =
  SEEN.authorization_used |
  SEEN.permit2_settled |
  SEEN.voucher_claimed |
  SEEN.escrow_captured |
  SEEN.sponsored_exact |
  SEEN.sponsored_transfer;
const RELAYED_BY_PARTY = SEEN.relayed_by_payer | SEEN.relayed_by_payee;
const X402_SIGN = SEEN.builder_code | SEEN.x402_contract;

/**
 * The evidence ladder as a function of the observations. The first matching rule from the top applies, as in the table of
 * docs/design/evidence.md; the last one always matches. Data, not code, because the engine evaluates the same rules in a regrade.
 *
 * A move of a channel comes first: it pays no seller, regardless of its relayer or signature. `receiveWithAuthorization` comes before the named
 * relayer because nothing was relayed: the payee pulled the payment (EIP-3009). A named relayer also proves a payment of its own, which
 * the reasons `relayed_by_payer` and `relayed_by_payee` then show. A claim needs a voucher of the payer whoever sends it, mostly the seller.
 * A sponsored transfer of Solana that no facilitator of `exact` would send is a plain one, unless its fee payer or its payee is known.
 */
export const GRADE_RULES: readonly GradeRule[] = [
  { when: 'any', bits: SEEN.channel_move, method: 'channel_move' },
  { when: 'any', bits: SEEN.no_marker, method: 'bare_transfer' },
  { when: 'none', bits: PAIRED, method: 'not_examined' },
  { when: 'any', bits: SEEN.receive_with_authorization, method: 'self_relayed' },
  { when: 'any', bits: SEEN.relayer_named, method: 'facilitator_relay' },
  { when: 'any', bits: SEEN.voucher_claimed, method: 'builder_code' },
  { when: 'any', bits: RELAYED_BY_PARTY, method: 'self_relayed' },
  { when: 'any', bits: X402_SIGN, method: 'builder_code' },
  { when: 'any', bits: SEEN.payee_catalogued, method: 'catalogued_payee' },
  { when: 'any', bits: SEEN.sponsored_transfer, method: 'bare_transfer' },
  { when: 'none', bits: 0, method: 'gasless_authorization' },
];

/** The rung that a set of observations reaches; of the stored bits alone, so that rows can be regraded without the chain. */
export function methodOf(seen: number): EvidenceMethod {
  for (const { when, bits, method } of GRADE_RULES) {
    if (((seen & bits) !== 0) === (when === 'any')) return method;
  }
  throw new Error('the last rule of the ladder must always hold');
}
