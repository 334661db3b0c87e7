import { providerName } from '../../../core/log.ts';
import { withDeadline } from '../../../core/process/deadline.ts';
import { openWebSocketClient, type WebSocketClient } from '../web-socket-client.ts';
import { failureOfRpcError, failureOfStatus, RpcFailure } from './failure.ts';
import { createRateLimit, type RateLimitOf, type RpcLimits } from './limits.ts';
import { createJsonPoster, type PostedAnswer } from './post-json.ts';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The outcome of a call: the raw result, or why there is none. */
export type RpcOutcome = { readonly result: unknown } | { readonly failure: RpcFailure };

/** One URL: sends batches at the permitted rate and never throws but for an abort. */
export interface RpcEndpoint {
  /** Host of the URL, the only part that may appear in logs, metrics and errors. */
  readonly name: string;
  /** One exchange; outcomes in the order of the calls. */
  exchange(calls: readonly RpcCall[]): Promise<RpcOutcome[]>;
}

interface RpcAnswer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

type Post = (calls: readonly RpcCall[], signal: AbortSignal) => Promise<readonly RpcAnswer[]>;

export function isWebSocket(url: string): boolean {
  return /^wss?:/.test(url);
}

export function createEndpoint(
  url: string,
  options: {
    readonly requestsPerSecond: number;
    readonly limits: RpcLimits;
    readonly signal: AbortSignal | undefined;
    /** Absent: this endpoint has a rate limit of its own. */
    readonly rateLimitOf?: RateLimitOf | undefined;
    /** Sorts a JSON-RPC error: the codes of nodes differ by family. */
    readonly failureOf?: typeof failureOfRpcError;
  },
): RpcEndpoint {
  const { limits, signal } = options;
  const post = isWebSocket(url) ? overWebSocket(url, limits, signal) : overHttp(url, limits);
  const { requestsPerSecond, rateLimitOf, failureOf = failureOfRpcError } = options;
  const rate = rateLimitOf?.(url, requestsPerSecond) ?? createRateLimit(requestsPerSecond);
  const gate = createGate(limits.maxInFlight);

  return {
    name: providerName(url),
    async exchange(calls) {
      await rate.take(calls.length, signal);
      return gate(async () => {
        signal?.throwIfAborted();
        return withDeadline(limits.requestTimeoutMs, signal, async (deadline) => {
          try {
            return matchAnswers(calls, await post(calls, deadline.signal), failureOf);
          } catch (error) {
            signal?.throwIfAborted();
            const failure = deadline.isOver()
              ? new RpcFailure('timeout', 'no answer in time')
              : failureOfTransport(error);
            return calls.map(() => ({ failure }));
          }
        });
      });
    },
  };
}

/** Runs at most `max` tasks at once; the others queue. */
function createGate(max: number): <T>(task: () => Promise<T>) => Promise<T> {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (task) => {
    if (running >= max) await new Promise<void>((resolve) => waiting.push(resolve));
    else running++;
    try {
      return await task();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running--;
      else next(); // hands its place on
    }
  };
}

/** Matches answers to calls by id: a node that omits one from a batch must not shift the others. */
function overHttp(url: string, limits: RpcLimits): Post {
  const poster = createJsonPoster(url, limits.maxResponseBytes);
  return async (calls, signal) => {
    const body = calls.map(({ method, params }, id) => ({ jsonrpc: '2.0', id, method, params }));
    const answer = readPosted(await poster.post(JSON.stringify(body.length === 1 ? body[0] : body), signal));
    if (Array.isArray(answer)) return answer;
    if (body.length === 1) return [{ ...readAnswer(answer), id: 0 }];
    // A node that refuses the whole batch sends a single error object.
    return body.map(({ id }) => ({ ...readAnswer(answer), id }));
  };
}

