import type { PaymentStage, PaymentTrouble } from '../../core/domain/payment.ts';
import { type ErrorCode, type Failure, type FailureContext, fail } from '../../core/errors.ts';
import type { AuthorizationId } from '../accounts/payment-store.ts';
import { isSponsored, offerOf, type Quote, type Terms } from './offer.ts';
import { nonceHex, type PaymentFault, PERMIT2, type SignedPayment } from './signed-payment.ts';

/** Every answer of the x402 lane that is not a paid call: what happened to the money, and what to do now. */

/** How long a duplicate waits for the call that uses its payment. */
const DUPLICATE_RETRY_SECONDS = 2;
const FACILITATOR_RETRY_SECONDS = 5;
/** Until the chain is worth another look for a settlement of unknown outcome: two blocks and more on the chains we are paid on. */
const UNKNOWN_RETRY_SECONDS = 5;

const NOT_EXECUTABLE =
  'The transaction would fail on chain: its block hash may be too old (sign and send within a minute), it may have been executed before, the payer may lack the amount, or `payTo` a token account. Sign a new transaction.';

/** For reasons of the facilitator that we do not look for ourselves. */
const ADVICE: Readonly<Record<string, string>> = {
  invalid_exact_evm_signature:
    'The signature is not the payer’s over this authorization. Sign EIP-712 typed data `TransferWithAuthorization` with the domain of `extra`, not a plain message.',
  invalid_exact_evm_insufficient_balance:
    'The payer does not hold the amount. Fund it, or pay from another account.',
  invalid_exact_evm_nonce_already_used:
    'The authorization’s nonce was used before. Sign a new authorization.',
  invalid_exact_evm_transaction_simulation_failed:
    'The transfer would fail on chain: the payer may lack the amount, or the nonce was used. Sign a new authorization.',
  invalid_permit2_signature:
    'The signature is not the payer’s over this authorization. Sign EIP-712 typed data `PermitWitnessTransferFrom` with the domain of Permit2 on this chain.',
  permit2_allowance_required: `The payer has not let Permit2 move its tokens. Approve ${PERMIT2} on the token once, for the amount at least, or pay by \`exact\`.`,
  permit2_insufficient_balance:
    'The payer does not hold the amount that it may cost. Fund it, or pay from another account.',
  permit2_invalid_nonce: 'The authorization’s nonce was used before. Sign a new authorization.',
  permit2_simulation_failed:
    'The transfer would fail on chain: the nonce may have been used. Sign a new authorization.',
  invalid_exact_svm_transaction_simulation_failed: NOT_EXECUTABLE,
  transaction_simulation_failed: NOT_EXECUTABLE,
  invalid_exact_svm_payload_signature_invalid:
    'A signature of the transaction is missing, or is not over its message. Sign it with the authority of the transfer.',
};

/** Reasons that lie in our terms: another signature over the same terms is refused as well. */
const OUR_FAULTS: ReadonlySet<string> = new Set([
  'invalid_exact_evm_token_name_mismatch',
  'invalid_exact_evm_token_version_mismatch',
  'invalid_exact_evm_missing_eip712_domain',
  'invalid_exact_evm_eip3009_not_supported',
]);

const OUR_FAULT =
  'The offer contradicts the contract of this token, which is a fault of this service and not of your signature. Nothing was charged. Do not sign it again: pay with another entry of `accepts`, or tell the operator.';

/** Whether the facilitator refuses a payment for what our offer says of the token. */
export function isOurFault(reason: string | null): boolean {
  return reason !== null && OUR_FAULTS.has(reason);
}

type Context = Omit<FailureContext, 'payment' | 'offer'>;

/** A 402 shows the terms again, so that the payer can sign anew without another request. */
function refuse(quote: Quote, code: ErrorCode, payment: PaymentTrouble, context: Context): Failure {
  return fail(code, { ...context, payment, offer: offerOf(quote, code) });
}

export function malformed(quote: Quote, problem: string): Failure {
  return refuse(
    quote,
    'payment_malformed',
    { stage: 'input' },
    { detail: `${problem} Nothing was charged.` },
  );
}

/** A fault that we found ourselves, before the facilitator was asked. */
export function unacceptable(quote: Quote, { reason, detail }: PaymentFault): Failure {
  return refuse(quote, 'payment_invalid', { stage: 'verify', reason }, { detail });
}

/** The facilitator's verdict. */
export function rejected(quote: Quote, reason: string | null): Failure {
  const stage = stageOf(reason);
  const advice = isOurFault(reason) ? OUR_FAULT : ADVICE[reason ?? ''];
  const detail =
    advice ??
    (stage === 'fee'
      ? 'The facilitator could not take its own fee. Nothing was charged: send the same payment again later.'
      : 'The facilitator rejected the payment and will again. Sign a new authorization for one of `accepts`.');
  return refuse(quote, 'payment_invalid', { stage, ...(reason === null ? {} : { reason }) }, { detail });
}

/** Facilitators name what failed; a fee is theirs and no fault of the payment. */
function stageOf(reason: string | null): PaymentStage {
  if (reason?.endsWith('_signature') === true || reason?.endsWith('_signature_invalid') === true)
    return 'signature';
  return reason?.startsWith('fee_') === true ? 'fee' : 'verify';
}

/** What the x402 packages call a payment that was used, and one that can be settled no more. */
const REASONS: Readonly<
  Record<SignedPayment['kind'], { readonly spent: string; readonly ended: string; readonly foreign: string }>
