import type { EngineAccess, Guest, Reader, Writer } from '../../clickhouse/engine/engine.ts';
import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import type { Meter } from '../../core/meter.ts';
import type { Tracer } from '../../core/tracer.ts';
import { meteredEngine } from './metered-engine.ts';
import { openMetrics } from './open-metrics.ts';
import { openTracing } from './open-tracing.ts';
import { tracedAccess, tracedEngine } from './traced-engine.ts';

/**
 * Metrics and traces of one process, put around its ports from outside: the parts themselves know of neither. What is switched off is
 * not there at all, and costs nothing.
 */
export interface Observation {
  readonly meter: Meter | null;
  readonly tracer: Tracer | null;
  /** Where metrics are served; null where they are not. */
  readonly metricsUrl: string | null;
  access(access: EngineAccess): EngineAccess;
  engine<Port extends Reader | Writer | Guest>(port: Port, user: 'reader' | 'writer' | 'guest'): Port;
  close(): Promise<void>;
}

/** Port of the workers of role `all`, above that of the process with the API. */
export const WORKER_PORT_OFFSET = 1;

/**
 * Opens what the configuration asks for. `role` names the process: `api`, `ingest`, `rollup`, `all`, `worker`. Rejects with `MissingPackage`
 * where traces are to be sent and cannot be.
 */
export async function openObservation(deps: {
  readonly config: Pick<Config, 'metrics' | 'tracing'>;
  readonly role: string;
  readonly version: string;
  readonly portOffset?: number;
  readonly log: Log;
}): Promise<Observation> {
  const { config, role, version, log, portOffset: offset = 0 } = deps;
  const metrics = await openMetrics({ config, role, version, offset, log });
  const tracer = await openTracing({ config, role, version, log });
  const { meter } = metrics;
  return {
    meter,
    tracer,
    metricsUrl: metrics.url,
    access: (access) => (tracer === null ? access : tracedAccess(access, tracer)),
    engine(port, user) {
      const counted = meter === null ? port : meteredEngine(port, user, meter);
      return tracer === null ? counted : tracedEngine(counted, user, tracer);
    },
    async close() {
      await Promise.all([metrics.close(), tracer?.close()]);
    },
  };
}
