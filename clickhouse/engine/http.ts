import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { brotliDecompressSync, unzipSync } from 'node:zlib';
import { parseError } from '@clickhouse/client';
import { type Dispatcher, Pool } from 'undici';
import type { AttachedTable, EngineUser } from './engine.ts';

/**
 * Plain HTTP to the engine, for many short statements. The client library waits for a timer before each request (its `sleep(0)`,
 * over a millisecond) and builds a URL, a stream and a result set for each; Node's own client takes twice the CPU time of undici's
 * dispatcher, for answers of one row and of 40 MB alike.
 */
export interface EngineHttp {
  /** The whole answer, for statements with small answers. Resolves for every status; an abort works as in `send`. */
  ask(statement: HttpStatement, signal: AbortSignal): Promise<WholeAnswer>;
  /**
   * Resolves with the head of the answer, for every status; rejects with the error of the socket. An abort before the head closes the
   * connection, whereupon the engine ends a read-only query.
   */
  send(statement: HttpStatement, signal: AbortSignal): Promise<StreamedAnswer>;
  /** Closes all connections. */
  close(): void;
}

export interface HttpStatement {
  readonly text: string;
  /** Settings, `param_…` and the other query parameters of the HTTP interface, in the engine's wire format. */
  readonly words: Readonly<Record<string, string | number>>;
  /** A content coding for the answer; absent for none. */
  readonly acceptEncoding?: string;
  /** Data that the text reads as tables. */
  readonly attached?: readonly AttachedTable[];
}

export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface WholeAnswer extends AnswerHead {
  readonly bytes: Buffer;
}

export interface StreamedAnswer extends AnswerHead {
  /** Applies back-pressure; destroying it closes the connection. */
  readonly body: Readable;
}

/** Below the engine's own keep-alive timeout (30 s); undici respects a shorter one that the engine announces. */
const KEEP_ALIVE_MS = 10_000;
/** The engine ignores values up to 1 MiB. */
const ANSWER_IN_MEMORY_BYTES = 2 * 1024 * 1024;
/** Buffered chunks of a body, each from one read of the socket: 64 KiB at most. */
const CHUNKS_AHEAD_MAX = 4;

/** For a statement whose figures and failures must be known before the first byte of its answer. */
export const WHOLE_ANSWER = {
  wait_end_of_query: 1,
  // Smaller answers wait in memory instead of in a file.
  buffer_size: ANSWER_IN_MEMORY_BYTES,
} as const;

