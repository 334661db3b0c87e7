import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Reader } from '../../clickhouse/engine/engine.ts';
import { type Meter, type RequestSpan, secondsSince, type Tracer } from '../../core/meter.ts';
import { QueryAbandoned, QueryFailed, runIdOf, type SqlSandbox } from '../../sandbox/sandbox.ts';
import type { BoundSandbox, OperationDeps } from '../operations/deps.ts';

/** The state of one request: its times, and the signal that stops its work. */
export interface RequestFacts {
  readonly startedMs: number;
  /** By which its caller finds the query that it runs: that of the request, or of the query where its client names one. */
  queryId: string;
  /** Of that query, once it has begun or waits for its turn. */
  runId: string | undefined;
  /** When its operation began to run; the time before it is `queue` in Server-Timing. */
  runMs: number | undefined;
  /** Time spent waiting for a turn of the engine; `queue`, too. */
  queuedMs: number;
  /** Time spent waiting for the engine; statements that run side by side count once each. */
  engineMs: number;
  /** Stops the statements of the run; made for the first of them, because many answers need none. */
  abort: AbortController | undefined;
  /** Bounds the run, once it has a statement. */
  timer: NodeJS.Timeout | undefined;
  /** Aborts when the caller disconnects, for work with limits of its own; made when it is first needed. */
  left: AbortController | undefined;
  /** The connection ended before the answer did. */
  hasLeft: boolean;
  /** Whether it was counted (observed-requests.ts). */
  isCounted: boolean;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Absent where the framework refused the request before any hook ran. */
    facts: RequestFacts | undefined;
  }
}

/** The facts of a request that reached a handler. */
export function factsOf({ facts }: FastifyRequest): RequestFacts {
  if (facts === undefined) throw new Error('a request without facts reached a handler');
  return facts;
}

/** The dependencies of one request: its statements end when the caller disconnects, and their time is counted. */
export function boundDeps(deps: OperationDeps, sandbox: SqlSandbox, facts: RequestFacts): OperationDeps {
  return {
    ...deps,
    share: (name, run) => counted(facts, () => deps.share(name, run, runSignal(facts))),
    reader: new BoundReader(deps.reader, facts),
    sql: new RequestSandbox(sandbox, facts),
  };
}

/** Above the longest statement of a read (20 s). */
const RUN_MAX_MS = 25_000;

/** Gives every request its facts, and stops its queries when the caller disconnects (`onLeft`) or the time is up. */
export function installRequestFacts(app: FastifyInstance, onLeft?: (request: FastifyRequest) => void): void {
  app.decorateRequest('facts', undefined);
  app.addHook('onRequest', (request, reply, done) => {
    const facts: RequestFacts = {
      startedMs: performance.now(),
      queryId: request.id,
      runId: undefined,
      runMs: undefined,
      queuedMs: 0,
      engineMs: 0,
      abort: undefined,
      timer: undefined,
      left: undefined,
      hasLeft: false,
      isCounted: false,
    };
    request.facts = facts;
    // Emitted once by itself.
    reply.raw.on('close', () => {
      clearTimeout(facts.timer);
      facts.hasLeft = !reply.raw.writableFinished;
      if (!facts.hasLeft) return;
      facts.abort?.abort();
      facts.left?.abort();
      onLeft?.(request);
    });
    done();
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    setServerTiming(request, reply);
    done(null, payload);
  });
}

/**
 * Marks the beginning of the run and bounds it from here on: a settlement before it has its own, longer time, and a call that
 * was paid for must find its whole run time left.
 */
export function startRun(facts: RequestFacts): void {
  facts.runMs = performance.now();
}

/** The signal of the run; the time that it has counts from the beginning of the run, not from here. */
function runSignal(facts: RequestFacts): AbortSignal {
  if (facts.abort !== undefined) return facts.abort.signal;
  const abort = new AbortController();
  facts.abort = abort;
  const spentMs = performance.now() - (facts.runMs ?? performance.now());
  if (facts.hasLeft) abort.abort();
  else facts.timer = setTimeout(() => abort.abort(), Math.max(0, RUN_MAX_MS - spentMs)).unref();
  return abort.signal;
}

