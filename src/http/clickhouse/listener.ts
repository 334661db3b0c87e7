import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { asListenProblem } from '../../../core/config/problem.ts';
import { answerClientError, type SocketAnswerOptions } from '../failures.ts';
import { RECEIVE_CHECKS_MAX_MS, RECEIVE_MAX_MS, SENT_AHEAD_BYTES } from '../server.ts';
import { CLICKHOUSE_PATH } from './route.ts';

/**
 * The interface at the root of a port of its own, because many tools take a host and a port but no path. Its requests pass the same hooks
 * and routes as those below `/clickhouse` of the API's port; nothing else is served there.
 */
export interface ClickhouseListener {
  readonly url: string;
  /** Resolves when the answers under way have left. */
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly maxConnections: number;
  readonly keepAliveMs: number;
  readonly socketAnswers: SocketAnswerOptions;
}

/** `app` must be ready. */
export async function listenForClickhouse(
  app: FastifyInstance,
  { host, port, maxConnections, keepAliveMs, socketAnswers }: ListenOptions,
): Promise<ClickhouseListener> {
  const server = createServer(
    {
      highWaterMark: SENT_AHEAD_BYTES,
      headersTimeout: RECEIVE_MAX_MS,
      requestTimeout: RECEIVE_MAX_MS,
      connectionsCheckingInterval: RECEIVE_CHECKS_MAX_MS,
      keepAliveTimeout: keepAliveMs,
    },
    (request, response) => {
      request.url = pathOfApp(request.url ?? '/');
      app.routing(request, response);
    },
  );
  server.maxConnections = maxConnections;
  server.on('clientError', (error, socket) => answerClientError(error, socket as Socket, socketAnswers)); // of plain HTTP
  server.listen({ host, port });
  await once(server, 'listening').catch((error: unknown) => {
    throw asListenProblem(error, {
      host,
      port,
      hostSetting: 'clickhouseInterface.host (CLICKHOUSE_INTERFACE_HOST)',
      portSetting: 'clickhouseInterface.port (CLICKHOUSE_INTERFACE_PORT)',
    });
  });
  const address = server.address() as AddressInfo; // of a server that listens on a port
  return {
    url: `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      await closed;
    },
  };
}

/** Every path is below the interface's own: no other route can be reached over this port. */
function pathOfApp(url: string): string {
  return url.startsWith('/') ? `${CLICKHOUSE_PATH}${url}` : `${CLICKHOUSE_PATH}/${url}`;
}
