import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { asListenProblem } from '../../core/config/problem.ts';
import type { PrometheusMeter } from './prometheus-meter.ts';

/** Where a process shows its metrics: on a listener of its own, apart from the public one. */
export interface MetricsListener {
  readonly url: string;
  close(): Promise<void>;
}

const REQUEST_MAX_MS = 10_000;

/** Serves GET `/metrics` and nothing else. Rejects where the address cannot be listened on. */
export async function listenForScrapes(
  meter: Pick<PrometheusMeter, 'text' | 'contentType'>,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<MetricsListener> {
  const server = createServer({ requestTimeout: REQUEST_MAX_MS }, (request, response) => {
    const [path] = (request.url ?? '').split('?', 1);
    if (path !== '/metrics') return void response.writeHead(404).end();
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
    meter.text().then(
      (text) => response.writeHead(200, { 'content-type': meter.contentType }).end(text),
      () => response.writeHead(500).end(), // a fault of the library: an empty scrape would read as a healthy one
    );
  });
  await listening(server, host, port);
  const { port: taken } = server.address() as AddressInfo; // it listens on a port, not on a path
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const SETTINGS = { hostSetting: 'metrics.host (METRICS_HOST)', portSetting: 'metrics.port (METRICS_PORT)' };

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const refuse = (error: unknown): void => reject(asListenProblem(error, { host, port, ...SETTINGS }));
    server.once('error', refuse);
    server.listen({ host, port }, () => {
      server.off('error', refuse);
      // A process that has nothing else to do may end: scrapes do not keep it alive.
      server.unref();
      resolve();
    });
  });
}
