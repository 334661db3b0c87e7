import { fieldAt, fieldOf, listOf } from '../fetch/document.ts';

/** Offers whose payments are signed off the chain and settled later in sums, as listings mark them. */

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

/**
 * Whether `x-payment-info` of an item has an offer of that protocol: with `intent` and `method`, alone or in `offers`, as the draft has it,
 * or in `protocols` under `mpp`, as AgentCash's discovery does (agentcash.dev/discovery).
 */
export function hasMppOffer(item: unknown): boolean {
  const info = fieldOf(item, 'x-payment-info');
  const offers = [info, ...listOf(fieldOf(info, 'offers')).slice(0, OFFERS_MAX)];
  const protocols = listOf(fieldOf(info, 'protocols')).slice(0, OFFERS_MAX);
  return offers.some(isMppOffer) || protocols.some((protocol) => fieldOf(protocol, 'mpp') !== undefined);
}

function isMppOffer(offer: unknown): boolean {
  return typeof fieldOf(offer, 'intent') === 'string' && typeof fieldOf(offer, 'method') === 'string';
}
