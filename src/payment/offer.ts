import { encodePaymentRequiredHeader } from '@x402/core/http';
import type { AcceptedPayment } from '../../core/config/access.ts';
import { type Address, toChecksum } from '../../core/domain/account.ts';
import { USD_DECIMALS } from '../../core/domain/amount.ts';
import { type Chain, namespaceOf, type TokenFacts } from '../../core/domain/chains.ts';
import { v1NameOf } from '../../core/domain/networks.ts';
import type { PaymentOffer } from '../../core/domain/payment.ts';
import type { Order } from './payment-lane.ts';

/** One way to pay for one order: the values to check, and the entry for each wire version. */
export interface Terms {
  /** `exact` takes the amount, `upto` at most the amount. */
  readonly scheme: 'exact' | 'upto';
  readonly chain: Chain;
  readonly asset: Address;
  readonly payTo: Address;
  /** By which program of Solana the asset is transferred, or else. */
  readonly paidBy: TokenFacts['paidBy'];
  /** The facilitator's address to which the payer binds what it signs; null where it binds to none. */
  readonly signer: Address | null;
  /** Atomic units of the asset. */
  readonly amount: bigint;
  /** Entry of the v1 body; null where version 1 cannot express it. */
  readonly v1: Readonly<Record<string, unknown>> | null;
  readonly v2: V2Requirement;
}

/** An entry of `accepts` in version 2. */
type V2Requirement = Parameters<typeof encodePaymentRequiredHeader>[0]['accepts'][number];

/** An order with every way to pay for it. */
export interface Quote {
  readonly order: Order;
  /** By `exact` in each accepted token, in the order of the configuration; bound to no address. */
  readonly accepted: readonly Terms[];
  /** What is offered: the same, bound to the facilitator's address where payers need one, and ceilings last. */
  readonly terms: readonly Terms[];
}

/** What the offer needs of the configuration. */
export interface PaymentConfig {
  readonly accept: readonly AcceptedPayment[];
  readonly offerSeconds: number;
}

/** The address of our facilitator for which payers sign on a chain; null where it has none, or where that is not known. */
export type SignerOn = (chain: Chain) => Address | null;

/**
 * The longest that a call may take from the verification of its payment to the settlement, in seconds: the wait for a place, the
 * engine's time and the writes around them. A ceiling must stay valid for that long.
 */
export const OPEN_CALL_SECONDS = 60;

/** Writes the terms of an order. The price is in dollars, the terms in atomic units of each token. */
export function quoteOf(
  order: Order,
  { accept, offerSeconds }: PaymentConfig,
  signerOn: SignerOn = () => null,
): Quote {
  const accepted: Terms[] = [];
  const v1Chains = new Set<Chain>();
  for (const one of accept) {
    // A v1 payment names its network but no asset, so two tokens of one chain would be ambiguous.
    const withV1 = !v1Chains.has(one.chain);
    v1Chains.add(one.chain);
    accepted.push(termsOf(order, one, { offerSeconds, withV1 }));
  }
  const exact = accepted.flatMap((terms) => {
    if (!isSponsored(terms)) return [terms];
    const feePayer = signerOn(terms.chain);
    return feePayer === null ? [] : [sponsoredBy(terms, feePayer)];
  });
  // Clients take the first entry they can pay. A ceiling needs an approval of Permit2 beforehand, which not every payer has.
  const ceilings = exact.flatMap((terms) => {
    const facilitator = order.settledByUse && !isSponsored(terms) ? signerOn(terms.chain) : null;
    return facilitator === null ? [] : [ceilingOf(terms, facilitator)];
  });
  return { order, accepted, terms: [...exact, ...ceilings] };
}

/** Whether the payer signs a transaction of which the facilitator pays the fee. */
export function isSponsored({ chain }: Pick<Terms, 'chain'>): boolean {
  return namespaceOf(chain) === 'solana';
}

