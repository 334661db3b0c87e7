import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ERRORS, type FailureContext, fail } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { Meter } from '../../core/meter.ts';
import { NO_PLACE } from '../gate/admission.ts';
import type { Gate } from '../gate/gate.ts';
import { PROBLEM_TYPE, problemOf } from '../openapi/problem.ts';
import type { AnyOperation } from '../operations/define.ts';
import { readPayment } from '../payment/signed-payment.ts';
import { pathOf } from './failures.ts';
import { callerAddress, EXPOSED, sentText, VARY } from './headers.ts';
import type { RefusalPace } from './pace-refusals.ts';
import { UNNAMED } from './request-facts.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Of a route that an operation is served at. */
    readonly operation?: AnyOperation;
  }
}

/**
 * The most requests that a process handles at once, whatever they wait for: a store that hangs, the queue for the engine, a
 * facilitator. Far above the queues of the gate (admission.ts), so that those decide which calls wait; it prevents that a flood
 * occupies the process with requests that would be refused a few steps later, and bounds its memory.
 */
const REQUESTS_AT_ONCE_MAX = 2_048;
const RETRY_AFTER_SECONDS = 2;
const REQUESTS_FULL: FailureContext = {
  detail: 'This process has as many requests as it can hold. Nothing was run or charged.',
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};
/** The answer to a connection beyond the cap. */
export const CONNECTIONS_FULL: FailureContext = {
  detail: 'This process has as many connections as it can hold. Nothing was run or charged.',
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};
/** Probes and metrics matter most under overload. */
const ALWAYS_ANSWERED: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

/** Reasons, as `requests_shed_total` names them. */
type Reason = 'connections' | 'requests' | 'loop' | 'places';

export interface SheddingOptions {
  readonly atOnceMax?: number;
  /** Absent where connections are not capped. */
  readonly cap?: ConnectionCap;
  /** Knows which calls would find no place at the engine. Absent: none are refused for that. */
  readonly gate?: Pick<Gate, 'refuses'>;
  /** Measures how late the event loop is; absent: that of this process. */
  readonly lateMs?: () => number;
  /** Absent: every refusal leaves at once. */
  readonly pace?: RefusalPace;
  readonly meter?: Meter | null;
  readonly publicUrl?: string;
}

/**
 * Refuses with `overloaded`, before anything of a request but its head is read and before it is counted:
 *
 * - what comes while `atOnceMax` others are not answered yet, or over a connection beyond the cap;
 * - a call of an operation that needs the engine, while its caller would wait too long for a place (gate/admission.ts);
 * - the same where the event loop has been so late for a while that the call has waited too long already.
 *
 * A call that carries a payment that can be read is refused for the first reason only: it may be paid for already. To be installed before all
 * other hooks, which are work that a refused request must not cost.
 */
export function installLoadShedding(app: FastifyInstance, options: SheddingOptions = {}): void {
  const {
    atOnceMax = REQUESTS_AT_ONCE_MAX,
    cap,
    gate,
    meter,
    lateMs = watchLoop(app),
    pace,
    publicUrl = '',
  } = options;
  let underWay = 0;
  const reasonOf = (request: FastifyRequest): Reason | null => {
    if (ALWAYS_ANSWERED.has(request.routeOptions.url ?? '')) return null;
    if (cap?.isBeyond(request.raw.socket) === true) return 'connections';
    if (underWay >= atOnceMax) return 'requests';
    const { operation } = request.routeOptions.config;
    if (operation === undefined || operation.load === 'none' || carriesPayment(request)) return null;
    if (lateMs() > LOOP_LATE_MAX_MS) return 'loop';
    const sender = { credentials: request.headers, address: callerAddress(request) };
    return gate?.refuses(operation, sender) === true ? 'places' : null;
  };
  app.addHook('onRequest', (request, reply, done) => {
    const reason = reasonOf(request);
    if (reason !== null) {
      meter?.count('requests_shed_total', { reason });
      const { observedAs } = request.routeOptions.config;
      meter?.count('http_requests_total', { operation: observedAs ?? UNNAMED, status: '503' });
      // Routes without an operation have refusals of their own form, such as the refusals of the ClickHouse interface.
      if (request.routeOptions.config.operation === undefined) {
        if (reason === 'connections') reply.header('connection', 'close');
        return done(fail('overloaded', REFUSALS[reason]));
      }
      const answer = (): void => refuse(request, reply, { reason, publicUrl });
      if (reason === 'connections' || pace === undefined) return answer();
      return pace.whenDue(request, RETRY_AFTER_SECONDS, answer);
    }
    underWay += 1;
    // Of every answer, complete or not, exactly once.
    reply.raw.once('close', () => {
      underWay -= 1;
    });
    done();
  });
}

/** Only one that can be read: any other header would be a way past the refusals that costs nothing. */
function carriesPayment({ headers }: FastifyRequest): boolean {
  return [headers['payment-signature'], headers['x-payment']]
    .map(sentText)
    .some((payment) => payment !== '' && !('problem' in readPayment(payment)));
}

