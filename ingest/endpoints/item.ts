import type { Config } from '../../core/config/config.ts';
import { isAddress, type Namespace, readAddress, ZERO_ADDRESS } from '../../core/domain/account.ts';
import type { ValuedToken } from '../../core/domain/amount.ts';
import { ENDPOINT_METHODS, type EndpointMethod, type EndpointOffer } from '../../core/domain/capability.ts';
import type { Chain, TokenFacts } from '../../core/domain/chains.ts';
import { displayText } from '../../core/domain/display-text.ts';
import { KNOWN_CHAINS, OTHER_CHAINS } from '../../core/domain/known-chains.ts';
import { chainOfNetwork, namespaceOfNetwork } from '../../core/domain/networks.ts';
import { dollarsOfAmount, readDollars } from '../../core/domain/plan.ts';
import type { UnreadReason } from '../../core/domain/unread-items.ts';
import { fieldAt, fieldOf, firstText, listOf } from '../fetch/document.ts';
import { templateHref } from '../fetch/uri.ts';
import { readDiscovery } from './discovery.ts';
import { type MppOffer, mppOffers, settlesOffChain } from './off-chain.ts';

/**
 * Reads one item of a listing, of version 1 or 2, with or without Coinbase's extras. Items are untrusted: unusable parts are skipped,
 * long texts are cut, and every stored text is safe to show.
 */

export interface ItemFacts {
  readonly tokens: OfferTokens;
  readonly nowSeconds: number;
  /** Only resources of this origin count: an origin publishes prices for itself alone. Undefined: any. */
  readonly origin?: string;
}

const RESOURCE_MAX_CHARS = 2_000;
const ACCEPTS_MAX = 16;
const SERVICE_NAME_MAX_CHARS = 80;
const DESCRIPTION_MAX_CHARS = 1_000;
const TAGS_MAX = 16;
const TAG_MAX_CHARS = 40;
const MIME_TYPE = /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,60}$/;
/** 2001: a smaller number is not a plausible time. Numbers from the second bound on are in milliseconds. */
const TIME_MIN_SECONDS = 1_000_000_000;
const MILLISECONDS_FROM = 100_000_000_000;
/** Tolerance for wrong clocks. */
const TIME_AHEAD_MAX_SECONDS = 86_400;

/** Why `readItem` finds no offer in this item. */
export function unreadReason(item: unknown, facts: ItemFacts): UnreadReason {
  if (typeof item === 'string') return 'plain_url';
  const text = resourceText(item);
  if (fieldOf(item, 'type') === 'mcp' || text.startsWith('mcp:')) return 'mcp_tool';
  if (readResource(item, facts.origin) !== null) return 'no_offer';
  return readResource(item, undefined) === null ? 'not_http' : 'other_origin';
}

/** The offers of an item; none for one that is not a resource on HTTP with at least one entry that can be paid. */
export function readItem(item: unknown, facts: ItemFacts): EndpointOffer[] {
  const resource = readResource(item, facts.origin);
  if (resource === null) return [];
  const places = [
    item,
    fieldOf(item, 'metadata'),
    fieldOf(item, 'resource'),
    ...listOf(fieldOf(item, 'accepts')).slice(0, 1),
  ];
  const said = {
    resource,
    serviceName: displayText(textAt(places, 'serviceName', 'service_name', 'name'), SERVICE_NAME_MAX_CHARS),
    description: displayText(textAt(places, 'description'), DESCRIPTION_MAX_CHARS),
    mimeType: readMimeType(textAt(places, 'mimeType', 'mime_type')),
    tags: readTags(places),
    lastUpdated: readTime(fieldOf(item, 'lastUpdated') ?? fieldOf(item, 'last_updated'), facts.nowSeconds),
    discovery: readDiscovery(item, listOf(fieldOf(item, 'accepts'))[0]),
  };
  const fallback = methodOf(item);
  const accepts = acceptsOf(item, facts);
  return accepts.map(({ method, ...accept }) => ({
    ...said,
    ...accept,
    itemPayTos: payTosLike(accept, accepts),
    method: method ?? fallback,
  }));
}

