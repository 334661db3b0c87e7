import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EngineAccess, Guest, Reader, Writer } from '../../clickhouse/engine/engine.ts';
import type { Config } from '../../core/config/config.ts';
import { asListenProblem } from '../../core/config/problem.ts';
import type { Log } from '../../core/log.ts';
import type { Meter, Tracer } from '../../core/meter.ts';
import { isMissingPackage, MissingPackage } from '../../core/user-error.ts';
import type { Observers } from './observe.ts';
import { observedEngine } from './ports.ts';
import { createPrometheusMeter, type PrometheusMeter } from './prometheus-meter.ts';

/** Metrics and traces of one process. A part that is switched off is not loaded and costs nothing. */
export interface Observation extends Observers {
  /** Where metrics are served; null where they are not. */
  readonly metricsUrl: string | null;
  /** Sends the current span along with each statement: spans that the engine writes become its children. */
  access(access: EngineAccess): EngineAccess;
  engine<Port extends Reader | Writer | Guest>(port: Port, user: 'reader' | 'writer' | 'guest'): Port;
  close(): Promise<void>;
}

/** Port of the workers of role `all`, above that of the process with the API. */
export const WORKER_PORT_OFFSET = 1;

export interface ObservationDeps {
  readonly config: Pick<Config, 'metrics' | 'tracing'>;
  /** Names the process: `api`, `ingest`, `rollup`, `all`, `worker`. */
  readonly role: string;
  readonly version: string;
  /** Added to `metrics.port`: the workers of role `all` are a process of their own besides the one with the API. */
  readonly portOffset?: number;
  readonly log: Log;
}

/** Opens what the configuration asks for. Rejects with `MissingPackage` when traces are configured and their library is missing. */
export async function openObservation(deps: ObservationDeps): Promise<Observation> {
  const metrics = await openMetrics(deps);
  const tracer = await openTracing(deps);
  const observers = { meter: metrics.meter, tracer };
  return {
    ...observers,
    metricsUrl: metrics.url,
    access: (access) => (tracer === null ? access : { ...access, headers: () => tracer.headers() }),
    engine: (port, user) => observedEngine(port, user, observers),
    async close() {
      await Promise.all([metrics.close(), tracer?.close()]);
    },
  };
}

interface OpenMetrics {
  /** Null where no metrics are served: then nothing is counted, and nothing is wrapped to be counted. */
  readonly meter: Meter | null;
  readonly url: string | null;
  close(): Promise<void>;
}

const OFF: OpenMetrics = { meter: null, url: null, close: () => Promise.resolve() };

/** A port that cannot be listened on is logged and costs the metrics, never the service. */
async function openMetrics({
  config,
  role,
  version,
  log,
  portOffset = 0,
}: ObservationDeps): Promise<OpenMetrics> {
  const { host, port } = config.metrics;
  if (port === null) return OFF;
  const meter = createPrometheusMeter({ version, role });
  const wanted = port === 0 ? 0 : port + portOffset;
  try {
    const { url, close } = await listenForScrapes(meter, { host, port: wanted });
    log.info({ url, role }, 'metrics');
    return { meter, url, close };
  } catch (error) {
    log.error({ err: error, port: wanted }, 'metrics cannot be served');
    return OFF;
  }
}

/** Null where no traces are sent, and then their library is not loaded. */
async function openTracing({ config, role, version, log }: ObservationDeps): Promise<Tracer | null> {
  const { endpoint, sampleRatio } = config.tracing;
  if (endpoint === null) return null;
  const { createOtelTracer } = await loadTracer();
  log.info({ role, sampleRatio }, 'traces are sent');
  return createOtelTracer({ endpoint, sampleRatio, version, role, log });
}

async function loadTracer() {
  try {
    return await import('./otel-tracer.ts');
  } catch (cause) {
    if (!isMissingPackage(cause)) throw cause;
    throw new MissingPackage({
      purpose: 'Sending traces',
      packages: '@opentelemetry/*',
      otherwise: 'Or send no traces: leave tracing.endpoint (OTEL_EXPORTER_OTLP_ENDPOINT) unset.',
      cause,
    });
  }
}

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
