import { Agent, request } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';

/** A request over a real connection, as it was written: no client corrects it. */

export interface SentRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Latin-1; null without a body. */
  readonly body: string | null;
}

export interface FuzzAnswer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decompressed. */
  readonly body: Buffer;
}

export interface Connection {
  send(sent: SentRequest): Promise<FuzzAnswer>;
  close(): void;
}

const ANSWER_MAX_MS = 30_000;

export function connectTo(port: number): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return {
    send: async (sent) => {
      const answer = await exchange(sent, { agent, port });
      return { ...answer, body: await decompressed(answer) };
    },
    close: () => agent.destroy(),
  };
}

function exchange(
  { method, target, headers, body }: SentRequest,
  to: { readonly agent: Agent; readonly port: number },
): Promise<FuzzAnswer> {
  const bytes = body === null ? undefined : Buffer.from(body, 'latin1');
  const length = bytes === undefined ? {} : { 'content-length': String(bytes.length) };
  return new Promise((resolve, reject) => {
    const outgoing = request({
      ...to,
      host: '127.0.0.1',
      method,
      path: target,
      headers: { ...headers, ...length },
    });
    outgoing.setTimeout(ANSWER_MAX_MS, () => outgoing.destroy(new Error('no answer came')));
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: joined(response.headers),
          body: Buffer.concat(chunks),
        }),
      );
    });
    outgoing.end(bytes);
  });
}

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

async function decompressed({ headers, body }: FuzzAnswer): Promise<Buffer> {
  if (body.length === 0) return body;
  switch (headers['content-encoding']) {
    case 'gzip':
      return promisify(gunzip)(body);
    case 'br':
      return promisify(brotliDecompress)(body);
    default:
      return body;
  }
}
