import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { parseError } from '@clickhouse/client';
import type { EngineUser } from './engine.ts';
import type { CallSignals } from './engine-error.ts';

/**
 * Plain HTTP to the engine, for statements that are short and many. The client library lets a timer pass before each request
 * (its `sleep(0)`, over a millisecond) and builds a URL, a stream and a result set for each: a bare SELECT took 3.0 ms with it and
 * takes 1.0 ms here.
 */
export interface EngineHttp {
  /**
   * Resolves with the head of the answer, whatever its status; rejects with what the socket said. An abort before the head
   * closes the connection, by which the engine ends a read-only query.
   */
  send(statement: HttpStatement, signal: AbortSignal): Promise<IncomingMessage>;
  /** Ends all connections. */
  close(): void;
}

export interface HttpStatement {
  readonly text: string;
  /** Settings, `param_…` and the other words of the HTTP interface, as the engine reads them off the wire. */
  readonly words: Readonly<Record<string, string | number>>;
}

/** Below the time after which the engine hangs up by itself (30 s); Node heeds a shorter one that the engine announces. */
const KEEP_ALIVE_MS = 10_000;
/** Has to be above 1 MiB to count. */
const ANSWER_IN_MEMORY_BYTES = 2 * 1024 * 1024;

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
  const base = new URL(url);
  const isTls = base.protocol === 'https:';
  const keep = { keepAlive: true, timeout: KEEP_ALIVE_MS, maxSockets: connectionsMax };
  const agent = isTls ? new TlsAgent(keep) : new Agent(keep);
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const headers = { authorization, 'user-agent': 'settlement-index' };
  // Bare brackets are how a URL spells an IPv6 host, and not how a socket does.
  const host = base.hostname.replace(/^\[|\]$/g, '');
  const { port, pathname } = base;
  return {
    send({ text, words }, signal) {
      const path = `${pathname}?${new URLSearchParams(pairsOf(words))}`;
      const sent = more === undefined ? headers : { ...headers, ...more() };
      const options = { host, port, path, method: 'POST', agent, headers: sent };
      return answerOf(isTls ? tlsRequest(options) : request(options), text, signal);
    },
    close: () => agent.destroy(),
  };
}

function pairsOf(words: HttpStatement['words']): [string, string][] {
  return Object.entries(words).map(([name, value]) => [name, String(value)]);
}

function answerOf(sent: ClientRequest, body: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const stop = (): void => void sent.destroy(new Error('the query was given up'));
    signal.addEventListener('abort', stop, { once: true });
    sent.once('error', (error) => {
      signal.removeEventListener('abort', stop);
      reject(error);
    });
    sent.once('response', (answer) => {
      signal.removeEventListener('abort', stop);
      resolve(answer);
    });
    sent.end(body);
  });
}

/** All bytes of an answer; rejects when the connection breaks or the signal fires before its end. */
export function bytesOf(answer: IncomingMessage, signal: AbortSignal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const stop = (): void => void answer.destroy(new Error('the answer was given up'));
    const settle = (): void => signal.removeEventListener('abort', stop);
    signal.addEventListener('abort', stop, { once: true });
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.once('end', () => {
      settle();
      resolve(Buffer.concat(chunks));
    });
    answer.once('error', (error) => {
      settle();
      reject(error);
    });
    if (signal.aborted) stop();
  });
}

/** Whether the engine ran the statement to its end. It may send 200 before it fails; then the header tells. */
export function isSuccess({ statusCode = 0, headers }: IncomingMessage): boolean {
  return statusCode === 200 && headers['x-clickhouse-exception-code'] === undefined;
}

/** What the engine said instead of an answer; an error of another kind when somebody else answered in its place. */
export async function refusalOf(answer: IncomingMessage, signal: AbortSignal): Promise<Error> {
  return parseError((await bytesOf(answer, signal)).toString());
}

export function eitherOf({ timeout, caller }: CallSignals): AbortSignal {
  return caller === undefined ? timeout : AbortSignal.any([timeout, caller]);
}