/** The parsed body. Throws for a conclusive status, and for other error statuses unless the body is a JSON-RPC error. */
function readPosted({ status, retryAfter, text }: PostedAnswer): unknown {
  if (status === 429 || status === 413 || status >= 500) throw failureOfStatus(status, retryAfter);
  if (status < 300) return JSON.parse(text);
  // Other 4xx may carry a JSON-RPC error that names the fault of the range.
  const answer = parseOrNull(text);
  if (isRpcError(readAnswer(answer).error)) return answer;
  throw failureOfStatus(status, retryAfter);
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null; // a proxy's error page: only the status is useful
  }
}

function isRpcError(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  return (
    'code' in error &&
    typeof error.code === 'number' &&
    'message' in error &&
    typeof error.message === 'string'
  );
}

/** One connection, opened by the first exchange and again after it failed; the worker's signal closes it. */
function overWebSocket(url: string, limits: RpcLimits, signal: AbortSignal | undefined): Post {
  let opening: Promise<WebSocketClient> | undefined;
  function open(): Promise<WebSocketClient> {
    const mine = openWebSocketClient(url, { maxMessageBytes: limits.maxResponseBytes, signal });
    const forget = (): void => {
      if (opening === mine) opening = undefined;
    };
    mine.then(({ ended }) => ended).then(forget, forget);
    return mine;
  }
  return async (calls, deadline) => {
    opening ??= open();
    const mine = opening;
    try {
      const client = await abortable(mine, deadline);
      const answers = calls.map(({ method, params }) => client.call(method, params));
      return (await abortable(Promise.all(answers), deadline)).map((answer, id) => ({ ...answer, id }));
    } catch (error) {
      // The next exchange opens another connection, even if this one never answers.
      if (opening === mine) opening = undefined;
      mine.then(
        ({ close }) => close(),
        () => undefined,
      );
      throw error;
    }
  };
}

function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new RpcFailure('timeout', 'no answer in time'));
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function readAnswer(answer: unknown): RpcAnswer {
  return typeof answer === 'object' && answer !== null ? answer : {};
}

function matchAnswers(
  calls: readonly RpcCall[],
  answers: readonly RpcAnswer[],
  failureOf: typeof failureOfRpcError,
): RpcOutcome[] {
  const byId = new Map(answers.map((answer) => [readAnswer(answer).id, answer]));
  return calls.map(({ method }, id) => {
    const answer = byId.get(id);
    if (answer?.error !== undefined && answer.error !== null)
      return { failure: failureOf(method, answer.error) };
    if (answer?.result === undefined)
      return { failure: new RpcFailure('unreadable', `${method}: left unanswered`) };
    return { result: answer.result };
  });
}

/** Bounds the walk along `cause`, which could be cyclic. */
const MAX_CAUSES = 5;

/** Checks only names and our own errors: messages of HTTP clients contain the URL. */
function failureOfTransport(error: unknown): RpcFailure {
  for (
    let cause = error, depth = 0;
    cause instanceof Error && depth < MAX_CAUSES;
    cause = cause.cause, depth++
  ) {
    if (cause instanceof RpcFailure) return cause;
    if (cause instanceof SyntaxError) return new RpcFailure('unreadable', 'the answer is not whole JSON');
    if (cause.name === 'TimeoutError') return new RpcFailure('timeout', 'no answer in time');
  }
  return new RpcFailure('unavailable', 'the connection failed');
}

/** Called after each exchange with its number of calls and its `performance.now()` at the start. */
export type OnExchange = (provider: string, calls: number, startedMs: number) => void;

/** Adds a listener for every exchange to an endpoint. */
export function observedEndpoint(endpoint: RpcEndpoint, onExchange: OnExchange | undefined): RpcEndpoint {
  if (onExchange === undefined) return endpoint;
  return {
    name: endpoint.name,
    async exchange(calls) {
      const startedMs = performance.now();
      const outcomes = await endpoint.exchange(calls);
      onExchange(endpoint.name, calls.length, startedMs);
      return outcomes;
    },
  };
}
