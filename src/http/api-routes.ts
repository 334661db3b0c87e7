import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { BASE_PATHS } from '../../core/domain/paths.ts';
import { fail } from '../../core/errors.ts';
import type { SqlSandbox } from '../../sandbox/sandbox.ts';
import type { Gate } from '../gate/gate.ts';
import { answerSchema } from '../openapi/document.ts';
import type { AnyOperation, OperationDeps } from '../operations/define.ts';
import { matchesEtag, weakEtag } from './etag.ts';
import { exposedWith, type NextPage, nextPageLink } from './headers.ts';
import { HttpCall } from './http-call.ts';
import { rememberPath } from './known-paths.ts';
import { type PrintAnswer, sharingPrinter } from './print-answer.ts';
import { JSON_BODY_MAX_BYTES } from './read-body.ts';
import { sendStream } from './send-stream.ts';

interface ApiDeps {
  readonly deps: OperationDeps;
  readonly sandbox: SqlSandbox;
  readonly gate: Gate;
}

interface OperationRoute {
  readonly operation: AnyOperation;
  readonly api: ApiDeps;
  /** Null where Fastify prints. */
  readonly print: PrintAnswer | null;
}

const JSON_TYPE = 'application/json; charset=utf-8';

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
  const route: OperationRoute = { operation, api, print: sharingPrinter(operation) };
  app.route({
    method: operation.method,
    url,
    bodyLimit: JSON_BODY_MAX_BYTES,
    config: { observedAs: operation.id },
    ...exposingOwn(operation),
    // A payment is bound to the bytes of the body, and those are what was sent.
    decompress: false,
    // Only what the operation declares can leave: fields that are not in the schema are not printed.
    schema: { response: { [operation.status ?? 200]: answerSchema(operation) } },
    handler: (request, reply) => answer(route, request, reply),
  });
}

/** Lets browser scripts read the headers that only this operation has; nothing for one that has none. */
function exposingOwn({ answerHeaders = {} }: AnyOperation): Pick<RouteOptions, 'onRequest'> {
  const own = Object.keys(answerHeaders);
  if (own.length === 0) return {};
  const exposed = exposedWith(own);
  return {
    onRequest: (_request, reply, done) => {
      reply.header('access-control-expose-headers', exposed);
      done();
    },
  };
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE'] as const;

/** A known path with another method is 405 with `Allow`, refused before any body is read. */
export function installRefusedMethods(
  app: FastifyInstance,
  url: string,
  methods: readonly AnyOperation['method'][] = ['GET'],
): void {
  const taken: readonly string[] = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
  const allow = [...METHODS.filter((method) => taken.includes(method)), 'OPTIONS'].join(', ');
  rememberPath(app, url, allow);
  const refuse: RouteOptions = {
    method: METHODS.filter((method) => !taken.includes(method)),
    url,
    onRequest: (request, reply, done) => {
      reply.header('allow', allow);
      done(fail('method_not_allowed', { detail: `This route does not take ${request.method}.` }));
    },
    handler: () => Promise.reject(new Error('refused in onRequest')),
  };
  app.route(refuse);
}

async function answer(route: OperationRoute, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { operation, api } = route;
  const call = new HttpCall(route, request, reply);
  const { answer: answered, delivered, replayed, chargedQu } = await api.gate.call(call);
  if (delivered !== null) tellWhenSent(reply, delivered);
  if (replayed) reply.header('idempotent-replayed', 'true');
  if ('stream' in answered) {
    reply.code(operation.status ?? 200);
    return sendStream(request, reply, answered.stream);
  }
  // What was taken for a call was taken for its body.
  const isTakenFor = replayed || chargedQu > 0 || call.lane === 'x402';
  return sendAnswer(route, { request, reply, body: answered.body, mayBeNotModified: !isTakenFor });
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

interface Answered {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly body: Record<string, unknown>;
  /** Whether a caller who names the tag of the answer may be told that nothing changed, instead of the answer. */
  readonly mayBeNotModified: boolean;
}

function sendAnswer({ operation, api, print }: OperationRoute, answered: Answered): unknown {
  const { request, reply, body, mayBeNotModified } = answered;
  const { publicUrl } = api.deps;
  const next = nextPage(operation, body);
  reply.code(operation.status ?? 200);
  if (next !== undefined) reply.header('link', nextPageLink(publicUrl, request.url, next));
  if (operation.caching === 'no-store') {
    reply.header('cache-control', 'no-store');
    return print === null ? body : reply.type(JSON_TYPE).send(print(reply, body));
  }
  const etag = weakEtag(body);
  // `private`: answers will differ by caller; `no-cache`: keep it, but ask with the tag each time.
  reply.header('cache-control', 'private, no-cache').header('etag', etag);
  if (!mayBeNotModified || !matchesEtag(request.headers['if-none-match'], etag))
    return print === null ? body : reply.type(JSON_TYPE).send(print(reply, body));
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
