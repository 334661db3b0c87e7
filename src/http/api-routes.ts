import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { AnyOperation, OperationDeps } from '../catalogue/operation.ts';
import { fail } from '../errors.ts';
import type { Gate } from '../gate/gate.ts';
import { matchesEtag, weakEtag } from './etag.ts';
import { type NextPage, nextPageLink, setRateHeaders } from './headers.ts';
import { shopOf } from './order.ts';
import { boundReader, startRun } from './request-facts.ts';

/** The two base paths serve identical answers (read-api.md 9.2). */
export const BASE_PATHS = ['/v0', '/api/v0'] as const;

interface ApiDeps {
  readonly deps: OperationDeps;
  readonly gate: Gate;
}

/** Turns a declared operation into its routes, once under each base path. */
export function installOperation(app: FastifyInstance, operation: AnyOperation, api: ApiDeps): void {
  for (const base of BASE_PATHS) {
    const url = `${base}${operation.path.replace(/\{(\w+)\}/g, ':$1')}`;
    app.route({
      method: operation.method,
      url,
      // Only what the operation declares can leave: fields that are not in the schema are not printed.
      schema: { response: { [operation.status ?? 200]: operation.output } },
      handler: (request, reply) => answer(operation, api, request, reply),
    });
    installRefusedMethods(app, url);
  }
}

const REFUSED_METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const;

/** A known path with another method is 405 with `Allow`, refused before any body is read. */
export function installRefusedMethods(app: FastifyInstance, url: string): void {
  const refuse: RouteOptions = {
    method: [...REFUSED_METHODS],
    url,
    onRequest: (request, reply, done) => {
      reply.header('allow', 'GET, HEAD, OPTIONS');
      done(fail('method_not_allowed', { detail: `This route does not take ${request.method}.` }));
    },
    handler: () => Promise.reject(new Error('refused in onRequest')),
  };
  app.route(refuse);
}

async function answer(
  operation: AnyOperation,
  api: ApiDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { deps, gate } = api;
  const { facts } = request;
  if (facts === undefined) throw new Error('a request without facts reached a handler');
  const { answer: answered, delivered } = await gate.call({
    operation,
    raw: rawInput(request),
    credentials: request.headers,
    address: request.ip,
    surface: 'http',
    shop: shopOf(operation, request, deps.publicUrl),
    mayCharge: request.method !== 'HEAD',
    idempotencyKey: textOf(request.headers['idempotency-key']),
    deps: { ...deps, reader: boundReader(deps.reader, facts) },
    onRate: (decision) => setRateHeaders(reply, decision),
    onPaid: (receipt) => reply.headers({ 'x-payment-response': receipt, 'payment-response': receipt }),
    onRun: () => startRun(facts),
  });
  if (delivered !== null) tellWhenSent(reply, delivered);
  if (!('body' in answered)) throw new Error('answers that are streams are not sent yet');
  return sendAnswer(operation, { request, reply, body: answered.body, publicUrl: deps.publicUrl });
}

/** Says once whether the answer left: a connection that ended before, or an answer that could not be printed, did not. */
function tellWhenSent({ raw }: FastifyReply, delivered: (answered: boolean) => Promise<void>): void {
  let told = false;
  const tell = (answered: boolean): void => {
    if (!told) void delivered(answered);
    told = true;
  };
  if (raw.destroyed) tell(false);
  raw.once('finish', () => tell(raw.statusCode < 400));
  raw.once('close', () => tell(false));
}

/** Path and query together; a name in both counts as given twice. */
function rawInput(request: FastifyRequest): Record<string, unknown> {
  const path = request.params as Record<string, string>; // find-my-way gives decoded texts
  const query = request.query as Record<string, unknown>; // texts, or arrays where a name is repeated
  const raw: Record<string, unknown> = { ...query };
  for (const [name, value] of Object.entries(path)) {
    raw[name] = Object.hasOwn(query, name) ? [value, query[name]] : value;
  }
  return raw;
}

function textOf(header: string | string[] | undefined): string | undefined {
  const text = [header ?? []].flat().join(', ').trim();
  return text === '' ? undefined : text;
}

interface Answered {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly body: Record<string, unknown>;
  readonly publicUrl: string;
}

function sendAnswer(operation: AnyOperation, { request, reply, body, publicUrl }: Answered): unknown {
  const next = nextPage(operation, body);
  reply.code(operation.status ?? 200);
  if (next !== undefined) reply.header('link', nextPageLink(publicUrl, request.url, next));
  if (operation.caching === 'no-store') {
    reply.header('cache-control', 'no-store');
    return body;
  }
  const etag = weakEtag(body);
  // `private`: answers will differ by caller; `no-cache`: keep it, but ask with the tag each time.
  reply.header('cache-control', 'private, no-cache').header('etag', etag);
  if (!matchesEtag(request.headers['if-none-match'], etag)) return body;
  return reply.code(304).send();
}

/** The parameter that asks for the next page, and its value; undefined at the end of the list. */
function nextPage({ paging }: AnyOperation, body: Record<string, unknown>): NextPage | undefined {
  if (paging === 'none') return undefined;
  const value = body[`next_${paging}`];
  return typeof value === 'string' || typeof value === 'number'
    ? { name: paging, value: String(value) }
    : undefined;
}
