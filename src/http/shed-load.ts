import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { type FailureContext, fail } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';

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

export interface SheddingOptions {
  readonly atOnceMax?: number;
  /** Absent where connections are not capped. */
  readonly cap?: ConnectionCap;
}

/**
 * Refuses with `overloaded`, before anything is read or counted, each request that arrives while `atOnceMax` others are not answered
 * yet or over a connection beyond the cap.
 */
export function installLoadShedding(
  app: FastifyInstance,
  { atOnceMax = REQUESTS_AT_ONCE_MAX, cap }: SheddingOptions = {},
): void {
  let underWay = 0;
  app.addHook('onRequest', (request, reply, done) => {
    const isBeyondCap = cap?.isBeyond(request.raw.socket) ?? false;
    if (isBeyondCap) reply.header('connection', 'close');
    if ((isBeyondCap || underWay >= atOnceMax) && !ALWAYS_ANSWERED.has(request.routeOptions.url ?? ''))
      return done(fail('overloaded', isBeyondCap ? CONNECTIONS_FULL : REQUESTS_FULL));
    underWay += 1;
    // Of every answer, complete or not, exactly once.
    reply.raw.once('close', () => {
      underWay -= 1;
    });
    done();
  });
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
