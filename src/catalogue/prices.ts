import type { SqlTierId } from '../domain/plan.ts';

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
