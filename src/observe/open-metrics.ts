import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import type { Meter } from '../../core/meter.ts';
import { listenForScrapes } from './metrics-listener.ts';
import { createPrometheusMeter } from './prometheus-meter.ts';

/** What a process says about itself, and where. */
export interface OpenMetrics {
  /** Null where nobody can ask: then nothing is counted, and nothing is wrapped to be counted. */
  readonly meter: Meter | null;
  /** Where it is served; null where it is not. */
  readonly url: string | null;
  close(): Promise<void>;
}

const OFF: OpenMetrics = { meter: null, url: null, close: () => Promise.resolve() };

/**
 * Opens the listener of `metrics.port`, when there is one. `offset` is added to the port: the workers of role `all` are a process
 * of their own beside the one with the API. A port that cannot be had is logged and costs the metrics, never the service.
 */
export async function openMetrics(deps: {
  readonly config: Pick<Config, 'metrics'>;
  readonly role: string;
  readonly version: string;
  readonly offset?: number;
  readonly log: Log;
}): Promise<OpenMetrics> {
  const { host, port } = deps.config.metrics;
  if (port === null) return OFF;
  const meter = createPrometheusMeter({ version: deps.version, role: deps.role });
  const wanted = port === 0 ? 0 : port + (deps.offset ?? 0);
  try {
    const { url, close } = await listenForScrapes(meter, { host, port: wanted });
    deps.log.info({ url, role: deps.role }, 'metrics');
    return { meter, url, close };
  } catch (error) {
    deps.log.error({ err: error, port: wanted }, 'metrics cannot be served');
    return OFF;
  }
}
