import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { parseError } from '@clickhouse/client';
import { type Dispatcher, Pool } from 'undici';
import type { EngineUser } from './engine.ts';

/**
 * Plain HTTP to the engine, for statements that are short and many. The client library lets a timer pass before each request
 * (its `sleep(0)`, over a millisecond) and builds a URL, a stream and a result set for each; Node's own client takes twice the
 * processor time of undici's dispatcher, for an answer of one row as for one of 40 MB.
 */
export interface EngineHttp {
  /** The whole answer, whatever its status, for statements whose answers are small. An abort ends it as it ends `send`. */
  ask(statement: HttpStatement, signal: AbortSignal): Promise<WholeAnswer>;
  /**
   * Resolves with the head of the answer, whatever its status; rejects with what the socket said. An abort before the head
   * closes the connection, by which the engine ends a read-only query.
   */
  send(statement: HttpStatement, signal: AbortSignal): Promise<StreamedAnswer>;
  /** Ends all connections. */
  close(): void;
}

export interface HttpStatement {
  readonly text: string;
  /** Settings, `param_…` and the other words of the HTTP interface, as the engine reads them off the wire. */
  readonly words: Readonly<Record<string, string | number>>;
}

export interface AnswerHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface WholeAnswer extends AnswerHead {
  readonly bytes: Buffer;
}

export interface StreamedAnswer extends AnswerHead {
  /** Read at its reader's pace; destroying it closes the connection. */
  readonly body: Readable;
}

/** Below the time after which the engine hangs up by itself (30 s); undici heeds a shorter one that the engine announces. */
const KEEP_ALIVE_MS = 10_000;
/** Has to be above 1 MiB to count. */
const ANSWER_IN_MEMORY_BYTES = 2 * 1024 * 1024;
/** Chunks of a body that wait for its reader, each what one read of the socket gave: 64 KiB at most. */
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
    // The time of a statement is bounded by its signal, and that of reading it by whoever reads.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const headers = { authorization, 'user-agent': 'settlement-index' };
  const requestOf = ({ text, words }: HttpStatement): Dispatcher.DispatchOptions => ({
    path: `${pathname}?${new URLSearchParams(pairsOf(words))}`,
    method: 'POST',
    headers: more === undefined ? headers : { ...headers, ...more() },
    body: text,
  });
  return {
    ask: (statement, signal) => wholeAnswerOf(pool, requestOf(statement), signal),
    send: (statement, signal) => streamedAnswerOf(pool, requestOf(statement), signal),
    close: () => void pool.destroy(),
  };
}

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
        // After a pause undici begins with what it has, which can be nothing.
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

/** Waits for an answer until the signal fires; then the caller hears of it at once, and the connection is closed. */
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
      // It may have waited for a connection until now.
      if (signal.aborted) stop();
    },
    end: () => signal.removeEventListener('abort', stop),
  };
}

/** Hands on the chunks as they came: a stream of bytes would join those that wait into one, and copy them. */
class AnswerBody extends Readable {
  private readonly controller: Dispatcher.DispatchController;
  private isComplete = false;

  constructor(controller: Dispatcher.DispatchController) {
    super({ objectMode: true, highWaterMark: CHUNKS_AHEAD_MAX });
    this.controller = controller;
    // It may fail before anybody listens; who listens then is told all the same.
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

/** Whether the engine ran the statement to its end. It may send 200 before it fails; then the header tells. */
export function isSuccess({ status, headers }: AnswerHead): boolean {
  return status === 200 && headers['x-clickhouse-exception-code'] === undefined;
}

/** What the engine said instead of an answer; an error of another kind when somebody else answered in its place. */
export async function refusalOf(answer: WholeAnswer | StreamedAnswer, signal: AbortSignal): Promise<Error> {
  const bytes = 'bytes' in answer ? answer.bytes : await bytesOf(answer.body, signal);
  return parseError(bytes.toString());
}
