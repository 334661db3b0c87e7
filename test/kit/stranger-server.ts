import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { SelfSigned } from './self-signed.ts';

/** A server of a stranger, on loopback, and the requests that it saw. */
export interface StrangerServer {
  readonly port: number;
  /** `GET` lines' paths in the order of arrival; of raw servers, nothing. */
  readonly asked: string[];
  /** Connections that are open now. */
  readonly open: () => number;
  /** Connections that there ever were. */
  readonly connections: () => number;
  close(): Promise<void>;
}

export async function strangerServer(
  listener: RequestListener,
  host = '127.0.0.1',
  tls?: SelfSigned,
): Promise<StrangerServer> {
  const asked: string[] = [];
  const hear: RequestListener = (request, response) => {
    asked.push(request.url ?? '');
    listener(request, response);
  };
  const server = tls === undefined ? createServer(hear) : createTlsServer(tls, hear);
  return { asked, ...(await listen(server, host)) };
}

/** Speaks whatever it likes on the raw connection. */
export async function rawServer(
  speak: (socket: Socket) => void,
  host = '127.0.0.1',
  port = 0,
): Promise<StrangerServer> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => undefined); // callers hang up, that is the point
    socket.resume();
    speak(socket);
  });
  return { asked: [], ...(await listen(server, host, port)) };
}

async function listen(server: Server, host: string, atPort = 0): Promise<Omit<StrangerServer, 'asked'>> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(atPort, host, resolve);
  });
  const { port } = server.address() as AddressInfo; // a TCP server that listens has one
  return {
    port,
    open: () => sockets.size,
    connections: () => connections,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
