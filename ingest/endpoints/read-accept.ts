import { isAddress, readAddress } from '../../core/domain/address.ts';
import { dollarsOfAmount, readDollars } from '../../core/domain/dollar-price.ts';
import {
  ENDPOINT_METHODS,
  type EndpointMethod,
  type EndpointOffer,
} from '../../core/domain/endpoint-offer.ts';
import { chainOfNetwork } from '../../core/domain/x402-networks.ts';
import { fieldAt, fieldOf } from '../fetch/json-fields.ts';
import type { DollarTokens } from './dollar-tokens.ts';

/** Reads one entry of `accepts`, of either version: an offer without what the listing says of the resource itself. */

export type ReadAccept = Pick<
  EndpointOffer,
  'network' | 'chain' | 'scheme' | 'asset' | 'payTo' | 'amount' | 'priceUsdMicros' | 'maxTimeoutSeconds'
> & {
  /** Null where the entry does not say. */
  readonly method: EndpointMethod | null;
};

const SCHEME = /^[a-z0-9][a-z0-9_-]{0,31}$/;
/** A version 1 name, or CAIP-2: namespace and reference. */
const NETWORK = /^[a-z0-9-]{1,32}(?::[-_a-zA-Z0-9]{1,64})?$/;
/** Accounts and tokens of other networks: base58, bech32, hex. */
const FOREIGN = /^[A-Za-z0-9._:-]{1,128}$/;
const ATOMIC = /^\d{1,78}$/;
const U256_MAX = 2n ** 256n - 1n;
const U32_MAX = 2 ** 32 - 1;
/** Every burn is a transfer to it: whoever lists it is paid by nobody. */
const NOBODY = /^0x0{40}$/;

/**
 * Null for an entry that nobody could pay: without scheme, network, asset or payee, or with an address that is none.
 * `declared` is what the item beside it says of the price.
 */
export function readAccept(
  entry: unknown,
  declared: readonly unknown[],
  tokens: DollarTokens,
): ReadAccept | null {
  const scheme = fieldOf(entry, 'scheme');
  const network = fieldOf(entry, 'network');
  if (typeof scheme !== 'string' || !SCHEME.test(scheme)) return null;
  if (typeof network !== 'string' || !NETWORK.test(network)) return null;
  const isEvm = network.startsWith('eip155:') || chainOfNetwork(network) !== null;
  const chain = chainOfNetwork(network);
  const asset = readAccount(fieldOf(entry, 'asset'), isEvm);
  const payTo = readAccount(fieldOf(entry, 'payTo'), isEvm);
  if (asset === null || payTo === null || NOBODY.test(payTo)) return null;
  const amount = readAmount(entry);
  const decimals = chain === null ? null : tokens.decimalsOf(chain, asset);
  const asked = amount === null || decimals === null ? null : dollarsOfAmount(amount, decimals);
  return {
    network,
    chain,
    scheme,
    asset,
    payTo,
    amount,
    priceUsdMicros: priceOf(scheme, asked, declaredPrice([entry, fieldOf(entry, 'extra'), ...declared])),
    maxTimeoutSeconds: readTimeout(fieldOf(entry, 'maxTimeoutSeconds')),
    method: readMethod(fieldAt(entry, 'outputSchema', 'input', 'method')),
  };
}

/** Null for a word that is no method. */
export function readMethod(value: unknown): EndpointMethod | null {
  const word = typeof value === 'string' ? value.trim().toUpperCase() : '';
  return ENDPOINT_METHODS.find((method) => method === word) ?? null;
}

/**
 * What is signed counts: where the atomic amount is dollars, a declared price cannot say otherwise. With `upto` the amount is
 * a ceiling, so that there the seller's own price tells more, as long as it lies below.
 */
function priceOf(scheme: string, asked: bigint | null, declared: bigint | null): bigint | null {
  if (asked === null) return declared;
  return scheme !== 'exact' && declared !== null && declared < asked ? declared : asked;
}

function declaredPrice(places: readonly unknown[]): bigint | null {
  for (const place of places) {
    const found = readPrice(place);
    if (found !== null) return found;
  }
  return null;
}

/** `price`, `priceUsd` and their kin, and OpenAPI's `x-payment-info`, whose price is a text, a number or an object. */
function readPrice(place: unknown): bigint | null {
  const info = fieldOf(place, 'x-payment-info');
  const candidates = [
    ...['priceUsd', 'price_usd', 'priceUSD', 'usdPrice'].map((name) =>
      readDollars(fieldOf(place, name), { isDollars: true }),
    ),
    readDollars(fieldOf(place, 'price')),
    readPriceObject(fieldOf(place, 'price')),
    readDollars(fieldOf(info, 'price')),
    readPriceObject(fieldOf(info, 'price')),
    readPriceObject(info),
  ];
  return candidates.find((price) => price !== null) ?? null;
}

/** `{ amount: "0.01", currency: "USD" }`: dollars only when it says so. */
function readPriceObject(price: unknown): bigint | null {
  const currency = fieldOf(price, 'currency');
  if (typeof currency !== 'string' || !/^(usd|usdc|\$)$/i.test(currency)) return null;
  return readDollars(fieldOf(price, 'amount') ?? fieldOf(price, 'value'), { isDollars: true });
}

function readAccount(value: unknown, isEvm: boolean): string | null {
  if (typeof value !== 'string') return null;
  if (!isEvm) return FOREIGN.test(value) ? value : null;
  const address = readAddress(value);
  return isAddress(address) ? address : null;
}

/** Version 1 calls it `maxAmountRequired`, version 2 `amount`; always whole atomic units. */
function readAmount(entry: unknown): bigint | null {
  const value = fieldOf(entry, 'maxAmountRequired') ?? fieldOf(entry, 'amount');
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || !ATOMIC.test(text)) return null;
  const amount = BigInt(text);
  return amount <= U256_MAX ? amount : null;
}

function readTimeout(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? Math.min(value, U32_MAX) : 0;
}
