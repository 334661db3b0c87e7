import { errorOfResponse, parseJson, SettlementIndexError } from './errors.ts';
import { type Receipt, receiptOf, type Wallet } from './payment.ts';

/** One call over HTTP, with its key, its payment and its retries. A request that could be charged twice is never repeated. */

export interface RetryOptions {
  /** Most requests for one call, including the first. Default 3. */
  readonly attempts?: number;
  /** The longest wait in seconds. Where the service asks for a longer one, the call fails. Default 60. */
  readonly maxWaitSeconds?: number;
}

export interface RetryPolicy {
  readonly attempts: number;
  readonly maxWaitSeconds: number;
}

const ATTEMPTS_DEFAULT = 3;
/** The window of the rate limit. */
const WAIT_SECONDS_DEFAULT = 60;
/** The wait before a paid request is repeated, where the service does not say. */
const PAID_WAIT_SECONDS = 1;

export function retryPolicy(options: RetryOptions | false | undefined): RetryPolicy {
  if (options === false) return { attempts: 1, maxWaitSeconds: 0 };
  return {
    attempts: options?.attempts ?? ATTEMPTS_DEFAULT,
    maxWaitSeconds: options?.maxWaitSeconds ?? WAIT_SECONDS_DEFAULT,
  };
}

/** Refusals that charge nothing and may say when to retry: too many requests, and unavailable. */
const REFUSED = new Set([429, 503]);
/** The same request is still running; its answer can be read afterwards. */
const RUNNING: ReadonlySet<string> = new Set(['payment_in_progress', 'request_in_progress']);
const SERVER_FAULT = 500;
const LOST: ReadonlySet<string> = new Set(['connection_failed', 'connection_lost']);

/**
 * Seconds to wait before the request is repeated; null to give up. A paid request is repeated after any failure of the service or the
 * connection, with the same payment, which is never charged twice (docs/payments.md).
 */
export function waitSeconds(
  error: SettlementIndexError,
  {
    paid,
    attempt,
    policy,
  }: { readonly paid: boolean; readonly attempt: number; readonly policy: RetryPolicy },
): number | null {
  if (attempt >= policy.attempts) return null;
  const advised = error.retryAfterSeconds;
  const refused = advised !== null && (REFUSED.has(error.status) || RUNNING.has(error.code));
  const lost = paid && (error.status >= SERVER_FAULT || LOST.has(error.code));
  if (!refused && !lost) return null;
  const seconds = advised ?? PAID_WAIT_SECONDS;
  return seconds <= policy.maxWaitSeconds ? seconds : null;
}

/** Rejects with the reason of the signal when it is aborted. */
export function pause(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, seconds * 1_000);
    signal?.addEventListener('abort', end, { once: true });
  });
}

export interface Connection {
  /** With the base path, without a trailing slash. */
  readonly base: string;
  readonly key: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly wallet: Wallet | null;
  readonly retry: RetryPolicy;
  readonly onReceipt: ((receipt: Receipt) => void) | undefined;
}

/** Options of every call. */
export interface CallOptions {
  /** Aborting rejects with the reason of the signal and closes the connection, which stops the work of the service. */
  readonly signal?: AbortSignal | undefined;
  /** A payment that was signed for this call before (`SettlementIndexError.payment`). It is sent as it is. */
  readonly payment?: string | undefined;
  /** Sent as `X-Request-Id`: 1 to 128 of `A-Za-z0-9._:-`. By default the service chooses one. */
  readonly requestId?: string | undefined;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path and query below the base path. */
  readonly path: string;
  readonly body?: string;
  readonly accept: string;
  /** Whether `send` reads the body as JSON, or leaves it to the caller. */
  readonly reads: 'json' | 'nothing';
  readonly idempotencyKey?: string | undefined;
  readonly options: CallOptions;
}

/** A successful answer. */
export interface Sent {
  readonly response: Response;
  /** Undefined unless the request reads JSON. */
  readonly body: unknown;
  readonly receipt: Receipt | null;
  /** The payment of the request, which can be sent again where the rest of the answer is lost. */
  readonly payment: string | null;
}

const PAYABLE: ReadonlySet<string> = new Set(['payment_required', 'insufficient_qu']);

/** Throws a `SettlementIndexError`, or the reason of the signal. */
export async function send(connection: Connection, request: ApiRequest): Promise<Sent> {
  let payment = request.options.payment ?? null;
  for (let attempt = 1; ; ) {
    const outcome = await once(connection, request, payment);
    if ('receipt' in outcome) {
      if (outcome.receipt !== null) connection.onReceipt?.(outcome.receipt);
      return outcome;
    }
    const { error, response } = outcome;
    // One payment a call: after a refused one, no other is signed.
    if (payment === null && connection.wallet !== null && response !== null && PAYABLE.has(error.code)) {
      const call = { method: request.method, url: `${connection.base}${request.path}` };
      payment = await connection.wallet.pay(call, response);
      continue;
    }
    const seconds = waitSeconds(error, { paid: payment !== null, attempt, policy: connection.retry });
    if (seconds === null) throw error.withPayment(payment);
    await pause(seconds, request.options.signal);
    attempt += 1;
  }
}

interface Failed {
  readonly error: SettlementIndexError;
  /** Null without an answer. */
  readonly response: Response | null;
}

async function once(
  connection: Connection,
  request: ApiRequest,
  payment: string | null,
): Promise<Sent | Failed> {
  const { signal } = request.options;
  let response: Response;
  try {
    response = await connection.fetch(`${connection.base}${request.path}`, {
      method: request.method,
      headers: headersOf(connection, request, payment),
      // A redirect could send the key or the payment to another host.
      redirect: 'error',
      ...(request.body === undefined ? {} : { body: request.body }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (cause) {
    signal?.throwIfAborted();
    const detail = 'The service could not be reached, or it redirected: redirects are not followed.';
    return { error: new SettlementIndexError({ code: 'connection_failed', detail, cause }), response: null };
  }
  if (!response.ok) return { error: await errorOfResponse(response), response };
  const sent = { response, body: undefined, receipt: receiptOf(response.headers), payment };
  return request.reads === 'nothing' ? sent : readJson(sent, signal);
}

function headersOf({ key }: Connection, request: ApiRequest, payment: string | null): Headers {
  const { idempotencyKey, body, accept, options } = request;
  const headers = new Headers({ accept });
  // For keys and bearer tokens.
  if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
  if (body !== undefined) headers.set('content-type', 'application/json');
  // For both versions of x402: the service reads the version in the payment.
  if (payment !== null) headers.set('x-payment', payment);
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
  if (options.requestId !== undefined) headers.set('x-request-id', options.requestId);
  return headers;
}

async function readJson(sent: Sent, signal: AbortSignal | undefined): Promise<Sent | Failed> {
  const { response } = sent;
  let text: string;
  try {
    text = await response.text();
  } catch (cause) {
    signal?.throwIfAborted();
    return { error: connectionLost(response, cause), response };
  }
  const body = parseJson(text);
  if (body !== undefined) return { ...sent, body };
  const facts = { status: response.status, requestId: response.headers.get('x-request-id') };
  const detail = 'The answer is not JSON. Check that the URL is that of a Settlement Index.';
  return { error: new SettlementIndexError({ ...facts, code: 'unexpected_answer', detail }), response };
}

/** The error for an answer that breaks off. */
export function connectionLost(response: Response, cause?: unknown): SettlementIndexError {
  return new SettlementIndexError({
    code: 'connection_lost',
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    detail: 'The connection ended before the answer was complete.',
    cause,
  });
}
