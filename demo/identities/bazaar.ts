import type { Address } from '../../core/domain/account.ts';
import type { Actor, Cast } from '../actors.ts';
import { DEMO_CHAIN_ID } from '../chain/anvil.ts';
import { USDC } from '../chain/deploy-usdc.ts';
import { walletOf } from '../chain/sender.ts';
import { caip2Of, SOLANA_DEVNET, SOLANA_MAINNET } from '../solana/programs.ts';
import { type CardHost, json } from './card-host.ts';
import { listedSellers, type Offer, offerOf } from './offers.ts';

/**
 * Bazaars of the demo's facilitators, `GET <url>/discovery/resources` (x402 specification, discovery): one that lists in the shape of version
 * 1, one in that of version 2 with Coinbase's extras, both with some malformed and false items.
 */

/** URLs of facilitators, by id, for the configuration. */
export type BazaarUrls = Readonly<Record<string, string>>;

interface Seller extends Actor {
  readonly resource: string;
  /** On the local Solana, where it sells there too. */
  readonly account: string | undefined;
}

const PAGE_DEFAULT = 20;
/** Below the 100 of the protocol, so that a reader has to turn pages. */
const PAGE_MAX = 25;
const TIMEOUT_SECONDS = 60;
const DAY_SECONDS = 86_400;
/** Age of the last update of a list's last seller. */
const STALE_DAYS = 200;
const CEILING_FACTOR = 4n;

/**
 * Serves a bazaar and `/supported` for every named facilitator but the local one, which has a process of its own. `accounts`: on the local
 * Solana, by the names of sellers (CAIP-10).
 */
export function publishBazaars(
  host: CardHost,
  cast: Cast,
  nowSeconds: number,
  accounts: ReadonlyMap<string, string> = new Map(),
): BazaarUrls {
  const sellers = listedSellers(cast).map((seller) => ({ ...seller, account: accounts.get(seller.name) }));
  const half = sellers.length / 2;
  const lists: Readonly<Record<string, readonly unknown[]>> = {
    northwind: [...sellers.slice(0, half + 2).flatMap(itemsOf(itemOfVersion1, nowSeconds)), ...HOSTILE_ITEMS],
    meridian: [...HOSTILE_ITEMS, ...sellers.slice(half - 2).flatMap(itemsOf(itemOfVersion2, nowSeconds))],
  };
  const named = cast.facilitators.filter(({ id }) => lists[id] !== undefined);
  return Object.fromEntries(
    named.map(({ id, relayers }) => {
      const path = `/facilitators/${id}`;
      host.publish(`${path}/discovery/resources`, (response, url) =>
        json(pageOf(lists[id] ?? [], url.searchParams))(response, url),
      );
      host.publish(`${path}/supported`, json(supportedBy(relayers)));
      return [id, `${host.origin}${path}`];
    }),
  );
}

/** A seller's own `/.well-known/x402`: two resources of this host, paid to one seller. */
export function publishWellKnown(host: CardHost, cast: Cast): void {
  const [seller] = listedSellers(cast);
  if (seller === undefined) return;
  const item = (path: string, description: string, amount: bigint) => ({
    resource: `${host.origin}${path}`,
    type: 'http',
    accepts: [acceptOf(seller.address, amount)],
    description,
  });
  host.publish(
    '/.well-known/x402',
    json({
      version: 1,
      resources: [
        item('/paid/web-search', 'Web search for agents.', 3_000n),
        item('/paid/transcribe', 'Transcription of podcasts, speech to text.', 8_000n),
      ],
    }),
  );
}

function supportedBy(relayers: readonly Address[]): object {
  const network = `eip155:${DEMO_CHAIN_ID}`;
  return {
    kinds: [
      { x402Version: 1, scheme: 'exact', network: 'base-sepolia' },
      { x402Version: 2, scheme: 'exact', network },
    ],
    extensions: ['bazaar'],
    signers: { 'eip155:*': relayers },
  };
}

function pageOf(items: readonly unknown[], query: URLSearchParams): object {
  const limit = Math.min(PAGE_MAX, Math.max(1, Number(query.get('limit') ?? PAGE_DEFAULT) || PAGE_DEFAULT));
  const offset = Math.max(0, Number(query.get('offset') ?? 0) || 0);
  return {
    x402Version: 2,
    items: items.slice(offset, offset + limit),
    pagination: { limit, offset, total: items.length },
  };
}

interface Listed {
  readonly seller: Seller;
  readonly offer: Offer;
  readonly path: string;
  /** Unix seconds. */
  readonly updated: number;
}

const itemsOf =
  (write: (listed: Listed) => unknown, nowSeconds: number) =>
  (seller: Seller, position: number, all: readonly Seller[]): unknown[] => {
    const offer = offerOf(seller);
    const days = position === all.length - 1 ? STALE_DAYS : position;
    const updated = nowSeconds - days * DAY_SECONDS;
    return offer.paths.map((path) => write({ seller, offer, path, updated }));
  };