/** Addresses of one EVM chain are addresses of all; elsewhere every network has its own. */
function payTosLike(one: Pick<ReadAccept, 'payTo' | 'network'>, all: readonly ReadAccept[]): string[] {
  const kindOf = ({ payTo, network }: typeof one): string =>
    readAddress(payTo, 'eip155') === payTo ? 'eip155' : network;
  const alike = all.filter((other) => kindOf(other) === kindOf(one));
  return [...new Set(alike.map(({ payTo }) => payTo))].filter((payTo) => payTo !== '').sort();
}

/**
 * A seller may take one payment on the chain and off it, in two entries that differ by nothing else. An offer that is listed twice counts
 * once, the first time (sync.ts), so the one whose payments can be seen goes first. Offers of the Machine Payments Protocol are listed
 * where the item has no other.
 */
function acceptsOf(item: unknown, { tokens }: ItemFacts): ReadAccept[] {
  const declared = [item, fieldOf(item, 'metadata')];
  const read = listOf(fieldOf(item, 'accepts'))
    .slice(0, ACCEPTS_MAX)
    .flatMap((entry) => readAccept(entry, declared, tokens) ?? []);
  if (read.length === 0) return mppOffers(item).flatMap((offer) => readMpp(offer, declared) ?? []);
  const isOffChain = ({ unobserved }: ReadAccept): boolean => unobserved === 'settles_off_chain';
  return [...read.filter((accept) => !isOffChain(accept)), ...read.filter(isOffChain)];
}

/** The URL, spelled as a browser would: safe to show, because whatever is not plain ASCII is escaped or Punycode by then. */
function readResource(item: unknown, origin: string | undefined): string | null {
  const type = fieldOf(item, 'type');
  if (type !== undefined && type !== 'http') return null;
  const text = resourceText(item);
  if (text === '' || text.length > RESOURCE_MAX_CHARS || !URL.canParse(text, origin)) return null;
  const url = new URL(text, origin);
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return null;
  if (origin !== undefined && url.origin !== origin) return null;
  url.hash = '';
  const href = templateHref(url);
  return href.length <= RESOURCE_MAX_CHARS ? href : null;
}

function resourceText(item: unknown): string {
  return firstText(
    fieldOf(item, 'resource'),
    fieldAt(item, 'resource', 'url'),
    fieldOf(item, 'url'),
    fieldOf(listOf(fieldOf(item, 'accepts'))[0], 'resource'),
  );
}

function methodOf(item: unknown): EndpointOffer['method'] {
  const places = [
    ['extensions', 'bazaar', 'info', 'input', 'method'],
    ['outputSchema', 'input', 'method'],
    ['metadata', 'input', 'method'],
    ['metadata', 'method'],
    ['method'],
  ];
  for (const path of places) {
    const method = readMethod(fieldAt(item, ...path));
    if (method !== null) return method;
  }
  return 'GET';
}

function textAt(places: readonly unknown[], ...names: readonly string[]): string {
  return firstText(...places.flatMap((place) => names.map((name) => fieldOf(place, name))));
}

function readTags(places: readonly unknown[]): string[] {
  const listed = places.map((place) => listOf(fieldOf(place, 'tags'))).find((tags) => tags.length > 0) ?? [];
  const tags = listed
    .slice(0, TAGS_MAX)
    .map((tag) => (typeof tag === 'string' ? displayText(tag, TAG_MAX_CHARS) : ''));
  return [...new Set(tags)].filter((tag) => tag !== '').sort();
}

function readMimeType(text: string): string {
  const type = text.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return MIME_TYPE.test(type) ? type : '';
}

/** Unix seconds (version 1), milliseconds, or ISO 8601 (version 2); 0 for anything else. */
function readTime(value: unknown, nowSeconds: number): number {
  const read = typeof value === 'string' ? Date.parse(value.slice(0, 40)) / 1_000 : value;
  if (typeof read !== 'number' || !Number.isFinite(read)) return 0;
  const seconds = Math.floor(read >= MILLISECONDS_FROM ? read / 1_000 : read);
  return seconds >= TIME_MIN_SECONDS && seconds <= nowSeconds + TIME_AHEAD_MAX_SECONDS ? seconds : 0;
}

/** Reads one entry of `accepts`, of either version: an offer without what the listing says of the resource itself. */

