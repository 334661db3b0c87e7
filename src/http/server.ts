import { randomUUID } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import fastifyCompress from '@fastify/compress';
import fastifyCors from '@fastify/cors';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Config } from '../../core/config/config.ts';
import { fail } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import {
  answerClientError,
  type FailureOptions,
  httpFailure,
  type SocketAnswerOptions,
  sendFailure,
} from './failures.ts';
import { acceptedRequestId, EXPOSED, hasTwoHosts, proxyTrust, VARY } from './headers.ts';

/** The server without its routes: limits on requests, CORS, compression, and the headers of every answer. */

/** A GET has no body; this bounds what a refused method may send. */
const BODY_MAX_BYTES = 64 * 1024;
/** The longest valid URL has a cursor and a few filters: under 1 KiB. */
const URL_MAX_CHARS = 4_096;
const PARAM_MAX_CHARS = 256;
const MS_PER_SECOND = 1_000;
/** From the first byte of a request, or the opening of its connection, to the last byte of its body. */
export const RECEIVE_MAX_MS = 15_000;
/** How often Node looks for requests that are late; its own 30 s would let a body take three times as long. */
export const RECEIVE_CHECKS_MAX_MS = 1_000;
/** Of an answer that streams, handed to a connection before its reader is waited for. With Node's 16 KiB every chunk waits. */
export const SENT_AHEAD_BYTES = 256 * 1024;
export const COMPRESS_ABOVE_BYTES = 1_024;
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/**
 * For a process that serves requests, before its first one. V8 allocates among the old objects what used to outlive a collection of
 * young ones. While the young space is small (1 MiB at the start) that is everything a request makes, and the decision stays: each
 * dead request among the old then keeps the young objects that it refers to until the next full collection. Measured by
 * `npm run bench -- gate --only account`: 10 µs of the 60 µs that a request takes.
 */
export function keepRequestsYoung(): void {
  setFlagsFromString('--no-allocation-site-pretenuring');
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by routes whose URLs may be longer than the URLs of an operation. */
    readonly urlMaxChars?: number;
  }
}

export interface ServerOptions {
  readonly config: Pick<Config, 'http'>;
  readonly log: Log;
  /** How long a request may take to arrive, instead of the limit of the product. */
  readonly receiveMaxMs?: number | undefined;
  /** How refusals outside of any route are answered. */
  readonly failures: FailureOptions;
  /** The same for input that never became a request. */
  readonly socketAnswers: SocketAnswerOptions;
}

export function createServer(options: ServerOptions): FastifyInstance {
  const { config, log, receiveMaxMs = RECEIVE_MAX_MS, failures, socketAnswers } = options;
  return Fastify({
    // Fastify's own messages about a request go to our log. It is not given as Fastify's logger: with one, Fastify waits for the
    // end of every answer to log it, which is not wanted here and costs more than routing does.
    childLoggerFactory: () => log,
    // One line per request is written in onResponse, without headers.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: proxyTrust(config.http.trustProxy),
    bodyLimit: BODY_MAX_BYTES,
    requestTimeout: receiveMaxMs,
    keepAliveTimeout: config.http.keepAliveSeconds * MS_PER_SECOND,
    // A request that arrives while the server closes is still answered: its dependencies are closed after the server.
    return503OnClosing: false,
    http: {
      highWaterMark: SENT_AHEAD_BYTES,
      // Not above the time for the whole: Node swaps the two when it is, and bodies then have the longer one.
      headersTimeout: receiveMaxMs,
      requestTimeout: receiveMaxMs,
      connectionsCheckingInterval: Math.min(receiveMaxMs, RECEIVE_CHECKS_MAX_MS),
    },
    routerOptions: { maxParamLength: PARAM_MAX_CHARS, ignoreTrailingSlash: true },
    genReqId: (request) => acceptedRequestId(request.headers['x-request-id']) ?? randomUUID(),
    frameworkErrors: (error, request, reply) => {
      sendFailure(request, reply, httpFailure(error), failures);
    },
    clientErrorHandler: (error, socket) => answerClientError(error, socket, socketAnswers),
  });
}

export function installPlugins(app: FastifyInstance): void {
  // Scripts of every site may read every answer (the console revokes that for its own). Set here, because for these two headers the
  // plugin would take longer than the router.
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', EXPOSED);
    done();
  });
  // For preflights only: in a scope of its own, because its hook would otherwise run on every request.
  app.register((preflights, _options, done) => {
    preflights.register(fastifyCors, {
      origin: '*',
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
      // Whatever headers a page asks for: clients add headers of their own, and none of them means anything here by itself.
      exposedHeaders: EXPOSED,
      maxAge: PREFLIGHT_MAX_AGE_SECONDS,
      // OPTIONS without the preflight headers is a question about the route, not an error.
      strictPreflight: false,
    });
    done();
  });
  // zstd joins by itself where the runtime has it (Node 22.15 and newer).
  app.register(fastifyCompress, {
    threshold: COMPRESS_ABOVE_BYTES,
    customTypes: isCompressible,
    // No route takes a compressed body; a Content-Encoding without a body is no reason to refuse.
    globalDecompression: false,
  });
}

/**
 * Texts, but no streams of events: a compressor would hold back what keeps the connection alive. Parquet and Arrow are compressed
 * inside, or not, as their writer chose.
 */
function isCompressible(mediaType: string): boolean {
  return /^(?:text\/(?!event-stream)|application\/(?:[\w.-]+\+)?(?:x-ndjson|json)(?:;|$))/i.test(mediaType);
}

export function installCommonHooks(app: FastifyInstance, log: Log): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { url } = request;
    reply.header('x-request-id', request.id).header('vary', VARY).header('x-content-type-options', 'nosniff');
    const urlMaxChars = request.routeOptions.config.urlMaxChars ?? URL_MAX_CHARS;
    if (url.length > urlMaxChars)
      return done(fail('uri_too_long', { detail: `The URL is longer than ${urlMaxChars} characters.` }));
    // Node keeps the first of two, the next program on the way may go by the other. Source: RFC 9112 3.2.
    if (hasTwoHosts(request.raw.rawHeaders))
      return done(fail('malformed_request', { detail: 'The request has more than one Host header.' }));
    done();
  });
  // Waiting for the end of every answer costs something, and the level never changes.
  if (!log.isLevelEnabled('debug')) return;
  app.addHook('onResponse', (request, reply, done) => {
    log.debug(
      {
        request_id: request.id,
        method: request.method,
        path: request.url.split('?', 1)[0],
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime),
      },
      'answered',
    );
    done();
  });
}