function itemOfVersion1({ seller, offer, path, updated }: Listed): object {
  const resource = `${seller.resource}${path}`;
  const { description, method, tags, price } = offer;
  const common = {
    ...{ scheme: 'exact', maxAmountRequired: String(price), resource, description },
    ...{ mimeType: 'application/json', maxTimeoutSeconds: TIMEOUT_SECONDS },
    outputSchema: { input: { type: 'http', method }, output: null },
  };
  const onSolana = { network: 'solana-devnet', asset: SOLANA_DEVNET.usdc, payTo: payToOf(seller.account) };
  return {
    resource,
    type: 'http',
    x402Version: 1,
    accepts: [
      {
        ...{ ...common, network: 'base-sepolia', asset: USDC, payTo: seller.address },
        extra: { name: 'USDC', version: '2' },
      },
      ...(seller.account === undefined ? [] : [{ ...common, ...onSolana }]),
    ],
    lastUpdated: updated,
    metadata: { name: offer.title, tags },
  };
}

function itemOfVersion2({ seller, offer, path, updated }: Listed): object {
  const { description, method, tags, price, title } = offer;
  const iso = new Date(updated * 1_000).toISOString();
  return {
    resource: `${seller.resource}${path}`,
    type: 'http',
    x402Version: 2,
    accepts: [
      acceptOf(seller.address, price),
      { ...acceptOf(seller.address, price * CEILING_FACTOR), scheme: 'upto' },
      onSolanaOf(seller, price),
    ],
    lastUpdated: iso,
    description,
    mimeType: 'application/json',
    serviceName: title,
    tags,
    iconUrl: `https://${seller.name}.example/icon.png`,
    extensions: { bazaar: { info: { input: { type: 'http', method } }, schema: {} } },
    quality: { l30DaysTotalCalls: 1_000_000, l30DaysUniquePayers: 9_999, lastCalledAt: iso },
    curated: true,
  };
}

/** On the local Solana, or, of a seller without an account there, on a chain that the demo does not index. */
function onSolanaOf({ account }: Seller, price: bigint): object {
  const [network, payTo, asset] =
    account === undefined
      ? [caip2Of(SOLANA_MAINNET), '9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin', SOLANA_MAINNET.usdc]
      : [caip2Of(SOLANA_DEVNET), payToOf(account), SOLANA_DEVNET.usdc];
  return {
    ...{ scheme: 'exact', network, amount: String(price), asset, payTo },
    maxTimeoutSeconds: TIMEOUT_SECONDS,
  };
}

/** The address of an account (CAIP-10). */
function payToOf(account: string | undefined): string | undefined {
  return account?.split(':').at(-1);
}

function acceptOf(payTo: Address, amount: bigint): object {
  return {
    scheme: 'exact',
    network: `eip155:${DEMO_CHAIN_ID}`,
    amount: String(amount),
    asset: USDC,
    payTo,
    maxTimeoutSeconds: TIMEOUT_SECONDS,
    extra: { name: 'USDC', version: '2' },
  };
}

/** Never paid. */
const THIEF = walletOf('thief of the bazaar').address;
const LONG_CHARS = 100_000;

const HOSTILE_ITEMS: readonly unknown[] = [
  null,
  42,
  'https://text.example/api',
  {},
  { resource: 'https://unpriced.example/api', type: 'http', accepts: [] },
  { resource: 'https://listless.example/api', type: 'http', accepts: 'anything' },
  { resource: 'javascript:alert(1)', type: 'http', accepts: [acceptOf(THIEF, 1n)] },
  { resource: 'https://user:password@hidden.example/api', type: 'http', accepts: [acceptOf(THIEF, 1n)] },
  { resource: 'file:///etc/passwd', type: 'http', accepts: [acceptOf(THIEF, 1n)] },
  { resource: 'https://tool.example/mcp', type: 'mcp', accepts: [acceptOf(THIEF, 1n)] },
  { resource: 'https://debt.example/api', type: 'http', accepts: [{ ...acceptOf(THIEF, 1n), amount: '-5' }] },
  {
    resource: 'https://float.example/api',
    type: 'http',
    accepts: [{ ...acceptOf(THIEF, 1n), amount: '1e400' }],
  },
  {
    resource: 'https://huge.example/api',
    type: 'http',
    accepts: [{ ...acceptOf(THIEF, 1n), amount: '9'.repeat(90) }],
  },
  {
    resource: 'https://unlisted.example/api',
    type: 'http',
    accepts: [{ ...acceptOf(THIEF, 1n), payTo: 'me' }],
  },
  {
    resource: 'https://loud.example/api',
    type: 'http',
    accepts: [acceptOf(THIEF, 1_000n)],
    serviceName: 'N\u043erthwind \u202eyaP',
    description: 'loud '.repeat(LONG_CHARS / 5),
    tags: [{}, 7, 'a'.repeat(LONG_CHARS), '\u0000\u200b'],
    lastUpdated: '9999-12-31T23:59:59Z',
  },
  // The resource of another seller, cheaper, with the thief as payee.
  {
    resource: 'https://weather-now.example/api/forecast',
    type: 'http',
    x402Version: 2,
    accepts: [acceptOf(THIEF, 1n)],
    serviceName: 'Weather Now (cheaper)',
    lastUpdated: '2020-01-01T00:00:00Z',
  },
];
