import { type EvidenceMethod, SEEN } from '../../core/domain/evidence.ts';

/** A row whose observations hold `any` of the bits, or `none` of them, gets the method. */
export interface GradeRule {
  readonly when: 'any' | 'none';
  readonly bits: number;
  readonly method: EvidenceMethod;
}

const PAIRED = SEEN.authorization_used | SEEN.permit2_settled;
const RELAYED_BY_PARTY = SEEN.relayed_by_payer | SEEN.relayed_by_payee;
const X402_SIGN = SEEN.builder_code | SEEN.x402_contract;

/**
 * The evidence ladder as a function of what was seen. Read top down, the first rule that holds counts, as in the table of
 * api.md 2; the last one always holds. Data and not code, because the engine evaluates the same rules in a regrade.
 *
 * A deposit stands above everything: it was not paid to a seller, whoever relayed it and however it was signed.
 * `receiveWithAuthorization` stands above the named relayer because nothing was relayed there: the payee pulled the payment
 * (protocol.md 2.1). A named relayer proves also a payment of its own, which `relayed_by_payer` and `relayed_by_payee` among
 * the reasons then say. Source: api.md 2, protocol.md 3.5.
 */
export const GRADE_RULES: readonly GradeRule[] = [
  { when: 'any', bits: SEEN.channel_deposit, method: 'channel_deposit' },
  { when: 'any', bits: SEEN.no_marker, method: 'bare_transfer' },
  { when: 'none', bits: PAIRED, method: 'not_examined' },
  { when: 'any', bits: SEEN.receive_with_authorization, method: 'self_relayed' },
  { when: 'any', bits: SEEN.relayer_named, method: 'facilitator_relay' },
  { when: 'any', bits: RELAYED_BY_PARTY, method: 'self_relayed' },
  { when: 'any', bits: X402_SIGN, method: 'builder_code' },
  { when: 'any', bits: SEEN.payee_catalogued, method: 'catalogued_payee' },
  { when: 'none', bits: 0, method: 'gasless_authorization' },
];

/** The rung that a set of observations reaches; of the stored bits alone, so that rows can be regraded without the chain. */
export function methodOf(seen: number): EvidenceMethod {
  for (const { when, bits, method } of GRADE_RULES) {
    if (((seen & bits) !== 0) === (when === 'any')) return method;
  }
  throw new Error('the last rule of the ladder must always hold');
}
