import { isAddress, readAddress, toChecksum } from '../../core/domain/address.ts';
import { findPermitFault } from './match-permit.ts';
import { ceilingOf, type Quote, type Terms } from './offer.ts';
import type { SignedAuthorization, SignedPayment, SignedTransfer } from './read-payment.ts';
import { type Refusal, VALID_BEFORE_MARGIN_SECONDS } from './refusal.ts';

/**
 * What we can say about a payment without asking anybody: whether it is for one of our terms, in full, in time. The reasons
 * are those that the x402 packages use for the same findings, so that clients learn one vocabulary. Source: protocol.md 1.6.
 */

const UINT256_END = 2n ** 256n;

/**
 * The terms that a payment is for. Those of a ceiling follow from the price and from the facilitator that the payer names, so
 * that one which settled is known again also while our facilitator cannot be asked.
 */
export function chooseTerms(payment: SignedPayment, { order, terms }: Quote): Terms | Refusal {
  const { accepted, network } = payment;
  if (accepted === null)
    return terms.find(({ v1 }) => v1 !== null && v1['network'] === network) ?? unknownNetwork();
  const onChain = terms.filter(({ scheme, chain }) => scheme === 'exact' && chain === network);
  if (onChain.length === 0) return unknownNetwork();
  const asset = accepted.asset.toLowerCase();
  const exact = onChain.find((one) => one.asset === asset);
  if (exact === undefined)
    return {
      reason: 'invalid_payment_requirements',
      detail: 'This call is not sold for the accepted `asset`. Pay one of `accepts`.',
    };
  if (payment.scheme === 'exact') return exact;
  if (order.settledByUse) return ceilingOf(exact, payment.permit.facilitator);
  return {
    reason: 'unsupported_scheme',
    detail: 'This call has a fixed price and is not sold by `upto`. Pay one of `accepts`.',
  };
}

function unknownNetwork(): Refusal {
  return {
    reason: 'invalid_network',
    detail: 'This call is not sold on the network of the payment. Pay one of `accepts`.',
  };
}

/** Null when nothing speaks against the payment; what only the chain knows is the facilitator's to check. */
export function findFault(
  payment: SignedPayment,
  terms: Terms,
  { order, nowMs }: { readonly order: Quote['order']; readonly nowMs: number },
): Refusal | null {
  const nowSeconds = BigInt(Math.floor(nowMs / 1_000));
  const foreign = findForeignTerms(payment, terms, order.url);
  if (foreign !== null) return foreign;
  if (payment.scheme === 'upto') return findPermitFault(payment.permit, terms, nowSeconds);
  return (
    findBadParties(payment.authorization, terms) ??
    findBadAmount(payment, terms) ??
    findBadTime(payment.authorization, nowSeconds)
  );
}

/** What a v2 payment says it accepted must be what we ask now: prices change, and an offer is for one URL. */
function findForeignTerms(
  { accepted, resourceUrl }: SignedPayment,
  { amount, payTo }: Terms,
  url: string,
): Refusal | null {
  const stale =
    accepted !== null && (accepted.amount !== String(amount) || accepted.payTo.toLowerCase() !== payTo);
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

function findBadParties({ from, to }: SignedAuthorization, { payTo }: Terms): Refusal | null {
  if (!isSpelled(from) || !isSpelled(to))
    return {
      reason: 'invalid_exact_evm_address_checksum',
      detail:
        '`from` or `to` is spelled in mixed case that contradicts EIP-55, so that its signature cannot be checked. Sign the checksummed addresses.',
    };
  if (to.toLowerCase() === payTo) return null;
  return {
    reason: 'invalid_exact_evm_recipient_mismatch',
    detail: 'The authorization pays somebody else. Sign `payTo` of one of `accepts`.',
  };
}

/** Lower case, or EIP-55: what typed-data encoders accept. */
function isSpelled(text: string): boolean {
  const lower = readAddress(text.toLowerCase());
  return isAddress(lower) && (text === lower || text === toChecksum(lower));
}

function findBadAmount({ x402Version, authorization }: SignedTransfer, { amount }: Terms): Refusal | null {
  if (BigInt(authorization.value) === amount) return null;
  return {
    reason:
      x402Version === 1
        ? 'invalid_exact_evm_authorization_value'
        : 'invalid_exact_evm_payload_authorization_value_mismatch',
    detail: `The authorization is not for the price. Sign exactly ${amount} atomic units.`,
  };
}

function findBadTime({ validAfter, validBefore }: SignedAuthorization, now: bigint): Refusal | null {
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