function setServerTiming({ facts }: FastifyRequest, reply: FastifyReply): void {
  if (facts === undefined) return;
  const total = performance.now() - facts.startedMs;
  const queue = facts.runMs === undefined ? total : facts.runMs - facts.startedMs + facts.queuedMs;
  const engine = facts.engineMs;
  reply.header(
    'server-timing',
    `queue;dur=${inTenths(queue)}, engine;dur=${inTenths(engine)}, total;dur=${inTenths(total)}`,
  );
}

/** With one decimal. `toFixed` takes several times as long, three times for every answer. */
function inTenths(milliseconds: number): string {
  const tenths = Math.round(milliseconds * 10);
  return `${Math.floor(tenths / 10)}.${tenths % 10}`;
}

/** The reader of one request: its statements end with the request, and their time is counted. */
class BoundReader implements Reader {
  private readonly reader: Reader;
  private readonly facts: RequestFacts;

  constructor(reader: Reader, facts: RequestFacts) {
    this.reader = reader;
    this.facts = facts;
  }

  async rows(statement: Parameters<Reader['rows']>[0]): ReturnType<Reader['rows']> {
    const startedMs = performance.now();
    try {
      return await this.reader.rows(statement, runSignal(this.facts));
    } finally {
      this.facts.engineMs += performance.now() - startedMs;
    }
  }

  ping(): Promise<void> {
    return this.reader.ping();
  }

  close(): Promise<void> {
    return Promise.reject(new Error('a request does not own its reader'));
  }
}

/** Aborts when the caller leaves, and at no other time. */
export function leavingSignal(facts: RequestFacts): AbortSignal {
  facts.left ??= new AbortController();
  if (facts.hasLeft) facts.left.abort();
  return facts.left.signal;
}

/** The sandbox of one request: its queries end when the caller disconnects, and their time is counted. */
class RequestSandbox implements BoundSandbox {
  private readonly sandbox: SqlSandbox;
  private readonly facts: RequestFacts;

  constructor(sandbox: SqlSandbox, facts: RequestFacts) {
    this.sandbox = sandbox;
    this.facts = facts;
  }

  openTo(): ReturnType<BoundSandbox['openTo']> {
    return this.sandbox.openTo();
  }

  openNow(): ReturnType<BoundSandbox['openNow']> {
    return this.sandbox.openNow();
  }

  inspect(text: Parameters<BoundSandbox['inspect']>[0]): ReturnType<BoundSandbox['inspect']> {
    return counted(this.facts, () => this.sandbox.inspect(text));
  }

  placeholders(text: Parameters<BoundSandbox['placeholders']>[0]): ReturnType<BoundSandbox['placeholders']> {
    return counted(this.facts, () => this.sandbox.placeholders(text));
  }

  suggest(text: Parameters<BoundSandbox['suggest']>[0]): ReturnType<BoundSandbox['suggest']> {
    return this.sandbox.suggest(text);
  }

  estimate(query: Parameters<BoundSandbox['estimate']>[0]): ReturnType<BoundSandbox['estimate']> {
    return counted(this.facts, () => this.sandbox.estimate(query, leavingSignal(this.facts)));
  }

  readUpload(upload: Parameters<BoundSandbox['readUpload']>[0]): ReturnType<BoundSandbox['readUpload']> {
    return counted(this.facts, () => this.sandbox.readUpload(upload, leavingSignal(this.facts)));
  }

  progress(runId: string): ReturnType<BoundSandbox['progress']> {
    return this.sandbox.progress(runId);
  }

  cancel(runId: string): ReturnType<BoundSandbox['cancel']> {
    return this.sandbox.cancel(runId);
  }

