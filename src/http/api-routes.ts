import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import type { SqlSandbox } from '../../sandbox/sql-sandbox.ts';
import { answerSchema } from '../catalogue/openapi.ts';
import type { AnyOperation, OperationDeps } from '../catalogue/operation.ts';
import { fail } from '../errors.ts';
import type { Gate } from '../gate/gate.ts';
import { matchesEtag, weakEtag } from './etag.ts';
import { type NextPage, nextPageLink, rateHeaders } from './headers.ts';
import { shopOf } from './order.ts';
import { rawInput } from './raw-input.ts';
import { JSON_BODY_MAX_BYTES } from './read-body.ts';
import { boundReader, boundSandbox, startRun } from './request-facts.ts';
import { sendStream } from './send-stream.ts';

/** The two base paths serve identical answers (read-api.md 9.2). */
export const BASE_PATHS = ['/v0', '/api/v0'] as const;

interface ApiDeps {
  readonly deps: OperationDeps;
  readonly sandbox: SqlSandbox;
  readonly gate: Gate;
}

/** Turns the declared operations into their routes, once under each base path. */
export function installOperations(
  app: FastifyInstance,
  operations: readonly AnyOperation[],
  api: ApiDeps,
): void {
  // Bodies are read by the operation's route, strictly, and counted like every request also when they cannot be read.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  for (const base of BASE_PATHS) {
    const methods = new Map<string, AnyOperation['method'][]>();
    for (const operation of operations) {
      const url = `${base}${operation.path.replace(/\{(\w+)\}/g, ':$1')}`;
      installRoute(app, url, operation, api);
      methods.set(url, [...(methods.get(url) ?? []), operation.method]);
    }
    for (const [url, taken] of methods) installRefusedMethods(app, url, taken);
  }
}

function installRoute(app: FastifyInstance, url: string, operation: AnyOperation, api: ApiDeps): void {
  app.route({
    method: operation.method,
    url,
    bodyLimit: JSON_BODY_MAX_BYTES,
    // A payment is bound to the bytes of the body, and those are what was sent.
    decompress: false,
    // Only what the operation declares can leave: fields that are not in the schema are not printed.
    schema: { response: { [operation.status ?? 200]: answerSchema(operation) } },
    handler: (request, reply) => answer(operation, api, request, reply),
  });
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const;

/** A known path with another method is 405 with `Allow`, refused before any body is read. */
export function installRefusedMethods(
  app: FastifyInstance,
  url: string,
  methods: readonly AnyOperation['method'][] = ['GET'],
): void {
  const taken: readonly string[] = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  const allowed = METHODS.filter((method) => taken.includes(method));
  const refuse: RouteOptions = {
    method: METHODS.filter((method) => !taken.includes(method)),
    url,
    onRequest: (request, reply, done) => {
      reply.header('allow', [...allowed, 'OPTIONS'].join(', '));
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
  const { deps, sandbox, gate } = api;
  const { facts } = request;
  if (facts === undefined) throw new Error('a request without facts reached a handler');
  const windows = rateHeaders(reply);
  const {
    answer: answered,
    delivered,
    replayed,
  } = await gate.call({
    operation,
    raw: () => rawInput(operation, request),
    credentials: request.headers,
    address: request.ip,
    surface: 'http',
    shop: shopOf(operation, request, deps.publicUrl),
    mayCharge: request.method !== 'HEAD',
    idempotencyKey: textOf(request.headers['idempotency-key']),
    deps: { ...deps, reader: boundReader(deps.reader, facts), sql: boundSandbox(sandbox, facts) },
    onRate: windows,
    onPaid: (receipt) => reply.headers({ 'x-payment-response': receipt, 'payment-response': receipt }),
    onRun: () => startRun(facts),
  });
  if (delivered !== null) tellWhenSent(reply, delivered);
  if (replayed) reply.header('idempotent-replayed', 'true');
  if ('stream' in answered) {
    reply.code(operation.status ?? 200);
    return sendStream(request, reply, answered.stream);
  }
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