export type ReadAccept = Pick<
  EndpointOffer,
  | 'network'
  | 'chain'
  | 'scheme'
  | 'asset'
  | 'payTo'
  | 'amount'
  | 'priceUsdMicros'
  | 'unobserved'
  | 'maxTimeoutSeconds'
> & {
  /** Null where the entry does not say. */
  readonly method: EndpointMethod | null;
};

const SCHEME = /^[a-z0-9][a-z0-9_-]{0,31}$/;
/** A version 1 name, or CAIP-2: namespace and reference. */
const NETWORK = /^[a-z0-9-]{1,32}(?::[-_a-zA-Z0-9]{1,64})?$/;
/** Accounts and tokens of other networks: base58, bech32, hex. */
const SYMBOL_MAX_CHARS = 32;
const FOREIGN = /^[A-Za-z0-9._:-]{1,128}$/;
const ATOMIC = /^\d{1,78}$/;
const MICROS_PER_DOLLAR = 1_000_000n;
const MICROS_PER_CENT = 10_000n;
const U256_MAX = 2n ** 256n - 1n;
const U32_MAX = 2 ** 32 - 1;

/**
 * Null for an entry that cannot be paid: without scheme, network, asset or payee, or with an address that is none.
 * `declared` is what the item around it says of the price.
 */
export function readAccept(
  entry: unknown,
  declared: readonly unknown[],
  tokens: OfferTokens,
): ReadAccept | null {
  const scheme = fieldOf(entry, 'scheme');
  const network = fieldOf(entry, 'network');
  if (typeof scheme !== 'string' || !SCHEME.test(scheme)) return null;
  if (typeof network !== 'string' || !NETWORK.test(network)) return null;
  const namespace = namespaceOfNetwork(network);
  const chain = chainOfNetwork(network);
  const asset = readAsset(entry, { namespace, chain, tokens });
  const payTo = readAccount(fieldOf(entry, 'payTo'), namespace);
  // Burns are transfers to the zero address, so an offer with this payee cannot be paid.
  if (asset === null || payTo === null || payTo === ZERO_ADDRESS) return null;
  const token = chain === null ? null : tokens.tokenOf(chain, asset);
  const decimals = token?.decimals ?? null;
  const amount = readAmount(entry) ?? amountOfPrice(entry, decimals);
  const asked = amount === null || token === null ? null : dollarsOfAmount(amount, token);
  return {
    network,
    chain,
    scheme,
    asset,
    payTo,
    amount,
    priceUsdMicros: priceOf(scheme, asked, declaredPrice([entry, fieldOf(entry, 'extra'), ...declared])),
    unobserved: unobservedOf(entry, { chain, decimals, amount }),
    maxTimeoutSeconds: readTimeout(fieldOf(entry, 'maxTimeoutSeconds')),
    method: readMethod(fieldAt(entry, 'outputSchema', 'input', 'method')),
  };
}

/** An offer of the Machine Payments Protocol in the words of x402: its intent is the scheme, its method of payment the network. */
function readMpp(
  { intent, method, amount, currency }: MppOffer,
  declared: readonly unknown[],
): ReadAccept | null {
  if (!SCHEME.test(intent) || !NETWORK.test(method)) return null;
  const units = readAmount({ amount });
  const isCents = typeof currency === 'string' && /^usd$/i.test(currency);
  return {
    ...{ network: method, chain: null, scheme: intent, payTo: '', amount: units },
    asset: typeof currency === 'string' && FOREIGN.test(currency) ? currency : '',
    priceUsdMicros: isCents && units !== null ? units * MICROS_PER_CENT : declaredPrice(declared),
    unobserved: settlesOffChain({ intent }) ? 'settles_off_chain' : 'payee_not_published',
    maxTimeoutSeconds: 0,
    method: null,
  };
}

/** Null for a word that is no method. */
export function readMethod(value: unknown): EndpointMethod | null {
  const word = typeof value === 'string' ? value.trim().toUpperCase() : '';
  return ENDPOINT_METHODS.find((method) => method === word) ?? null;
}

/**
 * The signed amount takes precedence: if it is in a dollar token, it overrides a declared price. With `upto` the amount is only a
 * ceiling, so the seller's declared price is used if it is lower.
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

/** `price`, `priceUsd` and the like, and OpenAPI's `x-payment-info`, whose price is a text, a number or an object. */
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

