import { type Static, Type } from '@sinclair/typebox';
import { usdNumber } from '../../core/domain/amount.ts';
import type { PriceListEntry } from './deps.ts';
import type { Price } from './prices.ts';
import { orNull } from './shapes.ts';

/** A price as `/account`, the OpenAPI document and the list of offers write it. */

const QuCount = Type.Integer({ minimum: 1 });
const Usd = Type.Number({ minimum: 0 });

const UsdRangeShape = Type.Object(
  { min: Usd, max: Usd, per_unit: Usd },
  {
    title: 'UsdRange',
    description: 'Of one call over x402, in dollars. Null in its place where calls are not sold over x402.',
  },
);

const PriceRangeShape = Type.Object(
  {
    unit: Type.String({ description: 'What one unit buys.' }),
    qu: Type.Object(
      { min: QuCount, max: QuCount, per_unit: QuCount },
      { title: 'UnitRange', description: 'Of one call on the credit lane, in Query Units.' },
    ),
    x402_usd: Type.Unsafe<Static<typeof UsdRangeShape> | null>({ anyOf: [UsdRangeShape, { type: 'null' }] }),
  },
  {
    title: 'PriceRange',
    description:
      'Of a call whose price its caller chooses (by `max_qu`, or by the saved query that it calls) and its use decides. Which part of it a plan may buy, `sql_tiers` says.',
  },
);

export const RoutePriceShape = Type.Object(
  {
    operation: Type.String(),
    method: Type.String(),
    path: Type.String(),
    qu: orNull(
      Type.Integer({
        minimum: 0,
        description:
          'Query Units on the credit lane, with a `range` the least; null where units buy nothing.',
      }),
    ),
    x402_usd: Type.Number({
      minimum: 0,
      description: 'Dollars on the x402 lane, with a `range` those of a call that chooses nothing.',
    }),
    range: Type.Unsafe<Static<typeof PriceRangeShape> | null>({ anyOf: [PriceRangeShape, { type: 'null' }] }),
  },
  { title: 'RoutePrice' },
);

export function routePrice({ id, method, path, price }: PriceListEntry): Static<typeof RoutePriceShape> {
  return {
    operation: id,
    method,
    path,
    qu: price.qu,
    x402_usd: usdNumber(price.x402UsdMicros),
    range: rangeAnswer(price),
  };
}

/** Null for a fixed price. */
export function rangeAnswer({ range }: Price): Static<typeof PriceRangeShape> | null {
  if (range === undefined) return null;
  const usd = range.x402UsdMicros;
  return {
    unit: range.unit,
    qu: { min: range.qu.min, max: range.qu.max, per_unit: 1 },
    x402_usd:
      usd === null
        ? null
        : { min: usdNumber(usd.min), max: usdNumber(usd.max), per_unit: usdNumber(usd.perUnit) },
  };
}

/** As crawlers of payable APIs read a price (draft of the discovery extension at paymentauth.org); we add the last two fields. */
export function advertisedPrice({ x402UsdMicros, range }: Price): Readonly<Record<string, string>> {
  const currency = 'USD';
  if (range === undefined || range.x402UsdMicros === null)
    return { mode: 'fixed', currency, amount: dollars(x402UsdMicros) };
  const { min, max, perUnit } = range.x402UsdMicros;
  return {
    mode: 'dynamic',
    currency,
    min: dollars(min),
    max: dollars(max),
    per_unit: dollars(perUnit),
    unit: range.unit,
  };
}

/** A decimal text, exactly. */
function dollars(usdMicros: bigint): string {
  return usdNumber(usdMicros).toString();
}
