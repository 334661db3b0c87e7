import type { PaymentStage, PaymentTrouble } from '../../core/domain/payment.ts';
import { type ErrorCode, type Failure, type FailureContext, fail } from '../../core/errors.ts';
import type { AuthorizationId } from '../accounts/payment-store.ts';
import type { PaymentFault } from './fault.ts';
import { offerOf, type Quote, type Terms } from './offer.ts';
import { nonceHex, PERMIT2 } from './signed-payment.ts';

/** Every answer of the x402 lane that is not a paid call: what happened to the money, and what to do now. */

/** How long a duplicate waits for the call that uses its payment. */
const DUPLICATE_RETRY_SECONDS = 2;
const FACILITATOR_RETRY_SECONDS = 5;
/** Until the chain is worth another look for a settlement of unknown outcome: two blocks and more on the chains we are paid on. */
const UNKNOWN_RETRY_SECONDS = 5;

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
  if (reason?.endsWith('_signature') === true) return 'signature';
  return reason?.startsWith('fee_') === true ? 'fee' : 'verify';
}

export function spent(quote: Quote, { scheme }: Pick<Terms, 'scheme'>): Failure {
  return unacceptable(quote, {
    reason: scheme === 'upto' ? 'permit2_invalid_nonce' : 'invalid_exact_evm_nonce_already_used',
    detail:
      'This payment was used before. A payment buys one answer to one request: sign a new authorization.',
  });
}

/** Too many answers seem to have been lost: a caller can make that look so. */
export function triedOften(quote: Quote, { scheme }: Pick<Terms, 'scheme'>): Failure {
  return unacceptable(quote, {
    reason: scheme === 'upto' ? 'permit2_invalid_nonce' : 'invalid_exact_evm_nonce_already_used',
    detail:
      'This payment was answered several times, and no answer arrived whole. It is not answered again: sign a new authorization, or ask the operator with the transaction.',
  });
}

/** Only when it is certain that the authorization never settled and never will. */
export function ended(quote: Quote, { scheme }: Pick<Terms, 'scheme'>): Failure {
  return unacceptable(quote, {
    reason:
      scheme === 'upto' ? 'permit2_deadline_expired' : 'invalid_exact_evm_payload_authorization_valid_before',
    detail:
      'This payment was never settled and no longer can be. Nothing was charged: sign a new authorization.',
  });
}

/** Our facilitator cannot settle a ceiling that names another address. */
export function foreignFacilitator(quote: Quote): Failure {
  return unacceptable(quote, {
    reason: 'upto_facilitator_mismatch',
    detail:
      'The authorization lets another facilitator settle. Sign `extra.facilitatorAddress` of one of `accepts` as `witness.facilitator`.',
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
    detail: `Whether the payment settled is not known:${asked} ${seen}. Check the chain for the authorization’s nonce before you sign another one. Send this request with this payment again: it is never settled twice, and served once the settlement is seen.`,
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
