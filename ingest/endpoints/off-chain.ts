import { fieldAt, fieldOf, listOf } from '../fetch/document.ts';

/** Offers that no single payment on a chain can be matched with: settled off the chain and later in sums, or without a payee. */

/** `extra.name` of Circle Gateway's offers: it collects signed payments and settles their balances in batches. */
const GATEWAY_BATCH = 'GatewayWalletBatched';

/**
 * `intent` of an offer of the Machine Payments Protocol whose payments are vouchers of a channel: the payee settles their sum. The other
 * one, `charge`, is a payment for each request. Source: draft-payment-discovery-00 (tempoxyz/mpp-specs), "Payment Offer Object".
 */
const MPP_SESSION = 'session';

const OFFERS_MAX = 16;

export function settlesOffChain(entry: unknown): boolean {
  return fieldAt(entry, 'extra', 'name') === GATEWAY_BATCH || fieldOf(entry, 'intent') === MPP_SESSION;
}

/** What an offer of that protocol says of its terms. The payee is only in the 402 that a call is answered with. */
export interface MppOffer {
  readonly intent: string;
  /** Of payment: `tempo`, `stripe`. */
  readonly method: string;
  /** Its smallest units; undefined where the price depends on the call. */
  readonly amount: unknown;
  /** A token's address, or ISO 4217; undefined where it does not say. */
  readonly currency: unknown;
}

/**
 * The offers of that protocol in `x-payment-info` of an item: with `intent` and `method`, alone or in `offers`, as the draft has it, or in
 * `protocols` under `mpp`, as AgentCash's discovery does (agentcash.dev/discovery). There `intent` may be left out: it is a charge.
 */
export function mppOffers(item: unknown): MppOffer[] {
  const info = fieldOf(item, 'x-payment-info');
  const offers = [info, ...listOf(fieldOf(info, 'offers')).slice(0, OFFERS_MAX)];
  const protocols = listOf(fieldOf(info, 'protocols')).slice(0, OFFERS_MAX);
  return [
    ...offers.map((offer) => readMppOffer(offer, undefined)),
    ...protocols.map((protocol) => readMppOffer(fieldOf(protocol, 'mpp'), 'charge')),
  ].flatMap((offer) => offer ?? []);
}

function readMppOffer(offer: unknown, usual: string | undefined): MppOffer | null {
  const intent = fieldOf(offer, 'intent') ?? usual;
  const method = fieldOf(offer, 'method');
  if (typeof intent !== 'string' || typeof method !== 'string') return null;
  return { intent, method, amount: fieldOf(offer, 'amount'), currency: fieldOf(offer, 'currency') };
}
