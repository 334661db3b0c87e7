import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseError } from '@clickhouse/client';
import type { EngineAccess, GuestQuery, GuestResult, QueryFigures } from './engine.ts';
import { EngineError } from './engine.ts';
import { engineErrorOf } from './engine-error.ts';
import { publicDatabaseOf } from './public-database.ts';

/**
 * One query of the guest over plain HTTP: the client library hides the figures of a query that failed, and reads an answer
 * before its status. Nothing here changes what the guest may do (guest-settings.ts).
 */
export interface GuestHttp {
  /** Resolves with the head of the answer, when the query has ended. Rejects with `EngineError`. */
  run(query: GuestQuery, signal: AbortSignal): Promise<GuestResult>;
  close(): void;
}

/** About what the embedded engine needs to be back after a crash (engine.md 7). */
const RETRY_AFTER_MS = 400;
const KEEP_ALIVE_MS = 10_000;

export function createGuestHttp({ url, database, guest }: EngineAccess): GuestHttp {
  const isTls = url.startsWith('https:');
  const agent = isTls
    ? new TlsAgent({ keepAlive: true, timeout: KEEP_ALIVE_MS })
    : new Agent({ keepAlive: true, timeout: KEEP_ALIVE_MS });
  const authorization = `Basic ${Buffer.from(`${guest.user}:${guest.password}`).toString('base64')}`;
  const send = (query: GuestQuery, signal: AbortSignal): Promise<IncomingMessage> => {
    const target = addressOf(url, publicDatabaseOf(database), query);
    const options = { method: 'POST', agent, headers: { authorization } };
    const sent = isTls ? tlsRequest(target, options) : request(target, options);
    return answerOf(sent, query.text, signal);
  };
  return {
    async run(query, signal) {
      try {
        signal.throwIfAborted();
        return await resultOf(await sendOrResend(() => send(query, signal), signal), query.name, signal);
      } catch (error) {
        throw engineErrorOf(error, query.name, { timeout: NEVER, caller: signal });
      }
    },
    close: () => agent.destroy(),
  };
}

const NEVER = new AbortController().signal;

/** Values travel as parameters of the URL, as they are; settings are the two that a guest may send. */
function addressOf(url: string, database: string, query: GuestQuery): URL {
  const target = new URL(url);
  const words: Record<string, string | number> = {
    database,
    query_id: query.queryId,
    default_format: query.format,
    wait_end_of_query: 1,
    max_execution_time: query.maxSeconds,
    limit: query.maxRows,
  };
  for (const [word, value] of Object.entries(words)) target.searchParams.set(word, String(value));
  for (const [name, value] of Object.entries(query.parameters ?? {}))
    target.searchParams.set(`param_${name}`, value);
  return target;
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
 * Once more where the engine has not seen the query: it was restarting, or a kept connection was that of the engine before.
 * Never where it has: a text that ends the engine must not end two.
 */
async function sendOrResend(
  send: () => Promise<IncomingMessage>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  try {
    return await send();
  } catch (error) {
    if (signal.aborted || !isRefused(error)) throw error;
    await sleep(RETRY_AFTER_MS, undefined, { signal });
    return send();
  }
}

function isRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}

async function resultOf(answer: IncomingMessage, name: string, signal: AbortSignal): Promise<GuestResult> {
  const figures = figuresOf(answer.headers['x-clickhouse-summary']);
  const code = answer.headers['x-clickhouse-exception-code'];
  if (answer.statusCode === 200 && code === undefined && figures !== null) return { figures, body: answer };
  const said = parseError(await readText(answer));
  const known = engineErrorOf(said, name, { timeout: NEVER, caller: signal });
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
