import { usdNumber } from '../domain/amount.ts';
import type { Json } from './openapi-schemas.ts';
import type { AnyOperation } from './operation.ts';
import { SQL_QU_USD_MICROS } from './prices.ts';

/** Who may call, and what a call costs, as the OpenAPI document tells it. */

export const SECURITY_SCHEMES: Json = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An API key, or an access token (JWT) of the issuer that the deployment accepts: `/.well-known/oauth-protected-resource` names it.',
  },
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'An API key.' },
  x402: {
    type: 'apiKey',
    in: 'header',
    name: 'X-PAYMENT',
    description:
      'No key: a payment, signed for this one request. Ask without it first: the 402 says what to sign. OpenAPI has no better word for it.',
  },
};

const KEY: readonly Json[] = [{ bearer: [] }, { apiKey: [] }];

/** The ways in, each enough by itself; the empty one is to send nothing. */
export function securityOf({ price, params }: AnyOperation): readonly Json[] {
  switch (price.class) {
    case 'free':
      return [{}, ...KEY];
    case 'keyed':
      return [...KEY, { x402: [] }];
    case 'metered':
      // An estimate is free.
      return [...KEY, { x402: [] }, ...('explain_only' in params ? [{}] : [])];
    case 'sold':
      return [{ x402: [] }];
  }
}

/**
 * `class`, `qu` and `x402_usd` are ours; `price` and `protocols` are what crawlers of payable APIs read
 * (draft of the discovery extension at paymentauth.org).
 */
export function paymentInfo({ price, repeatable }: AnyOperation): Json {
  const { class: priceClass, qu, x402UsdMicros, meaning } = price;
  const own = { class: priceClass, qu, x402_usd: usdNumber(x402UsdMicros), description: meaning };
  if (priceClass === 'free') return own;
  const currency = 'USD';
  return {
    ...own,
    price: repeatable
      ? { mode: 'dynamic', currency, min: dollars(SQL_QU_USD_MICROS), max: dollars(x402UsdMicros) }
      : { mode: 'fixed', currency, amount: dollars(x402UsdMicros) },
    protocols: [{ x402: {} }],
  };
}

/** A decimal text, exactly. */
function dollars(usdMicros: bigint): string {
  return usdNumber(usdMicros).toString();
}
