import type { FastifyInstance } from 'fastify';
import type { Config } from '../../core/config/config.ts';
import { BASE_PATHS } from '../../core/domain/resources.ts';
import { fail } from '../../core/errors.ts';
import { loadBundleSeeds } from '../../core/secret-file.ts';
import { BUNDLE_KEYS_PATH, publicKeyOf } from '../bundles/keys.ts';
import { METADATA_PATHS, type ProtectedResource } from '../gate/bearer-token.ts';
import type { AnyOperation } from '../operations/define.ts';
import { advertisedPrice } from '../operations/route-price.ts';
import type { Order, TermsOf } from '../payment/payment-lane.ts';
import { discoveryOf } from './bazaar.ts';
import { baseUrl } from './http-call.ts';
import { installRefusedMethods } from './methods.ts';

/**
 * The routes on sale over x402, for crawlers: `resources` are the URLs that answer 402 as they stand (the form that x402scan
 * reads), `items` every priced route with its terms, as the discovery lists of facilitators have them; routes with a parameter
 * keep its braces. The terms of a 402 are authoritative.
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
        extensions: discoveryOf(operation),
      };
    }),
  };
}

/** The order of a route without a caller's parameters, so its offer is bound to no request. Only a 402, which knows the tier, offers ceilings. */
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

/**
 * The public keys of the bundles' signatures, the one that signs first: who takes files away checks them against these. Read for each
 * request, because the command that signs makes the first key, and rotates it, while the service runs.
 */
export function installBundleKeys(app: FastifyInstance, config: Pick<Config, 'bundles' | 'dataDir'>): void {
  app.get(BUNDLE_KEYS_PATH, (_request, reply) =>
    reply
      .header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`)
      .send({ keys: loadBundleSeeds(config, { make: false }).map(publicKeyOf) }),
  );
  installRefusedMethods(app, BUNDLE_KEYS_PATH);
}

/**
 * Names the token issuer of this deployment to OAuth clients, for the whole and for the MCP surface. There are no scopes: the
 * organization that a token names decides what it may do. Source: RFC 9728 3.2.
 */
export function installProtectedResources(
  app: FastifyInstance,
  { issuer, resources }: { readonly issuer: string | null; readonly resources: readonly ProtectedResource[] },
): void {
  for (const [path, url] of METADATA_PATHS) {
    const named = resources.find((resource) => resource.path === path);
    app.get(url, (_request, reply) =>
      reply.header('cache-control', 'public, max-age=300').send(metadata(named?.resource, issuer)),
    );
    installRefusedMethods(app, url);
  }
}

function metadata(resource: string | undefined, issuer: string | null): Readonly<Record<string, unknown>> {
  if (issuer === null)
    throw fail('not_found', {
      detail: 'No bearer tokens are accepted here (oauth.issuer is not set); the credential is a key.',
    });
  if (resource === undefined)
    throw fail('not_found', {
      detail: 'This deployment does not know the URL that it is called by (http.publicUrl is not set).',
    });
  return {
    resource,
    authorization_servers: [issuer],
    bearer_methods_supported: ['header'],
    resource_name: 'Settlement Index',
  };
}

/** Where the challenge of a 401 points to; null where there is nothing to read. */
export function metadataUrlOf(
  { oauth }: Pick<Config, 'oauth'>,
  resources: readonly ProtectedResource[],
  path: string,
): string | null {
  if (oauth.issuer === null) return null;
  return resources.find((resource) => resource.path === path)?.metadataUrl ?? null;
}
