import { createHash } from 'node:crypto';
import type { AuthorizationId } from '../control/control-store.ts';
import type { Address } from '../domain/address.ts';
import type { WitnessQuestion } from './chain-witness.ts';
import type { PaymentToSettle } from './facilitator.ts';
import { chooseTerms } from './match-payment.ts';
import { type Quote, requirementOf, type Terms } from './offer.ts';
import { payloadFor, readPayment, type SignedPayment } from './read-payment.ts';
import { malformed, unacceptable } from './refusals.ts';

/** A request with the payment that came with it and the terms which that payment is for. */
export interface Purchase {
  readonly quote: Quote;
  readonly payment: SignedPayment;
  readonly terms: Terms;
  readonly id: AuthorizationId;
  readonly payer: Address;
  /**
   * What the payment is bound to: the request, and the signature. Payer and nonce are public once a payment is on chain, so
   * that without the signature anybody could try to take up what another has paid for.
   */
  readonly binding: string;
}

/** Throws `payment_malformed`, or `payment_invalid` for a network or asset that is not on offer. */
export function readPurchase(quote: Quote, header: string): Purchase {
  const payment = readPayment(header);
  if ('problem' in payment) throw malformed(quote, payment.problem);
  const terms = chooseTerms(payment, quote);
  if ('reason' in terms) throw unacceptable(quote, terms);
  const { authorization, signature } = payment;
  const payer = authorization.from.toLowerCase() as Address; // 40 hex digits by the shape that was read
  const binding = createHash('sha256')
    .update(`${quote.order.binding}\n${signature.toLowerCase()}`)
    .digest('hex');
  const id = { chain: terms.chain, asset: terms.asset, payer, nonce: authorization.nonce.toLowerCase() };
  return { quote, payment, terms, id, payer, binding };
}

/** What a facilitator is asked about it. */
export function toSettle({ payment, terms, payer }: Purchase): PaymentToSettle {
  const { x402Version } = payment;
  const paymentRequirements = requirementOf(terms, x402Version);
  const paymentPayload = payloadFor(payment, paymentRequirements);
  return { x402Version, chain: terms.chain, payer, paymentPayload, paymentRequirements };
}

/** What the chain is asked about it. */
export function toWitness({ id, terms }: Purchase, sinceMs: number, claimed?: string): WitnessQuestion {
  const question = { id, payTo: terms.payTo, amount: String(terms.amount), sinceMs };
  return claimed === undefined ? question : { ...question, claimed };
}

/** The last millisecond of a Date; authorizations that practically never end carry 2^256 - 1. */
const LAST_DATE_MS = 8_640_000_000_000_000;

/** When the authorization ends, in milliseconds since the epoch. */
export function expiryMs({ payment }: Purchase): number {
  const ms = BigInt(payment.authorization.validBefore) * 1_000n;
  return ms < LAST_DATE_MS ? Number(ms) : LAST_DATE_MS;
}
