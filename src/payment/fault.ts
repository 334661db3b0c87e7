import { isAddress, isSameAccount, readAddress, toChecksum } from '../../core/domain/account.ts';
import { ceilingOf, isSponsored, OPEN_CALL_SECONDS, type Quote, sponsoredBy, type Terms } from './offer.ts';
import {
  type PaymentFault,
  type PermitAuthorization,
  type SignedAuthorization,
  type SignedPayment,
  type SignedTransfer,
  UPTO_PROXY,
} from './signed-payment.ts';
import { type SponsoredTransfer, tokenAccountOf, tokenProgramOf } from './solana/transfer.ts';

/** Facilitators refuse an authorization that ends within six seconds, because it could not be settled in time; so do we. */
const VALID_BEFORE_MARGIN_SECONDS = 6n;

/**
 * Checks a payment without the chain: whether it is for one of our terms, in full, in time. The reasons are those
 * that the x402 packages use for the same findings, so that clients need one vocabulary only.
 */

const UINT256_END = 2n ** 256n;

/**
 * The terms that a payment is for. Those that payers bind to an address of the facilitator follow from the price and from the address that
 * the payer names, so that a payment which settled is recognised also while our facilitator cannot be asked.
 */
export function chooseTerms(payment: SignedPayment, quote: Quote): Terms | PaymentFault {
  const exact = findAccepted(payment, quote);
  if ('reason' in exact) return exact;
  if (isSponsored(exact) !== (payment.kind === 'transaction'))
    return {
      reason: 'invalid_payment_requirements',
      detail: isSponsored(exact)
        ? 'On this network the payer signs a transaction, `payload.transaction`. Pay one of `accepts`.'
        : 'On this network the payer signs an authorization, `payload.authorization`. Pay one of `accepts`.',
    };
  switch (payment.kind) {
    case 'authorization':
      return exact;
    case 'transaction':
      return sponsoredBy(exact, payment.transfer.feePayer);
    case 'permit':
      return quote.order.settledByUse ? ceilingOf(exact, payment.permit.facilitator) : fixedPrice();
  }
}

function findAccepted({ accepted, network }: SignedPayment, quote: Quote): Terms | PaymentFault {
  if (accepted === null)
    return quote.accepted.find(({ v1 }) => v1 !== null && v1['network'] === network) ?? unknownNetwork();
  const onChain = quote.accepted.filter(({ chain }) => chain === network);
  if (onChain.length === 0) return unknownNetwork();
  return (
    onChain.find(({ asset }) => isSameAccount(accepted.asset, asset)) ?? {
      reason: 'invalid_payment_requirements',
      detail: 'This call is not sold for the accepted `asset`. Pay one of `accepts`.',
    }
  );
}

function fixedPrice(): PaymentFault {
  return {
    reason: 'unsupported_scheme',
    detail: 'This call has a fixed price and is not sold by `upto`. Pay one of `accepts`.',
  };
}

function unknownNetwork(): PaymentFault {
  return {
    reason: 'invalid_network',
    detail: 'This call is not sold on the network of the payment. Pay one of `accepts`.',
  };
}

/** Null when the payment is in order; the facilitator checks what only the chain knows. */
export function findFault(
  payment: SignedPayment,
  terms: Terms,
  { order, nowMs }: { readonly order: Quote['order']; readonly nowMs: number },
): PaymentFault | null {
  const nowSeconds = BigInt(Math.floor(nowMs / 1_000));
  const foreign = findForeignTerms(payment, terms, order.url);
  if (foreign !== null) return foreign;
  switch (payment.kind) {
    case 'permit':
      return findPermitFault(payment.permit, terms, nowSeconds);
    case 'transaction':
      return findTransferFault(payment.transfer, terms);
    case 'authorization':
      return (
        findBadParties(payment.authorization, terms) ??
        findBadAmount(payment, terms) ??
        findBadTime(payment.authorization, nowSeconds)
      );
  }
}

/** The same for a transaction of Solana. Only a node knows whether its block hash counts still: the facilitator simulates it. */
export function findTransferFault(transfer: SponsoredTransfer, terms: Terms): PaymentFault | null {
  const { asset, payTo, amount, paidBy } = terms;
  if (transfer.mint !== asset || transfer.tokenProgram !== tokenProgramOf(paidBy))
    return {
      reason: 'invalid_exact_svm_payload_mint_mismatch',
      detail: 'The transaction transfers another token than the accepted `asset`.',
    };
  if (transfer.destination !== tokenAccountOf(payTo, asset, transfer.tokenProgram))
    return {
      reason: 'invalid_exact_svm_payload_recipient_mismatch',
      detail: 'The transaction pays another account than the associated token account of `payTo`.',
    };
  if (transfer.amount === amount) return null;
  return {
    reason: 'invalid_exact_svm_payload_amount_mismatch',
    detail: `The transaction is not for the price. Sign exactly ${amount} atomic units.`,
  };
}

