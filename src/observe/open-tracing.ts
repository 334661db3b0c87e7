import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import type { Tracer } from '../../core/tracer.ts';

/** The tracer of the configuration; null where no traces are sent, and then its library is not even loaded. */
export async function openTracing(deps: {
  readonly config: Pick<Config, 'tracing'>;
  readonly role: string;
  readonly version: string;
  readonly log: Log;
}): Promise<Tracer | null> {
  const { config, role, version, log } = deps;
  const { endpoint, sampleRatio } = config.tracing;
  if (endpoint === null) return null;
  const { createOtelTracer } = await import('./otel-tracer.ts');
  log.info({ role, sampleRatio }, 'traces are sent');
  return createOtelTracer({ endpoint, sampleRatio, version, role, log });
}
