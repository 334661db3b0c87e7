import { createHash } from 'node:crypto';
import type { Address } from '../../core/domain/account.ts';
import type { AuthorizationId } from '../accounts/payment-store.ts';
import type { SettlementQuestion } from './confirm.ts';
import type { PaymentToSettle } from './facilitator.ts';
import { chooseTerms } from './fault.ts';
import { type Quote, requirementOf, resourceOf, type Terms } from './offer.ts';
import { malformed, unacceptable } from './refusals.ts';
import {
  type PaymentFault,
  payloadFor,
  permit2NonceId,
  readPayment,
  type SignedPayment,
  type UnreadablePayment,
} from './signed-payment.ts';

/** A request with the payment that came with it and the terms which that payment is for. */
export interface Purchase {
  readonly quote: Quote;
  readonly payment: SignedPayment;
  readonly terms: Terms;
  /** Atomic units to settle: the amount of the terms, or the part of a ceiling that was used. */
  readonly asked: bigint;
  readonly id: AuthorizationId;
  readonly payer: Address;
  /**
   * The payment is bound to two things: the request, and the signature. Payer and nonce are public once a payment is on chain, so
   * that without the signature any caller could try to take up what another has paid for.
   */
  readonly binding: string;
}

/** Throws `payment_malformed`, or `payment_invalid` for a network, an asset or a scheme that is not on offer. */
export function readPurchase(quote: Quote, header: string): Purchase {
  const purchase = findPurchase(quote, header);
  if ('problem' in purchase) throw malformed(quote, purchase.problem);
  if ('reason' in purchase) throw unacceptable(quote, purchase);
  return purchase;
}

/** The same, with the fault of the header in place of a failure. */
export function findPurchase(quote: Quote, header: string): Purchase | UnreadablePayment | PaymentFault {
  const payment = readPayment(header);
  if (!('kind' in payment)) return payment;
  const terms = chooseTerms(payment, quote);
  if ('reason' in terms) return terms;
  const { payer, nonce } = signerOf(payment);
  const binding = createHash('sha256')
    .update(`${quote.order.binding}\n${signatureOf(payment)}`)
    .digest('hex');
  const id = { chain: terms.chain, asset: terms.asset, payer, nonce };
  return { quote, payment, terms, asked: terms.amount, id, payer, binding };
}

/** Hex is the same in any case, base64 is not. */
function signatureOf({ kind, signature }: SignedPayment): string {
  return kind === 'transaction' ? signature : signature.toLowerCase();
}

/** Who pays, and what makes the payment count once: the nonce that it uses, or the message that the chain executes once. */
function signerOf(payment: SignedPayment): { readonly payer: Address; readonly nonce: string } {
  switch (payment.kind) {
    case 'permit': {
      const { from, nonce } = payment.permit;
      return { payer: from, nonce: permit2NonceId(nonce) };
    }
    case 'transaction': {
      const { payer, digest } = payment.transfer;
      return { payer, nonce: digest };
    }
    case 'authorization': {
      const { from, nonce } = payment.authorization;
      return { payer: from.toLowerCase() as Address, nonce: nonce.toLowerCase() }; // 40 hex digits by the shape that was read
    }
  }
}

/** The question to the facilitator's `verify`: the whole amount of the terms. */
export function toVerify({ quote, payment, terms, payer }: Purchase): PaymentToSettle {
  const { x402Version } = payment;
  const paymentRequirements = requirementOf(terms, x402Version);
  const { order } = quote;
  const { extensions } = order;
  const signed = payloadFor(payment, paymentRequirements);
  // Of our own offer, whether or not the payer echoed it: the facilitator lists the resource from it.
  const paymentPayload =
    x402Version === 1
      ? signed
      : { ...signed, resource: resourceOf(order), ...(extensions === undefined ? {} : { extensions }) };
  return { x402Version, chain: terms.chain, payer, paymentPayload, paymentRequirements };
}

/** The request to the facilitator's `settle`: the payment as it was verified, and of a ceiling only the part that was used. */
export function toSettle(purchase: Purchase): PaymentToSettle {
  const verified = toVerify(purchase);
  if (purchase.terms.scheme === 'exact') return verified;
  const paymentRequirements = { ...verified.paymentRequirements, amount: String(purchase.asked) };
  return { ...verified, paymentRequirements };
}

/** The question to the chain about it. */
export function toConfirm(
  { id, terms, asked }: Purchase,
  sinceMs: number,
  claimed?: string,
): SettlementQuestion {
  const question = { id, payTo: terms.payTo, amount: String(asked), sinceMs };
  return claimed === undefined ? question : { ...question, claimed };
}

/** The last millisecond of a Date; authorizations that practically never end carry 2^256 - 1. */
const LAST_DATE_MS = 8_640_000_000_000_000;

/**
 * A block hash counts for 150 blocks, which is a minute; but a chain that stands still goes on with the hashes that it knows. So the chain
 * says when a transaction has ended (solana/confirm.ts), and this is how long one is remembered at least.
 */
const TRANSACTION_ENDS_MS = 24 * 60 * 60_000;

/** When the payment ends, in milliseconds since the epoch. */
export function expiryMs({ payment }: Purchase, nowMs: number): number {
  if (payment.kind === 'transaction') return nowMs + TRANSACTION_ENDS_MS;
  const seconds =
    payment.kind === 'permit' ? payment.permit.deadline : BigInt(payment.authorization.validBefore);
  const ms = seconds * 1_000n;
  return ms < LAST_DATE_MS ? Number(ms) : LAST_DATE_MS;
}
