import { randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import type { CursorKeys } from '../../core/domain/cursor.ts';
import type { Log } from '../../core/log.ts';
import type { RequestMark, RequestMarks } from '../../core/process/request-marks.ts';
import type { SqlSandbox } from '../../sandbox/sandbox.ts';
import { createDocsSite } from '../docs-site/docs-site.ts';
import { type ProtectedResource, protectedResources } from '../gate/bearer-token.ts';
import type { Gate } from '../gate/gate.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { createMcpSurface, DOCS_RESOURCES, type McpResource } from '../mcp/server.ts';
import { buildOpenApi } from '../openapi/document.ts';
import { ProblemShape } from '../openapi/problem.ts';
import { type Accounts, createOperationDeps, type ServiceDeps } from '../operations/create-deps.ts';
import type { AnyOperation } from '../operations/define.ts';
import { OPERATIONS, PRICE_LIST } from '../operations/index.ts';
import type { TailTimes } from '../operations/settlements/tail.ts';
import type { TermsOf } from '../payment/payment-lane.ts';
import type { Results } from '../results/results.ts';
import type { Shares } from '../results/shares.ts';
import { installOperations } from './api-routes.ts';
import { CLICKHOUSE_PATH, installClickhouse } from './clickhouse/route.ts';
import { installConsole } from './console/route.ts';
import { installDocs } from './docs-routes.ts';
import { type Drain, installDrain } from './drain.ts';
import { closeWithProblem, type FailureOptions, installFailures } from './failures.ts';
import { installMcp, mcpHostnames } from './mcp/route.ts';
import { createRefusalPace } from './pace-refusals.ts';
import { installObservation, type RequestObservation } from './request-facts.ts';
import { createServer, installCommonHooks, installPlugins } from './server.ts';
import { installServiceRoutes } from './service-routes.ts';
import { installShare } from './share/route.ts';
import { CONNECTIONS_FULL, capConnections, installLoadShedding } from './shed-load.ts';
import {
  installBundleKeys,
  installOfferList,
  installProtectedResources,
  metadataUrlOf,
} from './well-known.ts';

export interface AppOptions {
  readonly config: Pick<
    Config,
    'bundles' | 'chains' | 'clickhouse' | 'console' | 'dataDir' | 'http' | 'oauth' | 'payment' | 'plans'
  >;
  readonly reader: Reader;
  readonly sandbox: SqlSandbox;
  /** False until the schema is that of this program; absent where it was before. */
  readonly isPrepared?: () => boolean;
  readonly cursorKeys: CursorKeys;
  /** Null or absent where no results are kept. */
  readonly kept?: {
    readonly results: Results;
    readonly jobs: Jobs;
    readonly shares: Shares;
    /** Begins to run jobs, with the parts that their queries need. */
    begin(deps: ServiceDeps, sandbox: SqlSandbox): void;
  } | null;
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
  /** Served instead of all operations of the catalogue. */
  readonly operations?: readonly AnyOperation[];
  /** MCP resources instead of the pages of the documentation. */
  readonly resources?: readonly McpResource[];
  /** How it drains when it stops; absent where it just stops. */
  readonly drain?: Drain;
  /** How old the newest settlements in memory may be, instead of the times of the product. */
  readonly tailTimes?: TailTimes;
  /** How long a request may take to arrive, instead of the limit of the product. */
  readonly receiveMaxMs?: number;
  /** Absent where the event loop is not watched. */
  readonly marks?: RequestMarks;
  /** Absent where requests are neither counted nor traced. */
  readonly observation?: RequestObservation;
}

/** The application without a listening socket: tests inject requests, `main.ts` listens. */
export function buildApp(options: AppOptions): FastifyInstance {
  const { config, log, receiveMaxMs } = options;
  const deps = createOperationDeps({ ...options, priceList: PRICE_LIST });
  options.kept?.begin(deps, options.sandbox);
  const { publicUrl } = deps.deployment;
  const resources = protectedResources(publicUrl);
  const failures = (path: string): FailureOptions => ({
    log,
    publicUrl,
    tokenMetadataUrl: metadataUrlOf(config, resources, path),
  });
  const socketAnswers = { publicUrl, newId: randomUUID };
  const app = createServer({ config, log, receiveMaxMs, failures: failures(''), socketAnswers });
  const pace = createRefusalPace();
  // Hooks that a request passes before its route, in this order.
  if (options.marks !== undefined) installRequestMarks(app, options.marks);
  installLoadShedding(app, {
    cap: capConnections(app.server, {
      maxConnections: config.http.maxConnections,
      log,
      refuse: (socket) => closeWithProblem(socket, 'overloaded', CONNECTIONS_FULL, socketAnswers),
    }),
    gate: options.gate,
    pace,
    meter: options.observation?.meter ?? null,
    publicUrl,
  });
  installFailures(app, { ...failures(''), pace });
  installPlugins(app);
  installObservation(app, options.observation);
  installCommonHooks(app, log);
  if (options.drain !== undefined) installDrain(app, options.drain);
  // The routes, in a scope of their own: the hooks above are installed before any of them.
  app.register((routes, _options, done) => {
    installRoutes(routes, options, { deps, resources, failures });
    done();
  });
  return app;
}

interface RouteParts {
  readonly deps: ServiceDeps;
  readonly resources: readonly ProtectedResource[];
  readonly failures: (path: string) => FailureOptions;
}

function installRoutes(
  routes: FastifyInstance,
  options: AppOptions,
  { deps, resources, failures }: RouteParts,
): void {
  const { config, gate, sandbox, version, log, operations = OPERATIONS } = options;
  const { publicUrl } = deps.deployment;
  installOperations(routes, operations, { deps, sandbox, gate });
  installClickhouse(routes, {
    gate,
    deps,
    sandbox,
    failures: failures(CLICKHOUSE_PATH),
  });
  const mcpResources = options.resources ?? DOCS_RESOURCES;
  const surface = createMcpSurface({ operations, resources: mcpResources, gate, version, publicUrl, log });
  installMcp(routes, {
    surface,
    gate,
    deps,
    sandbox,
    hostnames: mcpHostnames(config.http),
    origins: new Set(config.http.mcpOrigins),
    failures,
  });
  installOfferList(routes, { operations, publicUrl, termsOf: options.termsOf });
  installBundleKeys(routes, config);
  installProtectedResources(routes, { issuer: config.oauth.issuer, resources });
  const docs = createDocsSite({ operations, publicUrl });
  const openApi = () => buildOpenApi({ operations, problem: ProblemShape, version, publicUrl });
  installServiceRoutes(routes, { ...deps, openApi, docs });
  installDocs(routes, docs);
  installConsole(routes, { ...config.console, deps });
  installShare(routes, { deps });
}

/** Marks each request for the watch over the event loop before any of it is read. To be installed before all other hooks. */
function installRequestMarks(app: FastifyInstance, marks: RequestMarks): void {
  const open = new WeakMap<object, RequestMark>();
  app.addHook('onRequest', (request, reply, done) => {
    const mark = marks.begin(request.raw.url ?? '');
    open.set(request, mark);
    reply.raw.once('close', mark.end);
    done();
  });
  app.addHook('preValidation', (request, _reply, done) => {
    if (Buffer.isBuffer(request.body)) open.get(request)?.body(request.body);
    done();
  });
}
