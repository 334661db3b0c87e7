import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import { isMissingPackage, MissingPackage } from '../../core/missing-package.ts';
import type { Tracer } from '../../core/tracer.ts';

/**
 * The tracer of the configuration; null where no traces are sent, and then its library is not loaded. Rejects with `MissingPackage` where
 * traces are to be sent and the packages for it are not installed.
 */
export async function openTracing(deps: {
  readonly config: Pick<Config, 'tracing'>;
  readonly role: string;
  readonly version: string;
  readonly log: Log;
}): Promise<Tracer | null> {
  const { config, role, version, log } = deps;
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
