import { randomUUID } from 'node:crypto';
import fastifyCompress from '@fastify/compress';
import fastifyCors from '@fastify/cors';
import Fastify, { type FastifyInstance, LogController } from 'fastify';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import type { CursorKeys } from '../../core/domain/cursor.ts';
import { fail } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Meter } from '../../core/meter.ts';
import type { Tracer } from '../../core/tracer.ts';
import type { SqlSandbox } from '../../sandbox/sandbox.ts';
import { createDocsSite } from '../docs-site/docs-site.ts';
import type { Gate } from '../gate/gate.ts';
import { protectedResources } from '../gate/protected-resource.ts';
import { createMcpSurface } from '../mcp/mcp-server.ts';
import { DOCS_RESOURCES, type McpResource } from '../mcp/resources.ts';
import { buildOpenApi } from '../openapi/document.ts';
import { ProblemShape } from '../openapi/problem.ts';
import { createLeaderboard } from '../operations/agents/read-leaderboard.ts';
import { createCapabilities } from '../operations/capabilities/read.ts';
import type { Accounts, AnyOperation, OperationDeps } from '../operations/define.ts';
import { createEndpointSources } from '../operations/endpoints/sources.ts';
import { createRelayers } from '../operations/facilitators/read.ts';
import { createGraphs } from '../operations/graph/read.ts';
import { OPERATIONS, PRICE_LIST } from '../operations/index.ts';
import { createDatasetFacts } from '../operations/index-state/dataset.ts';
import { createFreshness } from '../operations/index-state/freshness.ts';
import { createIdentityStates } from '../operations/index-state/identity-state.ts';
import { createIndexStates } from '../operations/index-state/index-state.ts';
import { createRollups } from '../operations/index-state/rollup-coverage.ts';
import { createNames } from '../operations/names/names.ts';
import { createPublicTableRows } from '../operations/sql/public-table-rows.ts';
import type { TermsOf } from '../payment/payment-lane.ts';
import { installOperations } from './api-routes.ts';
import { proxyTrust } from './caller-address.ts';
import { answerClientError, closeWithProblem } from './client-error.ts';
import { keepRequestsYoung } from './collector-flags.ts';
import { capConnections } from './connection-cap.ts';
import { installConsole } from './console/route.ts';
import { installDocs } from './docs-routes.ts';
import { type Drain, installDrain } from './drain.ts';
import { asFailure, type FailureOptions, installFailures, sendFailure } from './failures.ts';
import { ACCEPTED_HEADERS, acceptedRequestId, EXPOSED, hasTwoHosts, VARY } from './headers.ts';
import { mcpHostnames } from './mcp/origin.ts';
import { installMcp } from './mcp/route.ts';
import { createRequestCount, traceRequests } from './observed-requests.ts';
import { installOfferList } from './offer-list.ts';
import { installProtectedResources, metadataUrlOf } from './protected-resource-routes.ts';
import { installRequestFacts } from './request-facts.ts';
import { installServiceRoutes } from './service-routes.ts';
import { CONNECTIONS_FULL, installLoadShedding } from './shed-load.ts';

export interface AppOptions {
  readonly config: Pick<Config, 'http' | 'chains' | 'oauth' | 'plans' | 'console'>;
  readonly reader: Reader;
  readonly sandbox: SqlSandbox;
  readonly cursorKeys: CursorKeys;
  readonly gate: Gate;
  readonly accounts: Accounts;
  /** Whether single calls can be bought here over x402. */
  readonly sellsCalls: boolean;
  /** The terms of a call over x402; null where none is sold. */
  readonly termsOf: TermsOf | null;
  readonly log: Log;
  readonly clock: Clock;
  /** Version of this program. */
  readonly version: string;
  /** What is served instead of all operations of the catalogue. */
  readonly operations?: readonly AnyOperation[];
  /** What agents may read instead of the pages of the documentation. */
  readonly resources?: readonly McpResource[];
  /** How it ends; absent where nobody waits for that. */
  readonly drain?: Drain;
  /** How long a request may take to arrive, instead of the limit of the product. */
  readonly receiveMaxMs?: number;
  /** Who counts and traces; absent where nobody does. */
  readonly observation?: { readonly meter: Meter | null; readonly tracer: Tracer | null };
}

