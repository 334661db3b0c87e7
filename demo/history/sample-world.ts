import { createHash } from 'node:crypto';
import type { Hex } from 'viem';
import { type Address, address } from '../../core/domain/account.ts';
import { knownChain } from '../../core/domain/networks.ts';
import { readBuiltInRelayers } from '../../ingest/grading/built-in.ts';
import type { Cast } from '../actors.ts';
import { withBuilderCode } from '../chain/payments.ts';
import { offerOf } from '../identities/offers.ts';
import type { ServiceConfig } from '../service.ts';

/** Configuration of the chains that hold sample data only: no node is asked for them, and /telemetry says so. */

type Chains = NonNullable<ServiceConfig['chains']>;

/** The demo's own chain has a node. */
function sampleOnly(cast: Cast): SampleChain[] {
  return sampleChains(cast).filter(({ slug }) => slug !== 'base-sepolia');
}

export function sampleOnlyChains(cast: Cast): Chains {
  return sampleOnly(cast).map(({ slug, lastBlock }) => ({
    chain: slug,
    rpcUrls: [],
    sampleDataTo: lastBlock,
    explorerUrl: false as const,
  }));
}

/** Payees of the catalogue, which gives sellers their names. */
export function samplePayees(cast: Cast) {
  return sampleOnly(cast).flatMap(({ slug, sellers }) =>
    sellers.map(({ address, name, resource }) => ({ chain: slug as string, address, name, resource })),
  );
}

/** Who pays whom in the sample history, chain by chain: invented payers and sellers, relayers of facilitators that exist. */

export const SAMPLE_DAYS = 120;
export const SAMPLE_BLOCK_SECONDS = 2;
/** The first block of the demo's own chain: its sample history lies below. */
export const FIRST_LIVE_BLOCK = 10_000_000;

export type SampleSlug = 'base-sepolia' | 'base' | 'polygon';

export interface SampleSeller {
  readonly name: string;
  readonly address: Address;
  readonly resource: string;
  /** Bare transfers are shown for payees of the catalogue only. */
  readonly catalogued: boolean;
  /** Atomic units of USDC. */
  readonly price: bigint;
  readonly relayers: readonly Address[];
}

export interface SampleChain {
  readonly slug: SampleSlug;
  readonly token: Address;
  /** The newest sample block; its time is the end of the history. */
  readonly lastBlock: number;
  /** About; the plan is random. */
  readonly payments: number;
  readonly payers: readonly Address[];
  /** The most popular first. */
  readonly sellers: readonly SampleSeller[];
  /** Relayers that no catalogue names, each with the suffix of its calldata. */
  readonly strangers: readonly { readonly address: Address; readonly suffix: Hex }[];
  /** Wallets that pay themselves. */
  readonly selfPayers: readonly Address[];
  /** Wallets that pay each other in a circle. */
  readonly rings: readonly (readonly Address[])[];
}

interface Size {
  readonly slug: SampleSlug;
  readonly lastBlock: number;
  readonly payments: number;
  readonly payers: number;
}

/** The demo's chain first: it has about as much as the biggest, so that its live payments stand in a history of their own. */
const SIZES: readonly Size[] = [
  { slug: 'base-sepolia', lastBlock: FIRST_LIVE_BLOCK - 1, payments: 45_000, payers: 2_500 },
  { slug: 'base', lastBlock: 38_400_000, payments: 60_000, payers: 4_000 },
  { slug: 'polygon', lastBlock: 79_600_000, payments: 20_000, payers: 1_500 },
];

const STRANGERS = 3;
const SELF_PAYERS = 4;
const RING_SIZES = [2, 3, 4];

const SELLER_NAMES = [
  'pixel-forge',
  'deep-quotes',
  'route-mind',
  'lingua-bridge',
  'page-reader',
  'chain-labels',
  'mail-check',
  'voice-mint',
  'risk-score',
  'news-wire',
  'paper-search',
  'geo-fence',
  'ad-copy',
  'type-set',
] as const;
/** Atomic units of USDC, in turn. */
const SELLER_PRICES = [10_000n, 1_000n, 2_000n, 5_000n, 1_000n, 25_000n, 500n] as const;

export function sampleChains(cast: Cast): SampleChain[] {
  return SIZES.map((size) => {
    const label = (kind: string, index: number): Address => addressOf(`${size.slug} ${kind} ${index}`);
    const many = (kind: string, count: number): Address[] =>
      Array.from({ length: count }, (_, index) => label(kind, index));
    const [token] = knownChain(size.slug)?.tokens ?? [];
    if (token === undefined) throw new Error(`${size.slug} has a built-in token`);
    return {
      ...size,
      token: token.address,
      payers: many('payer', size.payers),
      sellers: size.slug === 'base-sepolia' ? demoSellers(cast) : inventedSellers(size.slug, label),
      strangers: many('stranger', STRANGERS).map((at, index) => ({ address: at, suffix: suffixOf(index) })),
      selfPayers: many('self-payer', SELF_PAYERS),
      rings: RING_SIZES.map((members, ring) => many(`ring ${ring} member`, members)),
    };
  });
}

function demoSellers({ merchants, relayers }: Cast): SampleSeller[] {
  const named = relayers.filter(({ facilitator }) => facilitator !== null);
  const facilitators = [...new Set(named.map(({ facilitator }) => facilitator))];
  return merchants.map((merchant, index) => ({
    name: merchant.name,
    address: merchant.address,
    resource: merchant.resource,
    catalogued: merchant.catalogued,
    price: offerOf(merchant).price,
    relayers: named
      .filter(({ facilitator }) => facilitator === facilitators[index % facilitators.length])
      .map((relayer) => relayer.address),
  }));
}

function inventedSellers(slug: SampleSlug, label: (kind: string, index: number) => Address): SampleSeller[] {
  const facilitators = builtInFacilitators(slug);
  return SELLER_NAMES.map((name, index) => ({
    name,
    address: label('seller', index),
    resource: `https://${name}.example/api`,
    catalogued: true,
    price: SELLER_PRICES[index % SELLER_PRICES.length] ?? 0n,
    relayers: facilitators[index % facilitators.length] ?? [],
  }));
}

/** Relayers of the built-in table by facilitator, the one with the most first. */
function builtInFacilitators(slug: SampleSlug): Address[][] {
  const own = knownChain(slug)?.chain;
  const byName = new Map<string, Address[]>();
  for (const { chain, facilitator, address: at } of readBuiltInRelayers()) {
    if (chain !== own) continue;
    byName.set(facilitator, [...(byName.get(facilitator) ?? []), at]);
  }
  return [...byName.values()].sort((a, b) => b.length - a.length);
}

/** One of the relayers identifies itself by a code that no catalogue has. */
function suffixOf(index: number): Hex {
  return index === 0 ? withBuilderCode('0x', { w: 'quiet_fac' }) : '0x';
}

function addressOf(label: string): Address {
  return address(`0x${createHash('sha256').update(`sample history: ${label}`).digest('hex').slice(0, 40)}`);
}