function unobservedOf(
  entry: unknown,
  { chain, decimals, amount }: Pick<ReadAccept, 'chain' | 'amount'> & { readonly decimals: number | null },
): ReadAccept['unobserved'] {
  if (settlesOffChain(entry)) return 'settles_off_chain';
  if (chain === null) return 'chain_not_indexed';
  if (decimals === null) return 'asset_not_indexed';
  return amount === null ? 'amount_not_published' : '';
}

/** The address, or on a chain that is known here a symbol ("USDC"); the chain's first token where only a dollar price is given. */
function readAsset(
  entry: unknown,
  {
    namespace,
    chain,
    tokens,
  }: { readonly namespace: Namespace | null; readonly chain: Chain | null; readonly tokens: OfferTokens },
): string | null {
  const asset = fieldOf(entry, 'asset') ?? fieldAt(entry, 'price', 'asset');
  const account = readAccount(asset, namespace);
  if (account !== null || chain === null) return account;
  if (typeof asset === 'string') return tokens.addressOf(chain, asset);
  return asset === undefined && moneyOf(entry) !== null ? tokens.addressOf(chain, null) : null;
}

/** `price` or `amount` that names dollars ("$0.01"): millionths. */
function moneyOf(entry: unknown): bigint | null {
  const money = [fieldOf(entry, 'price'), fieldOf(entry, 'amount')].find(
    (value) => typeof value === 'string' && /[$a-z]/i.test(value),
  );
  return readDollars(money);
}

/** The atomic units that a dollar price stands for, as the seller's server computes them. */
function amountOfPrice(entry: unknown, decimals: number | null): bigint | null {
  const micros = moneyOf(entry);
  return micros === null || decimals === null ? null : (micros * 10n ** BigInt(decimals)) / MICROS_PER_DOLLAR;
}

function readAccount(value: unknown, namespace: Namespace | null): string | null {
  if (typeof value !== 'string') return null;
  if (namespace === null) return FOREIGN.test(value) ? value : null;
  const address = readAddress(value, namespace);
  return isAddress(address) ? address : null;
}

/** Version 1 calls it `maxAmountRequired`, version 2 `amount`; always whole atomic units. */
function readAmount(entry: unknown): bigint | null {
  const value =
    fieldOf(entry, 'maxAmountRequired') ?? fieldOf(entry, 'amount') ?? fieldAt(entry, 'price', 'amount');
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || !ATOMIC.test(text)) return null;
  const amount = BigInt(text);
  return amount <= U256_MAX ? amount : null;
}

function readTimeout(value: unknown): number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? Math.min(value, U32_MAX) : 0;
}

/** The tokens that offers may ask for and that we know. */
export interface OfferTokens {
  /** By symbol, in any case; without one the first token of the chain. Null for one that is not known. */
  addressOf(chain: Chain, symbol: string | null): string | null;
  /** Null for a token that is not known. */
  tokenOf(chain: Chain, asset: string): ValuedToken | null;
}

/** The built-in tokens, also those of chains that nobody indexes, and the configured ones. */
export function offerTokens(config: Pick<Config, 'chains'>): OfferTokens {
  const known = new Map<string, ValuedToken>();
  const addresses = new Map<string, string>();
  const add = (chain: Chain, tokens: readonly TokenFacts[]) => {
    for (const token of tokens) {
      known.set(`${chain} ${token.address}`, token);
      addresses.set(`${chain} ${token.symbol.toLowerCase()}`, token.address);
    }
    if (tokens[0] !== undefined) addresses.set(`${chain} `, tokens[0].address);
  };
  for (const { chain, tokens } of [...OTHER_CHAINS, ...KNOWN_CHAINS]) add(chain, tokens);
  for (const { chain, tokens } of config.chains) add(chain, tokens);
  return {
    addressOf: (chain, symbol) =>
      addresses.get(`${chain} ${symbol?.slice(0, SYMBOL_MAX_CHARS).toLowerCase() ?? ''}`) ?? null,
    tokenOf: (chain, asset) => known.get(`${chain} ${asset}`) ?? null,
  };
}
