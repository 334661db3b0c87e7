import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseError } from '@clickhouse/client';
import { type EngineAccess, EngineError, type GuestResult, type QueryFigures } from './engine.ts';
import { type CallSignals, engineErrorOf } from './engine-error.ts';
import { publicDatabaseOf } from './public-database.ts';

/**
 * Statements of the guest over plain HTTP: the client library hides the figures of a query that failed, and changes the values
 * of parameters. Nothing here changes what the guest may do (guest-settings.ts).
 */
export interface GuestHttp {
  /** Resolves with the head of the answer, when the statement has ended. Rejects with `EngineError`. */
  send(statement: GuestHttpStatement, signals: CallSignals): Promise<GuestResult>;
  close(): void;
}

export interface GuestHttpStatement {
  readonly name: string;
  readonly text: string;
  readonly parameters: Readonly<Record<string, string>>;
  /** Words of the HTTP interface, and the settings that a guest may send. */
  readonly words: Readonly<Record<string, string | number>>;
}

/** The embedded engine is back about 400 ms after a crash (engine.md 7), later on a busy machine. */
const RETRY_MAX_MS = 2_000;
const RETRY_AFTER_MS = 200;
const KEEP_ALIVE_MS = 10_000;
const MEBIBYTE = 1024 * 1024;
/** Answers up to this always wait in memory instead of in a file. Has to be above 1 MiB to count. */
const SMALL_ANSWER_BYTES = 2 * MEBIBYTE;
/** The same for those that may be held there: as large as an answer to a caller can be. What is more goes to a file. */
const HELD_IN_MEMORY_BYTES = 64 * MEBIBYTE;

/** For a statement whose figures and failures must be known before the first byte of its answer. */
export function wholeAnswer(heldInMemory: boolean): Readonly<Record<string, number>> {
  return { wait_end_of_query: 1, buffer_size: heldInMemory ? HELD_IN_MEMORY_BYTES : SMALL_ANSWER_BYTES };
}

export function createGuestHttp({ url, database, guest }: EngineAccess): GuestHttp {
  const isTls = url.startsWith('https:');
  const agent = isTls
    ? new TlsAgent({ keepAlive: true, timeout: KEEP_ALIVE_MS })
    : new Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS });
  const authorization = `Basic ${Buffer.from(`${guest.user}:${guest.password}`).toString('base64')}`;
  const base = new URL(url);
  base.searchParams.set('database', publicDatabaseOf(database));
  const { hostname, port, pathname, search } = base;
  const sendOnce = (statement: GuestHttpStatement, signal: AbortSignal): Promise<IncomingMessage> => {
    const path = `${pathname}${search}${queryOf(statement)}`;
    // Bare brackets are how a URL spells an IPv6 host, and not how a socket does.
    const host = hostname.replace(/^\[|\]$/g, '');
    const options = { host, port, path, method: 'POST', agent, headers: { authorization } };
    const sent = isTls ? tlsRequest(options) : request(options);
    return answerOf(sent, statement.text, signal);
  };
  return {
    async send(statement, signals) {
      const either = eitherOf(signals);
      try {
        either.throwIfAborted();
        const answer = await retryRefused(() => sendOnce(statement, either), either);
        return await resultOf(answer, statement.name, signals);
      } catch (error) {
        throw engineErrorOf(error, statement.name, signals);
      }
    },
    close: () => agent.destroy(),
  };
}

function eitherOf({ timeout, caller }: CallSignals): AbortSignal {
  return caller === undefined ? timeout : AbortSignal.any([timeout, caller]);
}

/** Put together by hand: a URL object would cost a tenth of a judgement. */
function queryOf({ words, parameters }: GuestHttpStatement): string {
  const pairs = [
    ...Object.entries(words),
    ...Object.entries(parameters).map(([name, value]) => [`param_${name}`, value] as const),
  ];
  return pairs.map(([name, value]) => `&${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('');
}

/** Resolves with the head of the answer; an abort before it closes the connection, by which the engine stops the query. */
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

/**
 * Again, for a moment, where the engine has not seen the statement: it is being started anew. Never where it may have: a text
 * that ends the engine must not end two.
 */
async function retryRefused(
  send: () => Promise<IncomingMessage>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const deadline = performance.now() + RETRY_MAX_MS;
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (signal.aborted || !isRefused(error) || performance.now() > deadline) throw error;
      await sleep(RETRY_AFTER_MS, undefined, { signal });
    }
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}

async function resultOf(answer: IncomingMessage, name: string, signals: CallSignals): Promise<GuestResult> {
  const figures = figuresOf(answer.headers['x-clickhouse-summary']);
  const code = answer.headers['x-clickhouse-exception-code'];
  if (answer.statusCode === 200 && code === undefined && figures !== null) return { figures, body: answer };
  const said = parseError(await readText(answer));
  const known = engineErrorOf(said, name, signals);
  throw new EngineError(known.problem, name, known.engineCode ?? numberOf(code), said, figures);
}

function figuresOf(summary: string | string[] | undefined): QueryFigures | null {
  if (typeof summary !== 'string') return null;
  const said = JSON.parse(summary) as Record<string, string | undefined>; // the engine's header, numbers as texts
  const figure = (name: string): number => Number(said[name] ?? 0);
  return {
    readRows: figure('read_rows'),
    readBytes: figure('read_bytes'),
    resultRows: figure('result_rows'),
    resultBytes: figure('result_bytes'),
    elapsedMs: figure('elapsed_ns') / 1e6,
    memoryBytes: figure('memory_usage'),
  };
}

function numberOf(code: string | string[] | undefined): number | null {
  return typeof code === 'string' && /^\d+$/.test(code) ? Number(code) : null;
}
