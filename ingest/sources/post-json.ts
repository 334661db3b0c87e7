import {
  type ClientRequest,
  Agent as HttpAgent,
  type IncomingMessage,
  type RequestOptions,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { pipeline, type Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { RpcFailure } from './rpc-failure.ts';

/**
 * Posts JSON over Node's own HTTP client. With `fetch` each piece of an answer passes through a web stream, which takes two to
 * three times the processor time for answers of megabytes, and backfill is bound by that time.
 */
export interface JsonPoster {
  /** The whole exchange, body included; rejects with `RpcFailure` ('too-large') or the client's own error. */
  post(json: string, signal: AbortSignal): Promise<PostedAnswer>;
}

export interface PostedAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly text: string;
}

/** Shorter than the idle time-outs of servers and proxies, so that hardly a request meets a connection that is being closed. */
const IDLE_SOCKET_MS = 4_000;
const REDIRECTS_MAX = 3;
/** Larger answers are rare, and get a buffer of their own. */
const SCRATCH_MAX_BYTES = 16 * 1024 * 1024;
/** The redirects that keep method and body (RFC 9110 15.4). */
const REDIRECTS: ReadonlySet<number | undefined> = new Set([307, 308]);

export function createJsonPoster(url: string, maxBytes: number): JsonPoster {
  const agents = {
    http: new HttpAgent({ keepAlive: true, timeout: IDLE_SOCKET_MS }),
    https: new HttpsAgent({ keepAlive: true, timeout: IDLE_SOCKET_MS }),
  };
  const send = (target: URL, body: Buffer, signal: AbortSignal): Promise<IncomingMessage> => {
    const options: RequestOptions = {
      method: 'POST',
      signal,
      headers: {
        'content-type': 'application/json',
        'content-length': body.length,
        accept: 'application/json',
        'accept-encoding': 'gzip, deflate, br',
      },
    };
    const request =
      target.protocol === 'https:'
        ? requestHttps(target, { ...options, agent: agents.https })
        : requestHttp(target, { ...options, agent: agents.http });
    return responseOf(request, body);
  };
  return {
    async post(json, signal) {
      const body = Buffer.from(json);
      let target = new URL(url);
      let response = await send(target, body, signal);
      for (let hops = 0; hops < REDIRECTS_MAX && REDIRECTS.has(response.statusCode); hops++) {
        response.resume();
        target = new URL(response.headers.location ?? '', target);
        response = await send(target, body, signal);
      }
      return {
        status: response.statusCode ?? 0,
        retryAfter: response.headers['retry-after'] ?? null,
        text: await readText(decompressed(response), maxBytes),
      };
    },
  };
}

function responseOf(request: ClientRequest, body: Buffer): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
    request.end(body);
  });
}

function decompressed(response: IncomingMessage): Readable {
  const ignore = (): void => undefined; // an error of either end reaches whoever reads the other
  switch (response.headers['content-encoding']) {
    case 'gzip':
    case 'x-gzip':
      return pipeline(response, createGunzip(), ignore);
    case 'deflate':
      return pipeline(response, createInflate(), ignore);
    case 'br':
      return pipeline(response, createBrotliDecompress(), ignore);
    default:
      return response;
  }
}

async function readText(stream: Readable, maxBytes: number): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  stream.on('data', (piece: Buffer) => {
    size += piece.length;
    if (size > maxBytes) stream.destroy(new RpcFailure('too-large', 'the answer is too large'));
    else pieces.push(piece);
  });
  await finished(stream);
  return decodeWhole(pieces, size);
}

/**
 * Where the pieces of an answer are put together. Kept, because each large allocation outside the heap brings a full garbage
 * collection nearer. Shared, because nothing can interrupt between the copying and the decoding.
 */
let scratch = Buffer.alloc(0);

function decodeWhole(pieces: readonly Buffer[], size: number): string {
  if (scratch.length < size && size <= SCRATCH_MAX_BYTES)
    scratch = Buffer.allocUnsafeSlow(Math.min(2 * size, SCRATCH_MAX_BYTES));
  const whole = size <= scratch.length ? scratch.subarray(0, size) : Buffer.allocUnsafeSlow(size);
  let at = 0;
  for (const piece of pieces) at += piece.copy(whole, at);
  return whole.toString('utf8');
}
