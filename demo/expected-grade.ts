import type { EvidenceMethod } from '../core/domain/evidence.ts';
import type { Hash } from '../core/domain/settlement.ts';
import type { Cast } from './actors.ts';
import type { PaidLog } from './ledger.ts';
import type { PlannedTransaction } from './payment-mix.ts';

/** ERC-8021: calldata that ends so carries builder codes. */
const BUILDER_MARKER = '80218021802180218021802180218021';
/** receiveWithAuthorization, with the signature in parts or in one piece. */
const RECEIVE_SELECTORS = ['0xef55bec6', '0x88b7ab63'];

export interface GradeExpectations {
  /** Payees whose bare transfers are shown too. */
  readonly cataloguedPayees: ReadonlySet<string>;
  /** The grade that a settlement must be given; null where only its parties, amount and time can be compared. */
  expectedMethod(paid: PaidLog): EvidenceMethod | null;
}

/**
 * What the demo sent is expected as it was planned. A visitor's transaction is expected as its receipt tells, by the ladder of
 * docs/reference/evidence.md spelled out anew: this must not share code with what it contradicts.
 */
export function gradeExpectations(
  cast: Cast,
  made: ReadonlyMap<Hash, PlannedTransaction>,
): GradeExpectations {
  const catalogued = [...cast.merchants.filter((merchant) => merchant.catalogued), ...cast.shops, cast.api];
  const payees = new Set<string>(catalogued.map(({ address }) => address));
  const named = new Set<string>(cast.facilitators.flatMap(({ relayers }) => relayers));
  const byPayee = (payee: string): EvidenceMethod =>
    payees.has(payee) ? 'catalogued_payee' : 'gasless_authorization';
  const ofStranger = ({ marker, input, relayer, payer, payee }: PaidLog): EvidenceMethod | null => {
    if (marker === 'none') return 'bare_transfer';
    if (RECEIVE_SELECTORS.some((selector) => input.startsWith(selector))) return 'self_relayed';
    if (named.has(relayer)) return 'facilitator_relay';
    if (relayer === payer || relayer === payee) return 'self_relayed';
    if (marker === 'permit2') return 'builder_code';
    // Whether the code in there is well-formed is for the decoder to say.
    return input.endsWith(BUILDER_MARKER) ? null : byPayee(payee);
  };
  return {
    cataloguedPayees: payees,
    expectedMethod(paid) {
      const planned = made.get(paid.txHash);
      if (planned === undefined) return ofStranger(paid);
      return planned.expected === 'by_payee' ? byPayee(paid.payee) : planned.expected;
    },
  };
}
