import { getHttpRpcClient, getWebSocketRpcClient } from 'viem/utils';
import { providerName } from '../../src/log.ts';
import { createRateLimit } from './rate-limit.ts';
import { failureOfRpcError, failureOfStatus, RpcFailure } from './rpc-failure.ts';
import type { RpcLimits } from './rpc-limits.ts';

export interface RpcCall {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What became of one call: the raw result, or why there is none. */
export type RpcOutcome = { readonly result: unknown } | { readonly failure: RpcFailure };

/** One URL: sends batches at the permitted rate and never throws but for an abort. */
export interface RpcEndpoint {
  /** Host of the URL, the only part that may be written anywhere. */
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
  },
): RpcEndpoint {
  const { limits, signal } = options;
  const post = isWebSocket(url) ? overWebSocket(url, limits) : overHttp(url, limits);
  const rate = createRateLimit(options.requestsPerSecond);
  const gate = createGate(limits.maxInFlight);

  return {
    name: providerName(url),
    async exchange(calls) {
      await rate.take(calls.length, signal);
      return gate(async () => {
        signal?.throwIfAborted();
        const deadline = startDeadline(limits.requestTimeoutMs, signal);
        try {
          const answers = await post(calls, deadline.signal);
          return matchAnswers(calls, answers);
        } catch (error) {
          signal?.throwIfAborted();
          const failure = deadline.signal.aborted
            ? new RpcFailure('timeout', 'no answer in time')
            : failureOfTransport(error);
          return calls.map(() => ({ failure }));
        } finally {
          deadline.end();
        }
      });
    },
  };
}

/**
 * Aborts after a time, or with the worker. Not AbortSignal.any: on Node 20 every call leaves a trace in the long-lived signal
 * (measured: 50 bytes each), and this one lives as long as the worker.
 */
function startDeadline(ms: number, outer: AbortSignal | undefined): { signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  const timer = setTimeout(abort, ms);
  outer?.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      outer?.removeEventListener('abort', abort);
    },
  };
}

/** At most `max` tasks run at once; the others wait in line. */
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

/**
 * viem's client, below its transport: the transport's own batching pairs answers with calls by position, so that a node that
 * leaves one out of a batch shifts all the others. Here they are paired by id. The signal covers the body too, viem's own
 * time-out only the headers.
 */
function overHttp(url: string, limits: RpcLimits): Post {
  const client = getHttpRpcClient(url, {
    timeout: limits.requestTimeoutMs,
    maxResponseBodySize: limits.maxResponseBytes,
    onResponse: (response) => {
      const { status } = response;
      // Other 4xx may carry a JSON-RPC error that says what is wrong with the range; let viem read the body.
      if (status === 429 || status === 413 || status >= 500)
        throw failureOfStatus(status, response.headers.get('retry-after'));
    },
  });
  return async (calls, signal) => {
    const body = calls.map(({ method, params }, id) => ({ id, method, params }));
    const single = body[0];
    const answer: unknown =
      body.length === 1 && single !== undefined
        ? await client.request({ body: single, fetchOptions: { signal } })
        : await client.request({ body, fetchOptions: { signal } });
    if (Array.isArray(answer)) return answer;
    if (body.length === 1) return [{ ...readAnswer(answer), id: 0 }];
    // A node that refuses a batch as such answers one error object for all.
    return body.map(({ id }) => ({ ...readAnswer(answer), id }));
  };
}

function overWebSocket(url: string, limits: RpcLimits): Post {
  return async (calls, signal) => {
    const client = await abortable(getWebSocketRpcClient(url, { reconnect: false }), signal);
    try {
      const timeout = limits.requestTimeoutMs;
      const answers = calls.map(({ method, params }) =>
        client.requestAsync({ body: { method, params }, timeout }),
      );
      return (await abortable(Promise.all(answers), signal)).map((answer, id) => ({
        ...readAnswer(answer),
        id,
      }));
    } catch (error) {
      client.close(); // viem keeps a broken socket in its cache; closing makes the next exchange open a new one
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

function matchAnswers(calls: readonly RpcCall[], answers: readonly RpcAnswer[]): RpcOutcome[] {
  const byId = new Map(answers.map((answer) => [readAnswer(answer).id, answer]));
  return calls.map(({ method }, id) => {
    const answer = byId.get(id);
    if (answer?.error !== undefined && answer.error !== null)
      return { failure: failureOfRpcError(method, answer.error) };
    if (answer?.result === undefined)
      return { failure: new RpcFailure('unreadable', `${method}: left unanswered`) };
    return { result: answer.result };
  });
}

/** Errors wrap errors; a loop among them must not hold us. */
const MAX_CAUSES = 5;

/** Looks only at names and our own errors: viem's and undici's messages contain the URL. */
function failureOfTransport(error: unknown): RpcFailure {
  for (
    let cause = error, depth = 0;
    cause instanceof Error && depth < MAX_CAUSES;
    cause = cause.cause, depth++
  ) {
    if (cause instanceof RpcFailure) return cause;
    if ('status' in cause && typeof cause.status === 'number') return failureOfStatus(cause.status, null);
    if (cause instanceof SyntaxError) return new RpcFailure('unreadable', 'the answer is not whole JSON');
    if (cause.name === 'ResponseBodyTooLargeError')
      return new RpcFailure('too-large', 'the answer is too large');
    if (cause.name === 'TimeoutError') return new RpcFailure('timeout', 'no answer in time');
  }
  return new RpcFailure('unavailable', 'the connection failed');
}
