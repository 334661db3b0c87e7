import { Type } from '@sinclair/typebox';

export const MetricsSchema = Type.Object(
  {
    host: Type.String({
      default: '127.0.0.1',
      description: 'Address on which `/metrics` is served. Never the public one: figures are for operators.',
    }),
    port: Type.Union([Type.Integer({ minimum: 0, maximum: 65534 }), Type.Null()], {
      default: null,
      description:
        'Port of `/metrics` (9464 is usual). Role `all` takes the next one too, for its workers, which are a process of their own. 0 picks free ones; null serves none.',
    }),
  },
  { default: {}, additionalProperties: false },
);

export const TracingSchema = Type.Object(
  {
    endpoint: Type.Union([Type.String({ pattern: '^https?://' }), Type.Null()], {
      default: null,
      description:
        'Where spans go: the base URL of an OTLP/HTTP receiver, without `/v1/traces`. Null: no traces, and nothing of their library is loaded.',
    }),
    sampleRatio: Type.Number({
      default: 1,
      minimum: 0,
      maximum: 1,
      description: 'Share of the requests that are traced; one that comes with a `traceparent` follows that.',
    }),
  },
  { default: {}, additionalProperties: false },
);