/** A GET has no body; this bounds what a refused method may send. */
const BODY_MAX_BYTES = 64 * 1024;
/** The longest valid URL has a cursor and a few filters: under 1 KiB. */
const URL_MAX_CHARS = 4_096;
const PARAM_MAX_CHARS = 256;
/** From the first byte of a request, or the opening of its connection, to the last byte of its body. */
const RECEIVE_MAX_MS = 15_000;
/** How often Node looks for requests that are late; its own 30 s would let a body take three times as long. */
const RECEIVE_CHECKS_MAX_MS = 1_000;
/** Longer than the idle time of usual load balancers (60 s), so that they close first and no request is lost. */
const KEEP_ALIVE_MS = 72_000;
/** Of an answer that streams, handed to a connection before its reader is waited for. With Node's 16 KiB every chunk waits. */
const SENT_AHEAD_BYTES = 256 * 1024;
const COMPRESS_ABOVE_BYTES = 1_024;
const PREFLIGHT_MAX_AGE_SECONDS = 86_400;

/** The application without a listening socket: tests inject requests, `main.ts` listens. */
export function buildApp(options: AppOptions): FastifyInstance {
  keepRequestsYoung();
  const deps = operationDeps(options);
  const { publicUrl } = deps;
  const { log, receiveMaxMs = RECEIVE_MAX_MS } = options;
  const answering = { publicUrl, newId: randomUUID };
  const resources = protectedResources(publicUrl);
  const failures = (path: string): FailureOptions => ({
    log,
    publicUrl,
    tokenMetadataUrl: metadataUrlOf(options.config, resources, path),
  });
  const app = Fastify({
    // What Fastify has to say of a request goes to our log. It is not given as Fastify's own logger: with one, Fastify waits for the
    // end of every answer to log it, which is not wanted here and costs more than routing does.
    childLoggerFactory: () => log,
    // One line per request is written in onResponse, without headers.
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: proxyTrust(options.config.http.trustProxy),
    bodyLimit: BODY_MAX_BYTES,
    requestTimeout: receiveMaxMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Whoever still gets in while it closes is answered: what answers need is closed after it.
    return503OnClosing: false,
    http: {
      highWaterMark: SENT_AHEAD_BYTES,
      // Not above the time for the whole: Node swaps the two when it is, and bodies then have the longer one.
      headersTimeout: receiveMaxMs,
      requestTimeout: receiveMaxMs,
      connectionsCheckingInterval: Math.min(receiveMaxMs, RECEIVE_CHECKS_MAX_MS),
    },
    routerOptions: { maxParamLength: PARAM_MAX_CHARS },
    genReqId: (request) => acceptedRequestId(request.headers['x-request-id']) ?? randomUUID(),
    frameworkErrors: (error, request, reply) => {
      sendFailure(request, reply, asFailure(error), failures(''));
    },
    clientErrorHandler: (error, socket) => answerClientError(error, socket, answering),
  });
  installFailures(app, failures(''));
  const operations = options.operations ?? OPERATIONS;
  installPlugins(app);
  const { meter = null, tracer = null } = options.observation ?? {};
  const counter = meter === null ? null : createRequestCount(meter);
  installRequestFacts(app, counter?.left);
  if (counter !== null) app.addHook('onSend', counter.onSend);
  if (tracer !== null) traceRequests(app, tracer);
  installCommonHooks(app, log);
  installLoadShedding(app, {
    cap: capConnections(app.server, {
      maxConnections: options.config.http.maxConnections,
      log,
      refuse: (socket) => closeWithProblem(socket, 'overloaded', CONNECTIONS_FULL, answering),
    }),
  });
  if (options.drain !== undefined) installDrain(app, options.drain);
  app.register((routes, _options, done) => {
    const { gate, sandbox } = options;
    installOperations(routes, operations, { deps, sandbox, gate });
    const surface = createMcpSurface({
      operations,
      resources: options.resources ?? DOCS_RESOURCES,
      gate,
      version: options.version,
      publicUrl,
      log,
    });
    installConsole(routes, options.config.console);
    const hostnames = mcpHostnames(options.config.http);
    installMcp(routes, { surface, gate, deps, sandbox, hostnames, failures });
    installOfferList(routes, { operations, publicUrl, termsOf: options.termsOf });
    installProtectedResources(routes, { issuer: options.config.oauth.issuer, resources });
    const openApi = buildOpenApi({
      operations,
      problem: ProblemShape,
      version: options.version,
      publicUrl,
    });
    const docs = createDocsSite({ operations, publicUrl });
    installServiceRoutes(routes, { ...deps, openApi, prices: deps, docs });
    installDocs(routes, docs);
    done();
  });
  return app;
}