  async run(query: Parameters<BoundSandbox['run']>[0]): ReturnType<BoundSandbox['run']> {
    const { facts } = this;
    try {
      const runId = runIdOf(query.caller, facts.queryId);
      facts.runId = runId;
      const result = await this.sandbox.run({ ...query, runId }, leavingSignal(facts));
      facts.queuedMs += result.queuedMs;
      facts.engineMs += result.engineMs;
      return result;
    } catch (error) {
      facts.engineMs += engineMsOf(error);
      throw error;
    }
  }
}

async function counted<Answer>(facts: RequestFacts, ask: () => Promise<Answer>): Promise<Answer> {
  const startedMs = performance.now();
  try {
    return await ask();
  } finally {
    facts.engineMs += performance.now() - startedMs;
  }
}

function engineMsOf(error: unknown): number {
  if (error instanceof QueryFailed) return error.figures?.engineMs ?? 0;
  return error instanceof QueryAbandoned ? (error.chargedMs ?? 0) : 0;
}

/** The name under which a request is counted and traced: the id of its operation, or the kind of its route. Never its path. */

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by routes that are counted under a name of their own. */
    readonly observedAs?: string;
  }
  interface FastifyRequest {
    span: RequestSpan | undefined;
  }
}

/** For routes that set no name: pages, files, missing paths. */
export const UNNAMED = 'other';
/** As proxies write it for a client that closed the connection. */
const LEFT = '499';
const FAILED_FROM = 500;

function nameOf(request: FastifyRequest): string {
  return request.routeOptions.config.observedAs ?? UNNAMED;
}

export interface RequestObservation {
  readonly meter: Meter | null;
  readonly tracer: Tracer | null;
}

/** Gives every request its facts, and counts and traces it where that is wanted. To be installed before the routes. */
export function installObservation(
  app: FastifyInstance,
  { meter, tracer }: RequestObservation = { meter: null, tracer: null },
): void {
  const counter = meter === null ? null : createRequestCount(meter);
  installRequestFacts(app, counter?.left);
  if (counter !== null) app.addHook('onSend', counter.onSend);
  if (tracer !== null) traceRequests(app, tracer);
}

/** Counts every answer once, when it is ready to leave, and every caller who left before. */
function createRequestCount(meter: Meter): {
  readonly onSend: (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: SendDone) => void;
  readonly left: (request: FastifyRequest) => void;
} {
  const count = (request: FastifyRequest, status: string): void => {
    const { facts } = request;
    if (facts === undefined || facts.isCounted) return;
    facts.isCounted = true;
    const operation = nameOf(request);
    meter.count('http_requests_total', { operation, status });
    meter.observe('http_request_seconds', { operation }, secondsSince(facts.startedMs));
  };
  return {
    onSend(request, reply, payload, done) {
      count(request, String(reply.statusCode));
      done(null, payload);
    },
    left: (request) => count(request, LEFT),
  };
}

type SendDone = (error: null, payload: unknown) => void;

/** Gives every request a span, within which its handler runs. */
function traceRequests(app: FastifyInstance, tracer: Tracer): void {
  app.decorateRequest('span', undefined);
  app.addHook('onRequest', (request, _reply, done) => {
    const operation = nameOf(request);
    const facts = { 'http.request.method': request.method, operation, request_id: request.id };
    request.span = tracer.request(`${request.method} ${operation}`, facts, request.headers);
    done();
  });
  app.addHook('onRoute', (route) => {
    const { handler } = route;
    route.handler = function (request, reply) {
      const handle = (): unknown => handler.call(this, request, reply);
      return request.span === undefined ? handle() : request.span.within(handle);
    };
  });
  app.addHook('onResponse', (request, reply, done) => {
    request.span?.tell({ 'http.response.status_code': reply.statusCode });
    request.span?.end(reply.statusCode >= FAILED_FROM);
    done();
  });
}
