import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Offers } from '../gate/gate.ts';
import type { AnyOperation, CallTerms } from '../operations/define.ts';
import type { Order } from '../payment/payment-lane.ts';
import { sentText } from './headers.ts';
import { bodyOf } from './raw-input.ts';

/** What a request buys, rebuilt from the route on every request. Source: read-api.md 4.12, api.md 4. */

/** A host name or address with a port; anything else in a Host header is not echoed into an offer. */
const HOST = /^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** What is sold at an operation's route, once its terms are known, and the payment that came along. */
export class HttpOffers implements Offers {
  readonly payment: string | undefined;
  private readonly operation: AnyOperation;
  private readonly request: FastifyRequest;
  private readonly publicUrl: string;
  private made: Order | undefined;

  constructor(operation: AnyOperation, request: FastifyRequest, publicUrl: string) {
    this.payment = paymentOf(request);
    this.operation = operation;
    this.request = request;
    this.publicUrl = publicUrl;
  }

  order(terms: CallTerms): Order {
    this.made ??= orderOf(this.operation, terms, this.request, this.publicUrl);
    return this.made;
  }
}

/** The v2 name first; a client that sends both sends the same thing twice. Which version it is, its content says. */
function paymentOf({ headers }: FastifyRequest): string | undefined {
  const sent = [headers['payment-signature'], headers['x-payment']].map(sentText);
  return sent.find((payment) => payment !== '');
}

function orderOf(
  { summary, method }: AnyOperation,
  { price, tier, byUse }: CallTerms,
  request: FastifyRequest,
  publicUrl: string,
): Order {
  const [path = '/'] = request.url.split('?', 1);
  const query = request.url.slice(path.length + 1);
  return {
    resource: `${method} ${request.routeOptions.url ?? path}`,
    url: absoluteUrl(request, publicUrl),
    description: tier === null ? summary : `${summary} (tier ${tier}, max_qu ${price.qu})`,
    mimeType: 'application/json',
    priceUsdMicros: price.x402UsdMicros,
    settledByUse: byUse,
    binding: bindingOf({ method, path, query, body: digestOf(bodyOf(request)) }),
  };
}

/** Of the exact bytes: what a payment bought is not for us to interpret. '' without a body. */
function digestOf(body: Buffer | undefined): string {
  return body === undefined ? '' : createHash('sha256').update(body).digest('hex');
}

/**
 * Names exactly one request: the same parameters in another order are the same request, anything else is another one. A list
 * and not a text put together, so that no part can pose as the end of the one before it.
 */
export function bindingOf(request: {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** Digest of the body's bytes; '' without one. */
  readonly body: string;
}): string {
  const { method, path, query, body } = request;
  return createHash('sha256')
    .update(JSON.stringify([method, path, canonicalQuery(query), body]))
    .digest('hex');
}

function canonicalQuery(query: string): [string, string][] {
  const byText = (a: string, b: string) => Number(a > b) - Number(a < b);
  return [...new URLSearchParams(query)].sort(
    ([name, value], [otherName, otherValue]) => byText(name, otherName) || byText(value, otherValue),
  );
}

/**
 * The URL as the caller sees it. Without a configured one, the Host header is believed when it is a plain host: it says so
 * only to the caller who sent it.
 */
function absoluteUrl(request: FastifyRequest, publicUrl: string): string {
  const base = baseUrl(request, publicUrl);
  const url = `${base}${request.url}`;
  return URL.canParse(url) ? new URL(url).href : base;
}

/** Without a trailing slash. */
export function baseUrl({ host, protocol }: FastifyRequest, publicUrl: string): string {
  if (publicUrl !== '') return publicUrl;
  return `${protocol}://${HOST.test(host) ? host : 'localhost'}`;
}
