import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A receiver of traces: OTLP over HTTP, JSON, on loopback. */
export interface OtlpReceiver {
  readonly url: string;
  readonly spans: readonly ReceivedSpan[];
  close(): Promise<void>;
}

export interface ReceivedSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  /** Every attribute, as text. */
  readonly facts: Readonly<Record<string, string>>;
}

interface OtlpBody {
  readonly resourceSpans?: readonly {
    readonly scopeSpans?: readonly { readonly spans?: readonly OtlpSpan[] }[];
  }[];
}

interface OtlpSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes?: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url !== '/v1/traces') return void response.writeHead(404).end();
      const body = JSON.parse(Buffer.concat(chunks).toString()) as OtlpBody; // what the exporter sends
      spans.push(...spansOf(body));
      response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // it listens on a port
  return {
    url: `http://127.0.0.1:${port}`,
    spans,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function spansOf({ resourceSpans = [] }: OtlpBody): ReceivedSpan[] {
  return resourceSpans
    .flatMap(({ scopeSpans = [] }) => scopeSpans)
    .flatMap(({ spans = [] }) => spans)
    .map(({ name, traceId, spanId, parentSpanId = '', attributes = [] }) => ({
      name,
      traceId,
      spanId,
      parentSpanId,
      facts: Object.fromEntries(attributes.map(({ key, value }) => [key, String(Object.values(value)[0])])),
    }));
}
