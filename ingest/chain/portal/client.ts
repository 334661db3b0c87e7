import type { Readable } from 'node:stream';
import { Agent, type Dispatcher, request } from 'undici';
import { BodyTooLarge, boundedChunks, readBounded } from '../../../core/bounded-body.ts';
import type { Hash } from '../../../core/domain/account.ts';
import { providerName } from '../../../core/log.ts';
import { hash, list, record } from '../read-answers.ts';
import { failureOfStatus, ProviderContradiction, RpcFailure } from '../rpc/failure.ts';
import type { RateLimit } from '../rpc/limits.ts';
import { authorizationOf, decompressed, only, withoutCredentials } from '../rpc/post-json.ts';
import { naturalOf } from './read-line.ts';

/** Every limit of the Portal source. Only tests should change them. */
export interface PortalLimits {
  /** Without a byte of an answer. */
  readonly silenceMaxMs: number;
  /** First pause after a failure; doubles per failure in a row, with jitter. */
  readonly backOffFirstMs: number;
  readonly backOffMaxMs: number;
  /** A longer Retry-After ends the read: its caller has something better to do. */
  readonly retryAfterMaxMs: number;
  /** Failures in a row, without a block between them, after which a read is given up. */
  readonly failuresMax: number;
  /** One block. A block of Base has about a megabyte of logs. */
  readonly lineBytesMax: number;
  /** One answer, decompressed: more than a window of logs ever has. */
  readonly answerBytesMax: number;
}

export const PORTAL_LIMITS: PortalLimits = {
  silenceMaxMs: 30_000,
  backOffFirstMs: 250,
  backOffMaxMs: 15_000,
  retryAfterMaxMs: 15_000,
  failuresMax: 4,
  lineBytesMax: 64 * 1024 * 1024,
  answerBytesMax: 256 * 1024 * 1024,
};

/** The block before the first one that was asked for is another one now. `ancestors` are of the present chain, the newest first. */
export class PortalFork extends Error {
  readonly ancestors: readonly { readonly number: number; readonly hash: Hash }[];

  constructor(ancestors: PortalFork['ancestors']) {
    super('the chain has another block before the first one asked for');
    this.name = 'PortalFork';
    this.ancestors = ancestors;
  }
}

/** How long requests of one read waited for their turn. */
export interface Waiting {
  waitedMs: number;
}

/** One data set of a Portal: sends requests at the permitted rate. Throws `RpcFailure`, `ProviderContradiction` and `PortalFork`. */
export interface PortalClient {
  /** Host of the URL, the only part that may appear in logs, metrics and errors. */
  readonly name: string;
  get(path: string, waiting: Waiting): Promise<unknown>;
  /** Calls back with the JSON of each line, one block each. `above-head`: the first block does not exist yet. */
  stream(
    path: string,
    query: object,
    options: { readonly onLine: (line: unknown) => void; readonly waiting: Waiting },
  ): Promise<'ended' | 'above-head'>;
  /** The newest final block that an answer named; −1 before the first. */
  finalizedSeen(): number;
  sawFinalized(number: number): void;
  calls(): number;
}

const SMALL_ANSWER_BYTES_MAX = 1024 * 1024;
const IDLE_SOCKET_MS = 4_000;

export function createPortalClient(
  url: string,
  options: {
    readonly limits: PortalLimits;
    readonly rate: RateLimit;
    readonly signal: AbortSignal | undefined;
    /** After each exchange, with its `performance.now()` at the start. */
    readonly onExchange?: ((provider: string, calls: number, startedMs: number) => void) | undefined;
  },
): PortalClient {
  const { limits, rate, signal } = options;
  const target = new URL(url);
  const name = providerName(url);
  const dispatcher = new Agent({
    keepAliveTimeout: IDLE_SOCKET_MS,
    keepAliveMaxTimeout: IDLE_SOCKET_MS,
    headersTimeout: limits.silenceMaxMs,
    bodyTimeout: limits.silenceMaxMs,
  });
  let finalizedSeen = -1;
  let calls = 0;
  const sawFinalized = (number: number): void => {
    if (Number.isSafeInteger(number)) finalizedSeen = Math.max(finalizedSeen, number);
  };
  /** One exchange, whose body `use` reads to its end. */
  const exchange = async <T>(
    path: string,
    query: object | null,
    waiting: Waiting,
    use: (response: Dispatcher.ResponseData, body: Readable) => Promise<T>,
  ): Promise<T> => {
    const askedMs = performance.now();
    await rate.take(1, signal);
    const startedMs = performance.now();
    waiting.waitedMs += startedMs - askedMs;
    calls++;
    try {
      const response = await request(datasetUrl(target, path), {
        dispatcher,
        method: query === null ? 'GET' : 'POST',
        signal: signal ?? null,
        headers: {
          accept: query === null ? 'application/json' : 'application/jsonl',
          'accept-encoding': 'gzip',
          ...(query !== null && { 'content-type': 'application/json' }),
          ...authorizationOf(target),
        },
        body: query === null ? null : JSON.stringify(query),
      });
      const finalized = Number(only(response.headers['x-sqd-finalized-head-number']) ?? -1);
      sawFinalized(finalized);
      return await use(response, decompressed(response.body, only(response.headers['content-encoding'])));
    } catch (error) {
      signal?.throwIfAborted();
      throw failureOf(error);
    } finally {
      options.onExchange?.(name, 1, startedMs);
    }
  };
  return {
    name,
    get: (path, waiting) =>
      exchange(path, null, waiting, async (response, body) => {
        if (response.statusCode !== 200) throw await refusalOf(response, body);
        return JSON.parse((await readBounded(body, SMALL_ANSWER_BYTES_MAX)).toString('utf8'));
      }),
    stream: (path, query, { onLine, waiting }) =>
      exchange(path, query, waiting, async (response, body) => {
        if (response.statusCode === 204) {
          await readBounded(body, SMALL_ANSWER_BYTES_MAX);
          return 'above-head';
        }
        if (response.statusCode !== 200) throw await refusalOf(response, body);
        for await (const line of linesOf(boundedChunks(body, limits.answerBytesMax), limits.lineBytesMax))
          onLine(JSON.parse(line));
        return 'ended';
      }),
    finalizedSeen: () => finalizedSeen,
    sawFinalized,
    calls: () => calls,
  };
}

