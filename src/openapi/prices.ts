import { usdNumber } from '../../core/domain/amount.ts';
import type { AnyOperation } from '../operations/define.ts';
import { advertisedPrice, rangeAnswer } from '../operations/route-price.ts';
import type { Json } from './schemas.ts';

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

/** `class`, `qu`, `x402_usd` and `range` are ours; `price` and `protocols` are what crawlers of payable APIs read. */
export function paymentInfo({ price }: AnyOperation): Json {
  const { class: priceClass, qu, x402UsdMicros, meaning } = price;
  const range = rangeAnswer(price);
  const own = {
    class: priceClass,
    qu,
    x402_usd: usdNumber(x402UsdMicros),
    ...(range === null ? {} : { range }),
    description: meaning,
  };
  if (priceClass === 'free') return own;
  return { ...own, price: advertisedPrice(price), protocols: [{ x402: {} }] };
}