/** The same, with the account that pays the fee of the payer's transaction. */
export function sponsoredBy(exact: Terms, feePayer: Address): Terms {
  const extra = { feePayer };
  return {
    ...exact,
    signer: feePayer,
    v1: exact.v1 && { ...exact.v1, extra },
    v2: { ...exact.v2, extra },
  };
}

/** The same price as a ceiling, and `facilitator` settles the used part. Version 1 has no such scheme. */
export function ceilingOf(exact: Terms, facilitator: Address): Terms {
  const { maxTimeoutSeconds, extra } = exact.v2;
  return {
    ...exact,
    scheme: 'upto',
    signer: facilitator,
    v1: null,
    v2: {
      ...exact.v2,
      scheme: 'upto',
      maxTimeoutSeconds: maxTimeoutSeconds + OPEN_CALL_SECONDS,
      extra: { ...extra, assetTransferMethod: 'permit2', facilitatorAddress: toChecksum(facilitator) },
    },
  };
}

function termsOf(
  order: Order,
  { chain, token, payTo }: AcceptedPayment,
  { offerSeconds, withV1 }: { readonly offerSeconds: number; readonly withV1: boolean },
): Terms {
  const amount = atomicUnits(order.priceUsdMicros, token.decimals);
  // Clients sign what they are shown, and their typed data refuses a mixed-case address that contradicts EIP-55.
  const common = {
    scheme: 'exact',
    asset: toChecksum(token.address),
    payTo: toChecksum(payTo),
    maxTimeoutSeconds: offerSeconds,
    extra: token.domain === null ? {} : { name: token.domain.name, version: token.domain.version },
  };
  const network = withV1 ? v1NameOf(chain) : null;
  const { url: resource, description, mimeType } = order;
  return {
    scheme: 'exact',
    chain,
    asset: token.address,
    payTo,
    paidBy: token.paidBy,
    signer: null,
    amount,
    v1:
      network === null
        ? null
        : { ...common, network, maxAmountRequired: String(amount), resource, description, mimeType },
    v2: { ...common, network: chain, amount: String(amount) },
  };
}

/**
 * Dollars to atomic units, exactly. The configuration refuses tokens that cannot express a price, which must never be rounded.
 */
export function atomicUnits(usdMicros: bigint, decimals: number): bigint {
  if (usdMicros < 0n) throw new RangeError('a price below zero');
  if (decimals >= USD_DECIMALS) return usdMicros * 10n ** BigInt(decimals - USD_DECIMALS);
  const divisor = 10n ** BigInt(USD_DECIMALS - decimals);
  if (usdMicros % divisor !== 0n)
    throw new RangeError('a price that the token has too few decimals to spell');
  return usdMicros / divisor;
}

/**
 * The 402's two forms. `error` says why there is a 402, for clients that read it from the header. An `upto` entry belongs
 * into the accepts of the v2 form only: version 1 has no such scheme, and its client would refuse the whole offer.
 */
export function offerOf({ order, terms }: Quote, error: string): PaymentOffer {
  const { extensions } = order;
  return {
    accepts: terms.flatMap(({ v1 }) => (v1 === null ? [] : [v1])),
    requiredHeader: encodePaymentRequiredHeader({
      x402Version: 2,
      error,
      resource: resourceOf(order),
      accepts: terms.map(({ v2 }) => v2),
      ...(extensions === undefined ? {} : { extensions }),
    }),
  };
}

/** What is bought, as version 2 describes it and facilitators list it. */
export function resourceOf({ url, description, mimeType }: Order): {
  readonly url: string;
  readonly description: string;
  readonly mimeType: string;
  readonly serviceName: string;
} {
  return { url, description, mimeType, serviceName: SERVICE_NAME };
}

/** Printable ASCII of at most 32 characters, as lists of facilitators take it. */
const SERVICE_NAME = 'Settlement Index';

/** The requirement that a facilitator checks a payment against: from our own terms, never the one that the payer says it accepted. */
export function requirementOf({ v1, v2 }: Terms, x402Version: 1 | 2): Readonly<Record<string, unknown>> {
  return x402Version === 1 && v1 !== null ? v1 : { ...v2 };
}
