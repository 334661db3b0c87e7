import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import { EngineError } from '../../clickhouse/engine/engine.ts';
import { Failure } from '../../core/errors.ts';
import type { Log } from '../../core/log.ts';
import type { OpenSpan, RequestSpan, SpanFacts, Tracer } from '../../core/meter.ts';

/**
 * The tracer over OpenTelemetry, sent as OTLP over HTTP. Nothing of it is registered globally: two services in one process, as tests
 * have them, keep their spans apart.
 */

const EXPORT_TIMEOUT_MS = 5_000;
const BATCH_EVERY_MS = 1_000;
/** Beyond it spans are dropped: a receiver that is away must not fill our memory. */
const QUEUE_MAX = 4_096;

const TEXTS = {
  get: (carrier: Readonly<Record<string, unknown>>, key: string): string | undefined => {
    const value = carrier[key];
    return typeof value === 'string' ? value : undefined;
  },
  keys: (carrier: Readonly<Record<string, unknown>>): string[] => Object.keys(carrier),
};
const INTO = {
  set: (carrier: Record<string, string>, key: string, value: string): void => {
    carrier[key] = value;
  },
};

export function createOtelTracer(options: {
  /** Base URL of the receiver; may hold credentials: never logged. */
  readonly endpoint: string;
  readonly sampleRatio: number;
  readonly version: string;
  readonly role: string;
  readonly log: Log;
}): Tracer {
  const provider = openProvider(options);
  const tracer = provider.getTracer('settlement-index', options.version);
  const contexts = new AsyncLocalStorageContextManager().enable();
  const propagator = new W3CTraceContextPropagator();
  return {
    span(name, facts, work) {
      const above = contexts.active();
      const span = tracer.startSpan(name, { attributes: { ...facts } }, above);
      return contexts.with(trace.setSpan(above, span), () => finished(span, work));
    },
    request(name, facts, headers) {
      const above = propagator.extract(ROOT_CONTEXT, headers, TEXTS);
      const span = tracer.startSpan(name, { kind: SpanKind.SERVER, attributes: { ...facts } }, above);
      return requestSpan(span, trace.setSpan(above, span), contexts);
    },
    headers() {
      const carrier: Record<string, string> = {};
      propagator.inject(contexts.active(), carrier, INTO);
      return carrier;
    },
    async close() {
      contexts.disable();
      await provider.shutdown().catch((error: unknown) => {
        options.log.warn({ reason: nameOf(error) }, 'the last traces could not be sent');
      });
    },
  };
}

function openProvider({
  endpoint,
  sampleRatio,
  version,
  role,
}: Parameters<typeof createOtelTracer>[0]): TracerProvider {
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/(?<!\/)\/+$/, '')}/v1/traces`,
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  return new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'settlement-index',
      'service.version': version,
      'service.instance.role': role,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: QUEUE_MAX,
        scheduledDelayMillis: BATCH_EVERY_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
}

async function finished<T>(span: Span, work: (span: OpenSpan) => Promise<T>): Promise<T> {
  try {
    return await work({ tell: (facts) => void span.setAttributes(attributesOf(facts)) });
  } catch (error) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: nameOf(error) });
    throw error;
  } finally {
    span.end();
  }
}

function requestSpan(span: Span, below: Context, contexts: AsyncLocalStorageContextManager): RequestSpan {
  return {
    tell: (facts) => void span.setAttributes(attributesOf(facts)),
    within: (work) => contexts.with(below, work),
    end(failed) {
      if (failed) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function attributesOf(facts: SpanFacts): Attributes {
  return { ...facts };
}

/** Our codes, or the name of the error; its message may hold what callers wrote. */
function nameOf(error: unknown): string {
  if (error instanceof Failure) return error.code;
  if (error instanceof EngineError) return error.problem;
  return error instanceof Error ? error.name : 'unknown';
}
