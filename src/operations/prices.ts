import { usdNumber } from '../../core/domain/amount.ts';
import { SQL_DISK_BYTES, SQL_SECONDS_PER_QU, type SqlTierId } from '../../core/domain/plan.ts';

/**
 * What a call costs, on each lane, and how a price is put into words. `/account`, OpenAPI and the documentation are read off it.
 */

/** free: no charge. keyed: a valid key, or a paid call. metered: an organization's units, or a paid call. sold: a paid call. */
export type PriceClass = 'free' | 'keyed' | 'metered' | 'sold';

export interface Price {
  readonly class: PriceClass;
  /** Query Units on the credit lane, an integer; null where units buy nothing. */
  readonly qu: number | null;
  /** Millionths of a dollar on the x402 lane. */
  readonly x402UsdMicros: bigint;
  readonly meaning: string;
  /** Present where a call costs a number of units that its caller chooses, by a budget or by what it calls, and its use decides. */
  readonly range?: PriceRange;
}

interface PriceRange {
  /** What one unit buys. */
  readonly unit: string;
  readonly qu: { readonly min: number; readonly max: number };
  /** Null where a call is not sold over x402. */
  readonly x402UsdMicros: { readonly min: bigint; readonly max: bigint; readonly perUnit: bigint } | null;
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

/** A price in a few words, for lists; `meaning` says it in full. */
export function priceInShort(price: Price): string {
  const perCall = `${usdNumber(price.x402UsdMicros)} USD`;
  switch (price.class) {
    case 'free':
      return 'Free.';
    case 'keyed':
      return `Any key, or ${perCall}.`;
    case 'metered':
      return price.x402UsdMicros === 0n ? `From ${price.qu} QU.` : `From ${price.qu} QU, or ${perCall}.`;
    case 'sold':
      return `${perCall} over x402.`;
  }
}

/** The same for a surface where units are the only way to pay. */
export function priceInUnits({ class: priceClass, qu, range }: Price): string {
  switch (priceClass) {
    case 'free':
      return 'Free.';
    case 'keyed':
      return 'Any key, 0 QU.';
    case 'metered':
      return range === undefined ? `${qu ?? 0} QU.` : `At least ${range.qu.min} QU.`;
    case 'sold':
      return 'Calling this tool buys nothing.';
  }
}

/** A cell of a table of prices: what a call costs in Query Units. */
export function unitsInShort({ class: priceClass, qu, range }: Price): string {
  if (qu === null) return 'not for units';
  if (range !== undefined) return `${range.qu.min} to ${range.qu.max.toLocaleString('en-US')}`;
  switch (priceClass) {
    case 'free':
      return 'free';
    case 'keyed':
      return 'any key, 0';
    case 'metered':
    case 'sold':
      return String(qu);
  }
}

/** The same in dollars over x402. */
export function dollarsInShort({ class: priceClass, x402UsdMicros, range }: Price): string {
  if (priceClass === 'free') return 'free';
  if (range !== undefined && range.x402UsdMicros !== null)
    return `${usdNumber(range.x402UsdMicros.min)} to ${usdNumber(range.x402UsdMicros.max)}`;
  return x402UsdMicros === 0n ? 'not over x402' : String(usdNumber(x402UsdMicros));
}

/** What one Query Unit of SQL costs over x402, in millionths of a dollar. */
export const SQL_QU_USD_MICROS = 10_000n;

/** What SQL costs. Which plan may buy which tier is configuration (`plans`). */
export const SQL_TIERS = [
  {
    tier: 'standard',
    timeoutSeconds: 15,
    maxQu: 3,
    jobSeconds: 60,
    jobQu: 12,
    requestsPerMinute: 60,
    diskBytes: SQL_DISK_BYTES.standard,
  },
  {
    tier: 'extended',
    timeoutSeconds: 60,
    maxQu: 12,
    jobSeconds: 300,
    jobQu: 60,
    requestsPerMinute: 10,
    diskBytes: SQL_DISK_BYTES.extended,
  },
  {
    tier: 'deep',
    timeoutSeconds: 300,
    maxQu: 60,
    jobSeconds: 900,
    jobQu: 180,
    requestsPerMinute: 2,
    diskBytes: SQL_DISK_BYTES.deep,
  },
] as const satisfies readonly {
  readonly tier: SqlTierId;
  readonly timeoutSeconds: number;
  readonly maxQu: number;
  /** The same of a job, for which no connection waits. */
  readonly jobSeconds: number;
  readonly jobQu: number;
  readonly requestsPerMinute: number;
  readonly diskBytes: number;
}[];

export type SqlTier = (typeof SQL_TIERS)[number];

/** The tier that single calls over x402 can buy. */
export const SQL_TIER_SOLD: SqlTier = SQL_TIERS[0];

/** How long a query of a tier may run. */
export function sqlTierSeconds(tier: SqlTierId): number {
  return sqlTierOf(tier).timeoutSeconds;
}

export function sqlTierOf(id: SqlTierId): SqlTier {
  return SQL_TIERS.find(({ tier }) => tier === id) ?? SQL_TIER_SOLD;
}

/** What a caller buys of a tier: so many units at most, and the time that they pay for. */
export interface SqlBudget {
  readonly maxQu: number;
  readonly seconds: number;
}

/** A caller who names no number buys the whole tier, on every lane: the same body is the same run, however it is paid for. */
export function sqlBudget({ timeoutSeconds, maxQu: all }: SqlTier, maxQu: number = all): SqlBudget {
  return { maxQu, seconds: Math.min(timeoutSeconds, maxQu * SQL_SECONDS_PER_QU) };
}

/** The same of a job. */
export function jobBudget({ jobSeconds, jobQu }: SqlTier, maxQu: number = jobQu): SqlBudget {
  return { maxQu, seconds: Math.min(jobSeconds, maxQu * SQL_SECONDS_PER_QU) };
}

/** A call of a tier: the units of its budget are held and those used are charged; a fixed x402 payment covers all of them. */
export function sqlPrice({ tier }: SqlTier, { maxQu }: SqlBudget): Price {
  const x402UsdMicros = BigInt(maxQu) * SQL_QU_USD_MICROS;
  return {
    class: 'metered',
    qu: maxQu,
    x402UsdMicros,
    meaning: `1 to ${maxQu} QU by use in the tier ${tier}, or ${usdNumber(x402UsdMicros)} USD over x402.`,
  };
}

const SQL_WHOLE_CALL = sqlPrice(SQL_TIER_SOLD, sqlBudget(SQL_TIER_SOLD));

/**
 * As lists of prices show it: the least that a call costs in units, and what a call that names no budget costs over x402, with
 * the range of both.
 */
export const SQL_PRICE: Price = {
  ...SQL_WHOLE_CALL,
  qu: 1,
  meaning: `1 QU per started ${SQL_SECONDS_PER_QU} seconds in which the engine works, at least 1, at most \`max_qu\` of the body, which is the maximum of the tier where it is left out; over x402 ${usdNumber(SQL_QU_USD_MICROS)} USD for each unit of \`max_qu\` in the tier ${SQL_TIER_SOLD.tier}, and with the scheme \`upto\` only for those used. \`explain_only\` is free.`,
  range: {
    unit: `started ${SQL_SECONDS_PER_QU} seconds of engine work`,
    qu: { min: 1, max: Math.max(...SQL_TIERS.map(({ maxQu }) => maxQu)) },
    x402UsdMicros: {
      min: SQL_QU_USD_MICROS,
      max: SQL_WHOLE_CALL.x402UsdMicros,
      perUnit: SQL_QU_USD_MICROS,
    },
  },
};

const JOB_QU_MAX = Math.max(...SQL_TIERS.map(({ jobQu }) => jobQu));

/** Jobs are paid for with units only: the end of a job is later than a payment may be settled. */
export const JOB_PRICE: Price = {
  class: 'metered',
  qu: 1,
  x402UsdMicros: 0n,
  meaning: `1 QU per started ${SQL_SECONDS_PER_QU} seconds in which the engine works, at least 1, at most \`max_qu\` (up to ${JOB_QU_MAX}), with an organization key only.`,
  range: {
    unit: `started ${SQL_SECONDS_PER_QU} seconds of engine work`,
    qu: { min: 1, max: JOB_QU_MAX },
    x402UsdMicros: null,
  },
};
