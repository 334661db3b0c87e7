import { gzipSync } from 'node:zlib';
import { type TObject, Type } from '@sinclair/typebox';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  preParsingHookHandler,
  RouteOptions,
} from 'fastify';
import { BASE_PATHS } from '../../core/domain/resources.ts';
import { fail } from '../../core/errors.ts';
import type { SqlSandbox } from '../../sandbox/sandbox.ts';
import type { Gate } from '../gate/gate.ts';
import { answerSchema } from '../openapi/document.ts';
import type { AnyOperation } from '../operations/define.ts';
import type { OperationDeps } from '../operations/deps.ts';
import {
  exposedWith,
  matchesEtag,
  type NextPage,
  nextPageLink,
  takesGzip,
  VARY,
  weakEtag,
} from './headers.ts';
import { httpCall, whenSent } from './http-call.ts';
import { installRefusedMethods } from './methods.ts';
import { JSON_BODY_MAX_BYTES } from './request-input.ts';
import { sendFile } from './send-file.ts';
import { sendStream } from './send-stream.ts';
import { COMPRESS_ABOVE_BYTES } from './server.ts';

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
  readonly tag: (body: Body) => string;
  /** Null where the server compresses each answer by itself. */
  readonly pack: ((body: Body, text: string | Buffer) => Buffer) | null;
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
  const route: OperationRoute = {
    operation,
    api,
    print: sharingPrinter(operation),
    tag: operation.isShared ? once(weakEtag) : weakEtag,
    pack: operation.isShared ? once((_body, text: string | Buffer) => gzipSync(text)) : null,
  };
  app.route({
    method: operation.method,
    url,
    bodyLimit: operation.file?.bytesMax ?? JSON_BODY_MAX_BYTES,
    config: { observedAs: operation.id, operation },
    ...exposingOwn(operation),
    ...(operation.file === undefined ? {} : { preParsing: refuseUnkeyed }),
    // A payment is bound to the bytes of the body, and those are what was sent.
    decompress: false,
    // Only what the operation declares can leave: fields that are not in the schema are not printed.
    schema: { response: { [operation.status ?? 200]: answerSchema(operation) } },
    handler: (request, reply) => answer(route, request, reply),
  });
}

/** Before the body is read: a file is held in memory, and only organizations send one. */
const refuseUnkeyed: preParsingHookHandler = (request, _reply, payload, done) => {
  const { 'x-api-key': key, authorization } = request.headers;
  if (key !== undefined || authorization !== undefined) done(null, payload);
  else done(fail('api_key_required', { detail: 'Send the key of an organization with a file.' }));
};

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

async function answer(route: OperationRoute, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { operation, api } = route;
  const call = httpCall(route, request, reply);
  const { answer: answered, delivered, replayed, chargedQu } = await api.gate.call(call);
  if (delivered !== null) whenSent(reply, delivered);
  if (replayed) reply.header('idempotent-replayed', 'true');
  // A call was charged for its body, so it is answered with one.
  const isTakenFor = replayed || chargedQu > 0 || call.progress.lane === 'x402';
  if ('file' in answered) return sendFile(request, reply, { file: answered.file, mayBeRefused: !isTakenFor });
  if ('stream' in answered) {
    reply.code(answered.stream.status ?? operation.status ?? 200);
    return sendStream(request, reply, answered.stream);
  }
  return sendAnswer(route, { request, reply, body: answered.body, mayBeNotModified: !isTakenFor });
}

interface Answered {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly body: Record<string, unknown>;
  /** Whether a request whose `If-None-Match` names the answer's tag may get a 304. */
  readonly mayBeNotModified: boolean;
}

function sendAnswer(route: OperationRoute, answered: Answered): unknown {
  const { operation, api, tag } = route;
  const { request, reply, body, mayBeNotModified } = answered;
  const { publicUrl } = api.deps.deployment;
  const next = nextPage(operation, body);
  reply.code(operation.status ?? 200);
  if (next !== undefined) reply.header('link', nextPageLink(publicUrl, request.url, next));
  if (operation.caching === 'no-store') {
    reply.header('cache-control', 'no-store');
    return sendBody(route, answered);
  }
  const etag = tag(body);
  // `private`: answers will differ by caller; `no-cache`: keep it, but ask with the tag each time.
  reply.header('cache-control', 'private, no-cache').header('etag', etag);
  if (!mayBeNotModified || !matchesEtag(request.headers['if-none-match'], etag))
    return sendBody(route, answered);
  return reply.code(304).send();
}

function sendBody({ print, pack }: OperationRoute, { request, reply, body }: Answered): unknown {
  if (print === null) return body;
  reply.type(JSON_TYPE);
  const text = print(reply, body);
  if (pack === null || text.length < COMPRESS_ABOVE_BYTES || !takesGzip(request.headers))
    return reply.send(text);
  // The server leaves an answer alone that is encoded already.
  reply.header('content-encoding', 'gzip').header('vary', `${VARY}, accept-encoding`);
  return reply.send(pack(body, text));
}

/** The parameter that asks for the next page, and its value; undefined at the end of the list. */
function nextPage({ paging }: AnyOperation, body: Record<string, unknown>): NextPage | undefined {
  if (paging === 'none') return undefined;
  const value = body[`next_${paging}`];
  return typeof value === 'string' || typeof value === 'number'
    ? { name: paging, value: String(value) }
    : undefined;
}

type Body = Readonly<Record<string, unknown>>;

/** Prints an answer as JSON: what its schema declares and nothing else. */
export type PrintAnswer<Printed = string | Buffer> = (reply: FastifyReply, body: Body) => Printed;

/**
 * Serializes the shared fields of an operation's answers once, the other fields for each answer; the shared ones come last. Null for
 * an operation without shared fields, whose answers Fastify serializes. Where all is shared it is kept as bytes: a text would be
 * encoded for each request.
 */
export function sharingPrinter({ output, isShared, sharedFields = [] }: AnyOperation): PrintAnswer | null {
  if (isShared) {
    const print = once((body, reply: FastifyReply) => Buffer.from(String(reply.serialize(body))));
    return (reply, body) => print(body, reply);
  }
  if (sharedFields.length === 0) return null;
  const own = Type.Omit(output, [...sharedFields]);
  const parts = sharedFields.map((name) => partPrinter(name, output));
  return (reply, body) => {
    let text = reply.serializeInput(body, own).slice(0, -1);
    for (const print of parts) text += print(reply, body);
    return `${text}}`;
  };
}

/** The result of the first call for each object, kept for as long as the object lives. */
function once<Result, Rest extends readonly unknown[]>(
  make: (body: Body, ...rest: Rest) => Result,
): (body: Body, ...rest: Rest) => Result {
  const made = new WeakMap<Body, Result>();
  return (body, ...rest) => {
    const known = made.get(body);
    if (known !== undefined) return known;
    const result = make(body, ...rest);
    made.set(body, result);
    return result;
  };
}

/** The text of one field, kept for as long as the value that it was printed from lives. */
function partPrinter(name: string, { properties }: TObject): PrintAnswer<string> {
  const schema = properties[name];
  if (schema === undefined) throw new Error(`a shared field ${name} that the answer does not have`);
  const printed = new WeakMap<object, string>();
  return (reply, body) => {
    const value = body[name];
    if (!isObject(value)) throw new Error(`the shared field ${name} is no object`);
    let text = printed.get(value);
    if (text === undefined) {
      text = `,${JSON.stringify(name)}:${reply.serializeInput(value, schema)}`;
      printed.set(value, text);
    }
    return text;
  };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
