import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Log } from '../../core/log.ts';

/**
 * Bounds how many connections are open at once. One beyond the cap is not dropped: its first request is read and answered with 503
 * and `Retry-After` (shed-load.ts), and the connection is closed. One that sends no request gets the same answer after
 * `REFUSED_MAX_MS`. Beyond the room for such answers the system closes connections without a word.
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