function datasetUrl(target: URL, path: string): URL {
  const url = withoutCredentials(target);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${path}`;
  return url;
}

const NEWLINE = 0x0a;

/** Each line that is not empty; the last one needs no end. Throws `RpcFailure` for one that is too long. */
export async function* linesOf(
  chunks: AsyncIterable<Uint8Array>,
  lineBytesMax: number,
): AsyncGenerator<string> {
  let open: Uint8Array[] = [];
  let openBytes = 0;
  const keep = (part: Uint8Array): void => {
    openBytes += part.length;
    if (openBytes > lineBytesMax)
      throw new RpcFailure('too-large', `a line is longer than ${lineBytesMax} bytes`);
    open.push(part);
  };
  const close = (): string => {
    const line = Buffer.concat(open).toString('utf8');
    open = [];
    openBytes = 0;
    return line.trim();
  };
  for await (const chunk of chunks) {
    let at = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, at)) {
      keep(chunk.subarray(at, end));
      const line = close();
      if (line !== '') yield line;
      at = end + 1;
    }
    if (at < chunk.length) keep(chunk.subarray(at));
  }
  const last = close();
  if (last !== '') yield last;
}

/** Codes of the protocol for requests that are refused for good. */
const REFUSAL_CODES = ['malformed_request', 'unknown_dataset', 'not_found'] as const;

/** What an answer without blocks means. Its message is not stable and may hold anything: only the code is told. */
async function refusalOf({ statusCode, headers }: Dispatcher.ResponseData, body: Readable): Promise<Error> {
  const answer = record(
    parseOrEmpty((await readBounded(body, SMALL_ANSWER_BYTES_MAX)).toString('utf8')),
    'error',
  );
  if (statusCode === 409) return new PortalFork(ancestorsOf(answer));
  if (statusCode === 429 || statusCode >= 500)
    return failureOfStatus(statusCode, only(headers['retry-after']) ?? null);
  const error = answer['error'];
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
  const known = REFUSAL_CODES.find((one) => one === code) ?? 'unknown code';
  return new RpcFailure('refused', `HTTP status ${statusCode} (${known})`);
}

function parseOrEmpty(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {}; // a proxy's error page: only the status is useful
  }
}

/** The protocol is documented with both orders. */
function ancestorsOf(answer: Record<string, unknown>): PortalFork['ancestors'] {
  return list(answer['previousBlocks'], 'previousBlocks')
    .map((entry) => record(entry, 'previous block'))
    .map((block) => ({
      number: naturalOf(block['number'], 'number of a previous block'),
      hash: hash(block['hash'], 'hash of a previous block'),
    }))
    .sort((a, b) => b.number - a.number);
}

/** Only names and our own errors decide: messages of HTTP clients contain the URL. */
function failureOf(error: unknown): Error {
  if (error instanceof RpcFailure || error instanceof ProviderContradiction || error instanceof PortalFork)
    return error;
  if (error instanceof BodyTooLarge) return new RpcFailure('too-large', error.message);
  if (error instanceof SyntaxError) return new RpcFailure('unreadable', 'a line is not whole JSON');
  const name = error instanceof Error ? error.name : '';
  if (name === 'HeadersTimeoutError' || name === 'BodyTimeoutError' || name === 'ConnectTimeoutError')
    return new RpcFailure('timeout', 'no answer in time');
  return new RpcFailure('unavailable', 'the connection failed');
}
