import type { FastifyInstance } from 'fastify';
import { BASE_PATHS } from '../../core/domain/paths.ts';
import { fail } from '../../core/errors.ts';
import type { AnyOperation } from '../operations/define.ts';
import { advertisedPrice } from '../operations/route-price.ts';
import type { Order, TermsOf } from '../payment/payment-lane.ts';
import { installRefusedMethods } from './api-routes.ts';
import { baseUrl } from './order.ts';

/**
 * What is sold here over x402, for crawlers: `resources` are the URLs that answer 402 as they stand (the form that x402scan
 * reads), `items` every priced route with its terms, as the discovery lists of facilitators have them; routes with a parameter
 * keep its braces. What a 402 says counts. Source: protocol.md 1.10, api.md 3.
 */

export const OFFER_LIST_PATH = '/.well-known/x402';
const MAX_AGE_SECONDS = 300;

export function installOfferList(
  app: FastifyInstance,
  list: {
    readonly operations: readonly AnyOperation[];
    readonly publicUrl: string;
    readonly termsOf: TermsOf | null;
  },
): void {
  const sold = list.operations.filter(({ price }) => price.x402UsdMicros > 0n);
  app.get(OFFER_LIST_PATH, (request, reply) => {
    const { termsOf } = list;
    if (termsOf === null)
      throw fail('not_found', {
        detail: 'No calls are sold here over x402 (payment.facilitatorUrl is not set).',
      });
    const base = baseUrl(request, list.publicUrl);
    return reply
      .header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
      .send(offerList(sold, (operation) => orderOf(operation, base), termsOf));
  });
  installRefusedMethods(app, OFFER_LIST_PATH);
}

function offerList(
  sold: readonly AnyOperation[],
  order: (operation: AnyOperation) => Order,
  termsOf: TermsOf,
): Readonly<Record<string, unknown>> {
  const urls = sold.map((operation) => order(operation).url);
  return {
    version: 1,
    resources: urls.filter((url) => !url.includes('{')),
    x402Version: 2,
    items: sold.map((operation) => {
      const { url, description, mimeType } = order(operation);
      return {
        resource: url,
        type: 'http',
        x402Version: 2,
        description,
        mimeType,
        serviceName: 'Settlement Index',
        accepts: termsOf(order(operation)),
        price: advertisedPrice(operation.price),
        extensions: { bazaar: { info: { input: { type: 'http', method: operation.method } } } },
      };
    }),
  };
}

/** An order of the route in general, where the caller chooses nothing: nothing is bound to a request. Ceilings are offered in the 402, where a tier is known. */
function orderOf({ method, path, summary, price }: AnyOperation, base: string): Order {
  const route = `${BASE_PATHS[0]}${path}`;
  return {
    resource: `${method} ${route}`,
    url: `${base}${route}`,
    description: summary,
    mimeType: 'application/json',
    priceUsdMicros: price.x402UsdMicros,
    settledByUse: false,
    binding: '',
  };
}
