import { usdNumber } from '../domain/amount.ts';
import type { SqlTierId } from '../domain/plan.ts';
import { SQL_SECONDS_PER_QU } from '../domain/query-unit.ts';

/**
 * What a call costs, on each lane. One table: `/account`, OpenAPI and the documentation are read off it. Source: api.md 3, 4.
 */

/** free: nobody pays. keyed: a valid key, or a paid call. metered: an organization's units, or a paid call. sold: a paid call. */
export type PriceClass = 'free' | 'keyed' | 'metered' | 'sold';

export interface Price {
  readonly class: PriceClass;
  /** Query Units on the credit lane, an integer; null where units buy nothing. */
  readonly qu: number | null;
  /** Millionths of a dollar on the x402 lane. */
  readonly x402UsdMicros: bigint;
  readonly meaning: string;
}

export const PRICES = {
  free: { class: 'free', qu: 0, x402UsdMicros: 0n, meaning: 'Free, no key needed.' },
  keyed: {
    class: 'keyed',
    qu: 0,
    x402UsdMicros: 1_000n,
    meaning: 'Any key at 0 QU, or 0.001 USD per call over x402.',
  },
  metered: {
    class: 'metered',
    qu: 1,
    x402UsdMicros: 5_000n,
    meaning: '1 QU with an organization key, or 0.005 USD per call over x402.',
  },
  sold: {
    class: 'sold',
    qu: null,
    x402UsdMicros: 10_000n,
    meaning: '0.01 USD over x402; a key cannot buy it.',
  },
} as const satisfies Record<PriceClass, Price>;

/** What one Query Unit of SQL costs over x402, in millionths of a dollar. Source: api.md 4. */
export const SQL_QU_USD_MICROS = 10_000n;

/** What SQL costs. Which plan may buy which tier is configuration (`plans`). Source: api.md 5. */
export const SQL_TIERS = [
  { tier: 'standard', timeoutSeconds: 15, maxQu: 3, requestsPerMinute: 30 },
  { tier: 'extended', timeoutSeconds: 60, maxQu: 12, requestsPerMinute: 10 },
  { tier: 'deep', timeoutSeconds: 300, maxQu: 60, requestsPerMinute: 2 },
] as const satisfies readonly {
  readonly tier: SqlTierId;
  readonly timeoutSeconds: number;
  readonly maxQu: number;
  readonly requestsPerMinute: number;
}[];

export type SqlTier = (typeof SQL_TIERS)[number];

/** The tier that single calls over x402 can buy. */
export const SQL_TIER_SOLD: SqlTier = SQL_TIERS[0];

export function sqlTierOf(id: SqlTierId): SqlTier {
  return SQL_TIERS.find(({ tier }) => tier === id) ?? SQL_TIER_SOLD;
}

/** A call of a tier: its units are held and those used are charged; a fixed x402 payment covers all of them. */
export function sqlPrice({ tier, maxQu }: SqlTier): Price {
  const x402UsdMicros = BigInt(maxQu) * SQL_QU_USD_MICROS;
  return {
    class: 'metered',
    qu: maxQu,
    x402UsdMicros,
    meaning: `1 to ${maxQu} QU by use in the tier ${tier}, or ${usdNumber(x402UsdMicros)} USD over x402.`,
  };
}

/** As lists of prices show it: the least that a call costs in units, and what a call of the tier that is sold costs over x402. */
export const SQL_PRICE: Price = {
  ...sqlPrice(SQL_TIER_SOLD),
  qu: 1,
  meaning: `1 QU per started ${SQL_SECONDS_PER_QU} seconds of engine time, at least 1, at most what the tier holds; or over x402 the most that the tier ${SQL_TIER_SOLD.tier} costs, and with the scheme \`upto\` only what was used. \`explain_only\` is free.`,
};