export function createEngineHttp(
  url: string,
  { user, password }: EngineUser,
  connectionsMax: number,
  more?: () => Readonly<Record<string, string>>,
): EngineHttp {
  const { origin, pathname } = new URL(url);
  const pool = new Pool(origin, {
    connections: connectionsMax,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The signal bounds the time of a statement, and its reader bounds the time of reading.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const headers = { authorization, 'user-agent': 'settlement-index' };
  const headersOf = (acceptEncoding: string | undefined): Readonly<Record<string, string>> =>
    acceptEncoding === undefined ? headers : { ...headers, 'accept-encoding': acceptEncoding };
  const requestOf = ({
    text,
    words,
    acceptEncoding,
    attached,
  }: HttpStatement): Dispatcher.DispatchOptions => {
    const sent = inParts(text, words, attached);
    return {
      path: `${pathname}?${new URLSearchParams(pairsOf(sent.words))}`,
      method: 'POST',
      headers: { ...headersOf(acceptEncoding), ...sent.headers, ...more?.() },
      body: sent.body,
    };
  };
  return {
    ask: (statement, signal) => wholeAnswerOf(pool, requestOf(statement), signal),
    send: (statement, signal) => streamedAnswerOf(pool, requestOf(statement), signal),
    close: () => void pool.destroy(),
  };
}

/** Values of a statement that are longer together travel in the body: servers and proxies bound the length of an address. */
const WORDS_IN_ADDRESS_MAX_CHARS = 8 * 1024;

/** A statement as a body and words of the address; with a table or long values, as a form whose parts are these and the text. */
function inParts(
  text: string,
  words: HttpStatement['words'],
  tables: readonly AttachedTable[] = [],
): {
  readonly words: HttpStatement['words'];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | string;
} {
  const values = pairsOf(words).filter(([name]) => name.startsWith('param_'));
  const chars = values.reduce((sum, [, value]) => sum + value.length, 0);
  if (tables.length === 0 && chars <= WORDS_IN_ADDRESS_MAX_CHARS) return { words, headers: {}, body: text };
  // Random, so that no bytes of a part end it.
  const boundary = randomBytes(BOUNDARY_BYTES).toString('hex');
  const part = (name: string, more = ''): string =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${more}\r\n\r\n`;
  const fields = [...values, ['query', text] as const].map(([name, value]) => `${part(name)}${value}\r\n`);
  const files = tables.flatMap(({ name, bytes }) => [part(name, `; filename="${name}"`), bytes, '\r\n']);
  const forms = tables.flatMap(({ name, format, structure }) => [
    [`${name}_format`, format],
    [`${name}_structure`, structure],
  ]);
  return {
    words: {
      ...Object.fromEntries(Object.entries(words).filter(([name]) => !name.startsWith('param_'))),
      ...Object.fromEntries(forms),
    },
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([...fields, ...files, `--${boundary}--\r\n`].map((one) => Buffer.from(one))),
  };
}

const BOUNDARY_BYTES = 24;

function pairsOf(words: HttpStatement['words']): [string, string][] {
  return Object.entries(words).map(([name, value]) => [name, String(value)]);
}

function wholeAnswerOf(
  pool: Pool,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<WholeAnswer> {
  return new Promise((resolve, reject) => {
    const patience = patienceUntil(signal, reject);
    const chunks: Buffer[] = [];
    let head: AnswerHead | undefined;
    pool.dispatch(request, {
      onRequestStart: patience.begin,
      onResponseStart(_controller, status, headers) {
        head = { status, headers };
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk);
      },
      onResponseEnd() {
        patience.end();
        if (head === undefined) reject(new Error('an answer without a head'));
        else resolve({ ...head, bytes: Buffer.concat(chunks) });
      },
      onResponseError(_controller, error) {
        patience.end();
        reject(error);
      },
    });
  });
}

function streamedAnswerOf(
  pool: Pool,
  request: Dispatcher.DispatchOptions,
  signal: AbortSignal,
): Promise<StreamedAnswer> {
  return new Promise((resolve, reject) => {
    const patience = patienceUntil(signal, reject);
    let body: AnswerBody | undefined;
    pool.dispatch(request, {
      onRequestStart: patience.begin,
      onResponseStart(controller, status, headers) {
        patience.end();
        body = new AnswerBody(controller);
        resolve({ status, headers, body });
      },
      onResponseData(controller, chunk) {
        // After a pause undici resumes with its buffer, which can be empty.
        if (chunk.length > 0 && body?.push(chunk) === false) controller.pause();
      },
      onResponseEnd: () => body?.complete(),
      onResponseError(_controller, error) {
        patience.end();
        body?.destroy(error);
        reject(error);
      },
    });
  });
}

/** Waits for an answer until the signal aborts; then rejects at once and closes the connection. */
function patienceUntil(
  signal: AbortSignal,
  reject: (error: Error) => void,
): { begin(controller: Dispatcher.DispatchController): void; end(): void } {
  let controller: Dispatcher.DispatchController | undefined;
  const stop = (): void => {
    const error = new Error('the query was given up');
    reject(error);
    controller?.abort(error);
  };
  signal.addEventListener('abort', stop, { once: true });
  return {
    begin(started) {
      controller = started;
      // The signal may have aborted while the request waited for a connection.
      if (signal.aborted) stop();
    },
    end: () => signal.removeEventListener('abort', stop),
  };
}

/** Passes chunks on as they arrive: a byte stream would join and copy the buffered ones. */
class AnswerBody extends Readable {
  private readonly controller: Dispatcher.DispatchController;
  private isComplete = false;

  constructor(controller: Dispatcher.DispatchController) {
    super({ objectMode: true, highWaterMark: CHUNKS_AHEAD_MAX });
    this.controller = controller;
    // Prevents an uncaught error if it fails before a reader is attached; later readers still get the error.
    this.on('error', () => undefined);
  }

  complete(): void {
    this.isComplete = true;
    this.push(null);
  }

  override _read(): void {
    this.controller.resume();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.isComplete) this.controller.abort(error ?? new Error('the answer was given up'));
    done(error);
  }
}

/** All bytes of a body; rejects when the connection breaks or the signal fires before its end. */
async function bytesOf(body: Readable, signal: AbortSignal): Promise<Buffer> {
  const stop = (): void => void body.destroy(new Error('the answer was given up'));
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await buffer(body);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Whether the engine completed the statement. It may send 200 and fail later; the header then shows it. */
export function isSuccess({ status, headers }: AnswerHead): boolean {
  return status === 200 && headers['x-clickhouse-exception-code'] === undefined;
}

/** The engine's error; an error of another kind if another server, such as a proxy, answered. */
export async function refusalOf(answer: WholeAnswer | StreamedAnswer, signal: AbortSignal): Promise<Error> {
  const bytes = 'bytes' in answer ? answer.bytes : await bytesOf(answer.body, signal);
  return parseError(decoded(bytes, answer.headers['content-encoding']).toString());
}

/** An error may be written in the coding that was asked for. One that Node does not read leaves the code in its header. */
function decoded(bytes: Buffer, coding: string | string[] | undefined): Buffer {
  if (coding === undefined || bytes.length === 0) return bytes;
  try {
    if (coding === 'gzip' || coding === 'deflate') return unzipSync(bytes);
    return coding === 'br' ? brotliDecompressSync(bytes) : Buffer.alloc(0);
  } catch {
    return Buffer.alloc(0);
  }
}