/** The terms that a v2 payment accepted must be the present ones: prices change, and an offer is for one URL. */
function findForeignTerms(
  { accepted, resourceUrl }: SignedPayment,
  { amount, payTo }: Terms,
  url: string,
): PaymentFault | null {
  const stale =
    accepted !== null && (accepted.amount !== String(amount) || !isSameAccount(accepted.payTo, payTo));
  const elsewhere = resourceUrl !== null && !isSameUrl(resourceUrl, url);
  if (!stale && !elsewhere) return null;
  return {
    reason: 'invalid_payment_requirements',
    detail: elsewhere
      ? 'The payment names another resource than this request. A payment buys one URL.'
      : 'The accepted terms are not those of this call. Sign one of the current `accepts`.',
  };
}

function isSameUrl(a: string, b: string): boolean {
  return a === b || (URL.canParse(a) && URL.canParse(b) && new URL(a).href === new URL(b).href);
}

function findBadParties({ from, to }: SignedAuthorization, { payTo }: Terms): PaymentFault | null {
  if (!isSpelled(from) || !isSpelled(to))
    return {
      reason: 'invalid_exact_evm_address_checksum',
      detail:
        '`from` or `to` is spelled in mixed case that contradicts EIP-55, so that its signature cannot be checked. Sign the checksummed addresses.',
    };
  if (to.toLowerCase() === payTo) return null;
  return {
    reason: 'invalid_exact_evm_recipient_mismatch',
    detail: 'The authorization pays another account. Sign `payTo` of one of `accepts`.',
  };
}

/** Lower case, or EIP-55: what typed-data encoders accept. */
function isSpelled(text: string): boolean {
  const lower = readAddress(text.toLowerCase(), 'eip155');
  return isAddress(lower) && (text === lower || text === toChecksum(lower));
}

function findBadAmount(
  { x402Version, authorization }: SignedTransfer,
  { amount }: Terms,
): PaymentFault | null {
  if (BigInt(authorization.value) === amount) return null;
  return {
    reason:
      x402Version === 1
        ? 'invalid_exact_evm_authorization_value'
        : 'invalid_exact_evm_payload_authorization_value_mismatch',
    detail: `The authorization is not for the price. Sign exactly ${amount} atomic units.`,
  };
}

function findBadTime({ validAfter, validBefore }: SignedAuthorization, now: bigint): PaymentFault | null {
  if (BigInt(validBefore) >= UINT256_END || BigInt(validBefore) < now + VALID_BEFORE_MARGIN_SECONDS)
    return {
      reason: 'invalid_exact_evm_payload_authorization_valid_before',
      detail:
        'The authorization has ended or ends within seconds. Sign one whose `validBefore` is minutes away.',
    };
  if (BigInt(validAfter) > now)
    return {
      reason: 'invalid_exact_evm_payload_authorization_valid_after',
      detail: 'The authorization is not valid yet. Sign one whose `validAfter` has passed.',
    };
  return null;
}

/** The same for a ceiling. lane.ts checks that the facilitator which it names is ours. */
export function findPermitFault(permit: PermitAuthorization, terms: Terms, now: bigint): PaymentFault | null {
  return (
    findBadPermitParties(permit, terms) ??
    findBadPermitAmount(permit, terms) ??
    findBadPermitTime(permit, now)
  );
}

function findBadPermitParties({ spender, to }: PermitAuthorization, { payTo }: Terms): PaymentFault | null {
  if (spender !== UPTO_PROXY)
    return {
      reason: 'invalid_permit2_spender',
      detail: `The authorization lets another contract spend. Sign \`spender\` ${UPTO_PROXY} (x402UptoPermit2Proxy).`,
    };
  if (to === payTo) return null;
  return {
    reason: 'invalid_permit2_recipient_mismatch',
    detail: 'The authorization pays another account. Sign `payTo` of one of `accepts` as `witness.to`.',
  };
}

function findBadPermitAmount({ token, amount }: PermitAuthorization, terms: Terms): PaymentFault | null {
  if (token !== terms.asset)
    return {
      reason: 'permit2_token_mismatch',
      detail: 'The authorization is for another token than the accepted `asset`.',
    };
  if (amount === terms.amount) return null;
  return {
    reason: 'permit2_amount_mismatch',
    detail: `The authorization is not for the maximum price. Sign exactly ${terms.amount} atomic units: only the part that is used is settled.`,
  };
}

function findBadPermitTime({ deadline, validAfter }: PermitAuthorization, now: bigint): PaymentFault | null {
  if (deadline < now + BigInt(OPEN_CALL_SECONDS) + VALID_BEFORE_MARGIN_SECONDS)
    return {
      reason: 'permit2_deadline_expired',
      detail: `The authorization has ended, or ends before the call may. Sign one whose \`deadline\` is \`maxTimeoutSeconds\` away, at least ${OPEN_CALL_SECONDS} s.`,
    };
  if (validAfter <= now) return null;
  return {
    reason: 'permit2_not_yet_valid',
    detail: 'The authorization is not valid yet. Sign one whose `validAfter` has passed.',
  };
}
