import { pipeline, type Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { Agent, type Dispatcher, request } from 'undici';
import { RpcFailure } from './failure.ts';

/**
 * Posts JSON through undici's own interface. `fetch` passes each chunk through a web stream, which takes two to three times the CPU
 * time for answers of megabytes; Node's `http` copies each chunk once more outside the heap, and every 32 MB of such copies trigger a
 * garbage collection. Backfill is bound by that time.
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

/** Shorter than the idle time-outs of servers and proxies, so that requests rarely hit a connection that is being closed. */
const IDLE_SOCKET_MS = 4_000;
const REDIRECTS_MAX = 3;
/** Larger answers are rare, and get a buffer of their own. */
const SCRATCH_MAX_BYTES = 16 * 1024 * 1024;
/** The redirects that keep method and body (RFC 9110 15.4). */
const REDIRECTS: ReadonlySet<number> = new Set([307, 308]);

export function createJsonPoster(url: string, maxBytes: number): JsonPoster {
  const dispatcher = new Agent({
    keepAliveTimeout: IDLE_SOCKET_MS,
    keepAliveMaxTimeout: IDLE_SOCKET_MS,
    // The signal bounds the time of an exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const send = (target: URL, body: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> =>
    request(withoutCredentials(target), {
      dispatcher,
      method: 'POST',
      signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'accept-encoding': 'gzip, deflate, br',
        ...authorizationOf(target),
      },
      body,
    });
  return {
    async post(json, signal) {
      let target = new URL(url);
      let response = await send(target, json, signal);
      for (let hops = 0; hops < REDIRECTS_MAX && REDIRECTS.has(response.statusCode); hops++) {
        await response.body.dump();
        target = new URL(only(response.headers['location']) ?? '', target);
        response = await send(target, json, signal);
      }
      const { statusCode, headers, body } = response;
      return {
        status: statusCode,
        retryAfter: only(headers['retry-after']) ?? null,
        text: await readText(decompressed(body, only(headers['content-encoding'])), maxBytes),
      };
    },
  };
}

export function only(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

/** Sends a URL's user and password as in RFC 7617; the client does not do so itself. */
export function authorizationOf({ username, password }: URL): Readonly<Record<string, string>> {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
}

export function withoutCredentials(url: URL): URL {
  const bare = new URL(url);
  bare.username = '';
  bare.password = '';
  return bare;
}

export function decompressed(body: Readable, encoding: string | undefined): Readable {
  const ignore = (): void => undefined; // an error of either end reaches the reader of the other
  switch (encoding) {
    case 'gzip':
    case 'x-gzip':
      return pipeline(body, createGunzip(), ignore);
    case 'deflate':
      return pipeline(body, createInflate(), ignore);
    case 'br':
      return pipeline(body, createBrotliDecompress(), ignore);
    default:
      return body;
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
 * The buffer in which chunks of an answer are joined. Reused, because large allocations outside the heap trigger full garbage
 * collections. Shared, because copying and decoding run without interruption.
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
