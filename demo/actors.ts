import type { Address } from '../core/domain/account.ts';
import { type Wallet, walletOf } from './chain/sender.ts';

/** A payer or payee. The key is derived from the seed and signs for the local chain's token only. */
export interface Actor extends Wallet {
  readonly name: string;
}

/** A service that sells something. Catalogued ones are in the index's configuration; the index does not know the others. */
export interface Merchant extends Actor {
  readonly catalogued: boolean;
  readonly resource: string;
}

/** Sends transactions and pays their gas. `facilitator` is null for relayers that no catalogue names. */
export interface Relayer {
  readonly address: Address;
  readonly facilitator: string | null;
  /** ERC-8021 code it appends to its calldata, when it does. */
  readonly builderCode: string | null;
}

/** A facilitator as the configuration names it. */
export interface NamedFacilitator {
  readonly id: string;
  readonly name: string;
  readonly relayers: readonly Address[];
}

export interface Cast {
  readonly agents: readonly Actor[];
  readonly merchants: readonly Merchant[];
  /** Sellers with a real endpoint each: catalogued, and paid over x402 only, at their own price. */
  readonly shops: readonly (Actor & { readonly name: ShopName })[];
  /** For visitors who try the demo: its key is printed. */
  readonly visitor: Actor;
  /** Our own API as a payee: catalogued, and paid over x402 only. */
  readonly api: Actor;
  readonly relayers: readonly Relayer[];
  readonly facilitators: readonly NamedFacilitator[];
  /** Signs for the local x402 facilitator process; the last of `relayers` and of `facilitators`. */
  readonly x402Relayer: Actor;
  /** Agents that pay through real x402 HTTP clients only, so that nothing else touches their nonces and balances. */
  readonly x402Agents: readonly Actor[];
}

const AGENT_COUNT = 48;
const X402_AGENT_COUNT = 4;
const RELAYERS_PER_FACILITATOR = 3;
const UNNAMED_RELAYER_COUNT = 3;
/** The code of a relayer that names itself in its calldata but stands in no catalogue. */
const SELF_DECLARED_CODE = 'quiet_fac';
export const X402_FACILITATOR_ID = 'local-x402';
export const X402_BUILDER_CODE = 'local_fac';

const MERCHANT_NAMES = [
  'weather-now',
  'stock-quotes',
  'geo-lookup',
  'translate',
  'summarize',
  'image-gen',
  'vector-search',
  'web-scrape',
  'news-feed',
  'fx-rates',
  'ocr',
  'speech',
  'maps-tiles',
  'code-review',
  'sentiment',
  'face-blur',
] as const;
export const SHOP_NAMES = ['fair-dice', 'unit-converter', 'text-facts'] as const;
export type ShopName = (typeof SHOP_NAMES)[number];
const UNCATALOGUED_MERCHANT_NAMES = ['corner-shop', 'night-market', 'side-hustle', 'no-name'] as const;

/** The same in every demo, with any seed. Its key is no secret: it derives from this label. */
export function visitorAccount(): Actor {
  return { name: 'visitor', ...walletOf('test account of the demo') };
}

/**
 * All actors of the demo, a pure function of the seed. Named facilitators: two with several relayers each, and the local
 * x402 facilitator.
 */
export function castOf(seed: number): Cast {
  const actor = (name: string): Actor => ({ name, ...walletOf(`${seed}/${name}`) });
  const merchant = (name: string, catalogued: boolean): Merchant => ({
    ...actor(`merchant/${name}`),
    name,
    catalogued,
    resource: `https://${name}.example/api`,
  });
  const x402Relayer = actor('relayer/local-x402');
  const named = ['northwind', 'meridian'].map((id) => ({
    id,
    name: `${id.charAt(0).toUpperCase()}${id.slice(1)} Pay`,
    relayers: Array.from({ length: RELAYERS_PER_FACILITATOR }, (_, k) => actor(`relayer/${id}/${k}`).address),
  }));
  const local = { id: X402_FACILITATOR_ID, name: 'Local x402 facilitator', relayers: [x402Relayer.address] };
  const unnamed = Array.from(
    { length: UNNAMED_RELAYER_COUNT },
    (_, k): Relayer => ({
      address: actor(`relayer/unnamed/${k}`).address,
      facilitator: null,
      builderCode: k === 0 ? SELF_DECLARED_CODE : null,
    }),
  );
  return {
    agents: Array.from({ length: AGENT_COUNT }, (_, k) => actor(`agent-${k}`)),
    x402Agents: Array.from({ length: X402_AGENT_COUNT }, (_, k) => actor(`x402-agent-${k}`)),
    api: actor('settlement-index'),
    visitor: visitorAccount(),
    shops: SHOP_NAMES.map((name) => ({ ...actor(`shop/${name}`), name })),
    merchants: [
      ...MERCHANT_NAMES.map((name) => merchant(name, true)),
      ...UNCATALOGUED_MERCHANT_NAMES.map((name) => merchant(name, false)),
    ],
    relayers: [
      ...named.flatMap(({ id, relayers }) =>
        relayers.map((at): Relayer => ({ address: at, facilitator: id, builderCode: null })),
      ),
      ...unnamed,
    ],
    facilitators: [...named, local],
    x402Relayer,
  };
}
