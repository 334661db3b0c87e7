import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Lane } from '../../core/domain/caller.ts';
import { sha256Of } from '../../core/text.ts';
import type { SqlSandbox } from '../../sandbox/sandbox.ts';
import type { CallProgress, CredentialHeaders, GateRequest, Offers, Sender } from '../gate/gate.ts';
import type { AnyOperation, CallTerms } from '../operations/define.ts';
import type { OperationDeps } from '../operations/deps.ts';
import type { Order } from '../payment/payment-lane.ts';
import { discoveryOf } from './bazaar.ts';
import { callerAddress, RateHeaders, sentText } from './headers.ts';
import { boundDeps, factsOf, leavingSignal, type RequestFacts, startRun } from './request-facts.ts';
import { bodyOf, rawInput } from './request-input.ts';

interface CalledRoute {
  readonly operation: AnyOperation;
  readonly api: { readonly deps: OperationDeps; readonly sandbox: SqlSandbox };
}

/** A request of a route as the gate sees it. */
export function httpCall(
  { operation, api }: CalledRoute,
  request: FastifyRequest,
  reply: FastifyReply,
): GateRequest {
  const facts = factsOf(request);
  const { deps, sandbox } = api;
  const idempotencyKey = sentText(request.headers['idempotency-key']);
  return {
    operation,
    surface: 'http',
    sender: new HttpSender(request, facts),
    raw: () => rawInput(operation, request),
    charging: {
      mayCharge: request.method !== 'HEAD',
      idempotencyKey: idempotencyKey === '' ? undefined : idempotencyKey,
      offers: new HttpOffers(operation, request, deps.deployment.publicUrl),
    },
    deps: boundDeps(deps, sandbox, facts),
    progress: new AnswerHeaders(reply, facts),
  };
}

/** A class, like the two below: an object literal with getters costs each request some 10 µs and garbage that outlives it. */
export class HttpSender implements Sender {
  readonly credentials: CredentialHeaders;
  readonly address: string;
  private readonly facts: RequestFacts;

  /** `credentials` in place of the request's headers, where a surface reads them from elsewhere. */
  constructor(
    request: FastifyRequest,
    facts: RequestFacts,
    credentials: CredentialHeaders = request.headers,
  ) {
    this.credentials = credentials;
    this.address = callerAddress(request);
    this.facts = facts;
  }

  get hasLeft(): boolean {
    return this.facts.hasLeft;
  }

  left(): AbortSignal {
    return leavingSignal(this.facts);
  }
}

/** Writes what the gate reports into the headers of the answer. */
export class AnswerHeaders implements CallProgress {
  lane: Lane | null = null;
  private readonly reply: FastifyReply;
  private readonly facts: RequestFacts;
  private readonly windows: RateHeaders;
  private readonly onRunBegun: (() => void) | undefined;

  constructor(reply: FastifyReply, facts: RequestFacts, onRunBegun?: () => void) {
    this.reply = reply;
    this.facts = facts;
    this.onRunBegun = onRunBegun;
    this.windows = new RateHeaders(reply);
  }

  onRate(...[decision, tier]: Parameters<CallProgress['onRate']>): void {
    this.windows.add(decision, tier);
  }

  onPaid(receipt: string): void {
    this.reply.header('x-payment-response', receipt).header('payment-response', receipt);
  }

  onRun(lane: Lane): void {
    this.lane = lane;
    startRun(this.facts);
    this.onRunBegun?.();
  }
}

/** Calls `delivered` once, with whether the answer was sent: false when the connection ended before or the answer could not be printed. */
export function whenSent({ raw }: FastifyReply, delivered: (answered: boolean) => Promise<void>): void {
  let isTold = false;
  const tell = (answered: boolean): void => {
    if (!isTold) void delivered(answered);
    isTold = true;
  };
  if (raw.destroyed) tell(false);
  raw.once('finish', () => tell(raw.statusCode < 400));
  raw.once('close', () => tell(false));
}

/** A host name or address with a port; anything else in a Host header is not echoed into an offer. */
const HOST = /^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/** What a request of an operation's route buys, rebuilt from the route on every request, and the payment that came along. */
class HttpOffers implements Offers {
  readonly payment: string | undefined;
  private readonly operation: AnyOperation;
  private readonly request: FastifyRequest;
  private readonly publicUrl: string;
  private made: { readonly terms: CallTerms; readonly order: Order } | undefined;

  constructor(operation: AnyOperation, request: FastifyRequest, publicUrl: string) {
    this.payment = paymentOf(request);
    this.operation = operation;
    this.request = request;
    this.publicUrl = publicUrl;
  }

  order(terms: CallTerms): Order {
    if (this.made?.terms !== terms)
      this.made = { terms, order: orderOf(this.operation, terms, this.request, this.publicUrl) };
    return this.made.order;
  }
}

/** The v2 name first; a client that sends both sends the same payment twice. Its content shows the version. */
function paymentOf({ headers }: FastifyRequest): string | undefined {
  const sent = [headers['payment-signature'], headers['x-payment']].map(sentText);
  return sent.find((payment) => payment !== '');
}

function orderOf(
  operation: AnyOperation,
  { price, tier, byUse, describes = operation.summary }: CallTerms,
  request: FastifyRequest,
  publicUrl: string,
): Order {
  const { method } = operation;
  const [path = '/'] = request.url.split('?', 1);
  const query = request.url.slice(path.length + 1);
  return {
    resource: `${method} ${request.routeOptions.url ?? path}`,
    url: absoluteUrl(request, publicUrl),
    description: tier === null ? describes : `${describes} (tier ${tier}, max_qu ${price.qu})`,
    mimeType: 'application/json',
    priceUsdMicros: price.x402UsdMicros,
    settledByUse: byUse,
    binding: bindingOf({ method, path, query, body: digestOf(bodyOf(request)) }),
    extensions: { ...discoveryOf(operation) },
  };
}

/** Of the exact bytes, because the payment is bound to these. '' without a body. */
function digestOf(body: Buffer | undefined): string {
  return body === undefined ? '' : sha256Of(body);
}

/**
 * Names exactly one request: the same parameters in another order are the same request, anything else is another one. Digests a JSON
 * list, not a concatenation, so that no part can pass as the end of the one before it.
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
 * The URL as the caller sees it. Without a configured one, the Host header is used when it is a plain host: the answer goes only to
 * the caller who sent it.
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