> = {
  authorization: {
    spent: 'invalid_exact_evm_nonce_already_used',
    ended: 'invalid_exact_evm_payload_authorization_valid_before',
    foreign: '',
  },
  permit: {
    spent: 'permit2_invalid_nonce',
    ended: 'permit2_deadline_expired',
    foreign: 'upto_facilitator_mismatch',
  },
  transaction: {
    spent: 'duplicate_settlement',
    ended: 'invalid_exact_svm_transaction_simulation_failed',
    foreign: 'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
  },
};

type Paid = Pick<Terms, 'scheme' | 'chain'>;

function reasonsOf(terms: Paid) {
  if (terms.scheme === 'upto') return REASONS.permit;
  return isSponsored(terms) ? REASONS.transaction : REASONS.authorization;
}

export function spent(quote: Quote, terms: Paid): Failure {
  return unacceptable(quote, {
    reason: reasonsOf(terms).spent,
    detail: 'This payment was used before. A payment buys one answer to one request: sign a new one.',
  });
}

/** Too many answers seem to have been lost: a caller can make that look so. */
export function triedOften(quote: Quote, terms: Paid): Failure {
  return unacceptable(quote, {
    reason: reasonsOf(terms).spent,
    detail:
      'This payment was answered several times, and no answer arrived whole. It is not answered again: sign a new one, or ask the operator with the transaction.',
  });
}

/** Only when it is certain that the authorization never settled and never will. */
export function ended(quote: Quote, terms: Paid): Failure {
  return unacceptable(quote, {
    reason: reasonsOf(terms).ended,
    detail: 'This payment was never settled and no longer can be. Nothing was charged: sign a new one.',
  });
}

/** Our facilitator cannot settle what names another address. */
export function foreignFacilitator(quote: Quote, terms: Paid): Failure {
  return unacceptable(quote, {
    reason: reasonsOf(terms).foreign,
    detail: isSponsored(terms)
      ? 'The transaction names another account that pays its fee. Sign one with `extra.feePayer` of one of `accepts`.'
      : 'The authorization lets another facilitator settle. Sign `extra.facilitatorAddress` of one of `accepts` as `witness.facilitator`.',
  });
}

/** Only when it is certain that this authorization pays for no call here. */
export function settlementFailed(quote: Quote, reason: string | null, spentOtherwise: boolean): Failure {
  const trouble: PaymentTrouble = { stage: 'settle', ...(reason === null ? {} : { reason }) };
  return refuse(quote, 'payment_failed', trouble, {
    detail: spentOtherwise
      ? 'The payment was verified, but the chain shows that its authorization was cancelled or used otherwise than for this call. Sign a new one.'
      : 'The payment was verified, but the facilitator could not settle it. Nothing was charged. Send it again, or sign a new one.',
  });
}

export function inProgress(): Failure {
  return fail('payment_in_progress', {
    detail: 'Another request is using this payment right now. It is not charged twice.',
    payment: { stage: 'settle' },
    retryAfterSeconds: DUPLICATE_RETRY_SECONDS,
  });
}

export function facilitatorUnavailable(cause: unknown): Failure {
  return fail('upstream_unavailable', {
    detail:
      'The facilitator does not answer, so that the payment was not taken. Send the same request again later.',
    resource: 'facilitator',
    payment: { stage: 'facilitator' },
    retryAfterSeconds: FACILITATOR_RETRY_SECONDS,
    cause,
  });
}

export interface OpenOutcome {
  readonly id: AuthorizationId;
  /** When the facilitator was asked to settle. */
  readonly sinceMs?: number;
  /** Whether the chain was read and did not show it; false where nothing could be read. */
  readonly isReadable?: boolean;
  /** The transaction that the facilitator named, where the chain does not confirm it. */
  readonly transaction?: string | null;
  readonly reason?: string | null;
  readonly cause?: unknown;
}

/** Nothing on Solana has a digest of a message in it: the payer finds its own signature. */
const LOOK_FOR = {
  eip155: 'Check the chain for the authorization’s nonce',
  solana: 'Check the newest transactions of the payer on the chain',
} as const;

/** The same answer each time the payment is sent, until the chain shows the outcome. */
export function settlementUnknown({
  id,
  sinceMs,
  isReadable = false,
  transaction,
  reason,
  cause,
}: OpenOutcome): Failure {
  const asked = sinceMs === undefined ? '' : ` the facilitator was asked at ${secondText(sinceMs)}, and`;
  const seen = isReadable ? 'the chain does not show the payment yet' : 'the chain could not be read';
  return fail('settlement_unknown', {
    detail: `Whether the payment settled is not known:${asked} ${seen}. ${LOOK_FOR[id.chain.startsWith('solana:') ? 'solana' : 'eip155']} before you sign another one. Send this request with this payment again: it is never settled twice, and served once the settlement is seen.`,
    payment: {
      stage: 'settle',
      authorizationNonce: nonceHex(id.nonce),
      ...(sinceMs === undefined ? {} : { sinceMs }),
      ...(transaction === undefined || transaction === null ? {} : { transaction }),
      ...(reason === undefined || reason === null ? {} : { reason }),
    },
    retryAfterSeconds: UNKNOWN_RETRY_SECONDS,
    cause,
  });
}

function secondText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** The payment settled and the store does not answer: the failure says both. */
export function settledButNotRecorded(id: AuthorizationId, transaction: string, cause: unknown): Failure {
  return fail('upstream_unavailable', {
    detail:
      'The payment settled, but could not be recorded. Send the same request with the same payment again: it is not settled twice.',
    resource: 'accounts',
    payment: { stage: 'settle', transaction, authorizationNonce: nonceHex(id.nonce) },
    retryAfterSeconds: FACILITATOR_RETRY_SECONDS,
    cause,
  });
}