const REFUSALS: Readonly<Record<Reason, FailureContext>> = {
  connections: CONNECTIONS_FULL,
  requests: REQUESTS_FULL,
  loop: NO_PLACE,
  places: NO_PLACE,
};

/**
 * Written past Fastify's error handler and hooks for answers: they take four times as long as everything else about a refusal. The
 * connection stays open, because opening another one costs both sides more; one beyond the cap is closed.
 */
function refuse(
  request: FastifyRequest,
  reply: FastifyReply,
  { reason, publicUrl }: { readonly reason: Reason; readonly publicUrl: string },
): void {
  const context = REFUSALS[reason];
  reply.hijack();
  const problem = problemOf('overloaded', context, {
    path: pathOf(request),
    requestId: request.id,
    publicUrl,
  });
  const body = request.method === 'HEAD' ? '' : JSON.stringify(problem);
  reply.raw.writeHead(ERRORS.overloaded.status, {
    'content-type': PROBLEM_TYPE,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'retry-after': String(context.retryAfterSeconds ?? RETRY_AFTER_SECONDS),
    'x-request-id': request.id,
    'x-content-type-options': 'nosniff',
    vary: VARY,
    'access-control-allow-origin': '*',
    'access-control-expose-headers': EXPOSED,
    ...(reason === 'connections' ? { connection: 'close' } : {}),
  });
  reply.raw.end(body);
}

/** How often the loop’s clock ticks: more often than it may be late, and rarely enough for a process that no caller asks. */
const LOOP_TICK_MS = 100;
/** A turn of the loop takes milliseconds. A request that the loop reaches later than this, within a tick, has waited that long unread. */
const LOOP_LATE_MAX_MS = 500;
/** One long turn is a pause of the machine, a large answer, the start of the process. Turn after turn for so long is overload. */
const LOOP_LATE_FOR_MS = 2_000;

/**
 * For how long this turn of the event loop has lasted, milliseconds: a tick is due every `LOOP_TICK_MS`, and while it is overdue the loop
 * has been at the same turn. A request that is read in this turn was there when it began, so it has waited for as long. 0 while the
 * turns of the last `LOOP_LATE_FOR_MS` were not all too long.
 */
function watchLoop(app: FastifyInstance): () => number {
  let dueMs = performance.now() + LOOP_TICK_MS;
  /** When a tick was last on time. */
  let onTimeMs = performance.now();
  let isLate = false;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    if (nowMs - dueMs <= LOOP_LATE_MAX_MS) onTimeMs = nowMs;
    dueMs = nowMs + LOOP_TICK_MS;
    isLate = nowMs - onTimeMs > LOOP_LATE_FOR_MS;
  }, LOOP_TICK_MS).unref();
  app.addHook('onClose', async () => clearInterval(timer));
  return () => (isLate ? performance.now() - dueMs : 0);
}

/**
 * Bounds how many connections are open at once. One beyond the cap is not dropped: its first request is read and answered with 503
 * and `Retry-After` (installLoadShedding), and the connection is closed. One that sends no request gets the same answer after
 * `REFUSED_MAX_MS`. Beyond the room for such answers the system closes connections without an answer.
 */
export interface ConnectionCap {
  /** Whether the connection was opened beyond the cap. Asked by a request that arrived over it, which is answered from now on. */
  isBeyond(socket: Socket): boolean;
}

/** How long a connection beyond the cap has to send the head of a request. */
const REFUSED_MAX_MS = 2_000;
/** Connections that are being refused at the same time. */
const REFUSED_AT_ONCE_MAX = 256;
const LOG_INTERVAL_MS = 60_000;

export interface CapOptions {
  /** Of the configuration: connections that are served at once. */
  readonly maxConnections: number;
  readonly log: Log;
  /** Answers a connection that sent no request, and closes it. */
  refuse(socket: Socket): void;
}

/** `server` is the one that listens. Where the host is `localhost`, Fastify adds a second one for the other loopback address, which has no cap. */
export function capConnections(server: Server, { maxConnections, log, refuse }: CapOptions): ConnectionCap {
  const beyond = new WeakMap<Socket, NodeJS.Timeout>();
  let open = 0;
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  server.maxConnections = maxConnections + REFUSED_AT_ONCE_MAX;
  server.on('connection', (socket) => {
    open += 1;
    const waiting =
      open > maxConnections ? setTimeout(() => refuse(socket), REFUSED_MAX_MS).unref() : undefined;
    socket.once('close', () => {
      open -= 1;
      clearTimeout(waiting);
    });
    if (waiting === undefined) return;
    beyond.set(socket, waiting);
    if (performance.now() - loggedAtMs < LOG_INTERVAL_MS) return;
    loggedAtMs = performance.now();
    log.warn({ open, maxConnections }, 'connections are refused: http.maxConnections are open');
  });
  return {
    isBeyond(socket) {
      const waiting = beyond.get(socket);
      clearTimeout(waiting);
      return waiting !== undefined;
    },
  };
}