function operationDeps(options: AppOptions): OperationDeps {
  const { config, reader, clock, cursorKeys, version, accounts, sellsCalls } = options;
  const chains = config.chains.map(({ chain }) => chain);
  const rollups = createRollups({ reader, clock });
  const freshness = createFreshness({ reader, clock });
  const endpointSources = createEndpointSources({ reader, clock });
  return {
    reader,
    sql: unbound(options.sandbox),
    clock,
    cursorKeys,
    version,
    chains,
    sampleDataTo: new Map(
      config.chains.flatMap(({ chain, sampleDataTo }) =>
        sampleDataTo === null ? [] : [[chain, sampleDataTo] as const],
      ),
    ),
    startedAtMs: clock.nowMs(),
    publicUrl: config.http.publicUrl?.replace(/\/+$/, '') ?? '',
    freshness,
    names: createNames({ reader, clock }),
    dataset: createDatasetFacts({ reader, clock, rollups, freshness }),
    rollups,
    graphs: createGraphs({ clock }),
    publicTableRows: createPublicTableRows({ reader, clock }),
    endpointSources,
    relayers: createRelayers({ reader, clock, rollups, chains }),
    capabilities: createCapabilities({ reader, clock }),
    leaderboard: createLeaderboard({ reader, clock, chains }),
    indexStates: createIndexStates({
      clock,
      freshness,
      identityStates: createIdentityStates({ reader, clock }),
      endpointSources,
    }),
    priceList: PRICE_LIST,
    accounts,
    plans: config.plans,
    sellsCalls,
  };
}

/** Until a request binds it, nobody can leave. */
function unbound(sandbox: SqlSandbox): OperationDeps['sql'] {
  const { signal } = new AbortController();
  return {
    openTo: () => sandbox.openTo(),
    openNow: () => sandbox.openNow(),
    inspect: (text) => sandbox.inspect(text),
    run: (query) => sandbox.run(query, signal),
    estimate: (query) => sandbox.estimate(query, signal),
  };
}

function installPlugins(app: FastifyInstance): void {
  // Scripts of every site may read every answer (the console takes that back for its own): two headers, for which the plugin would take longer than the router.
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('access-control-allow-origin', '*').header('access-control-expose-headers', EXPOSED);
    done();
  });
  // Preflights are what it is for; in a scope of its own, because its hook would otherwise pass every request.
  app.register((preflights, _options, done) => {
    preflights.register(fastifyCors, {
      origin: '*',
      methods: ['GET', 'HEAD', 'POST', 'OPTIONS'],
      allowedHeaders: [...ACCEPTED_HEADERS],
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
    // No route takes a compressed body; a header that speaks of one where there is none is no reason to refuse.
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

function installCommonHooks(app: FastifyInstance, log: Log): void {
  app.addHook('onRequest', (request, reply, done) => {
    const { url } = request;
    reply.header('x-request-id', request.id).header('vary', VARY).header('x-content-type-options', 'nosniff');
    if (url.length > URL_MAX_CHARS)
      return done(fail('uri_too_long', { detail: `The URL is longer than ${URL_MAX_CHARS} characters.` }));
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
