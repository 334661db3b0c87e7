import { errorOfResponse, parseJson, SettlementIndexError } from './errors.ts';
import { type Receipt, receiptOf, type Wallet } from './payment.ts';

/** When the same request is sent again. Nothing is sent twice that could be charged twice. */

export interface RetryOptions {
  /** Requests for one call at most, the first among them. Default 3. */
  readonly attempts?: number;
  /** The longest wait, in seconds: what asks for more is not waited for. Default 60. */
  readonly maxWaitSeconds?: number;
}

export interface RetryPolicy {
  readonly attempts: number;
  readonly maxWaitSeconds: number;
}

const ATTEMPTS_DEFAULT = 3;
/** A window of the rate limit. */
const WAIT_SECONDS_DEFAULT = 60;
/** Before what was paid for is asked for again, where the service does not say. */
const PAID_WAIT_SECONDS = 1;

export function retryPolicy(options: RetryOptions | false | undefined): RetryPolicy {
  if (options === false) return { attempts: 1, maxWaitSeconds: 0 };
  return {
    attempts: options?.attempts ?? ATTEMPTS_DEFAULT,
    maxWaitSeconds: options?.maxWaitSeconds ?? WAIT_SECONDS_DEFAULT,
  };
}

/** Refusals that took nothing, with an advice when to come back: too many requests, and what is not there for the moment. */
const REFUSED = new Set([429, 503]);
/** The same request is still running: its answer can be had afterwards. */
const RUNNING: ReadonlySet<string> = new Set(['payment_in_progress', 'request_in_progress']);
const SERVER_FAULT = 500;
const LOST: ReadonlySet<string> = new Set(['connection_failed', 'connection_lost']);

/**
 * Seconds to wait before the same request goes out again, null to give up. What was paid for is asked for again after any failure of
 * the service or the line, with the same payment, which is never charged twice (docs/payments.md).
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

/** Rejects with the reason of the signal as soon as it is aborted. */
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

/** One call over HTTP: the key, the payment, and the requests that are worth repeating. */

export interface Connection {
  /** With the base path, without a slash at the end. */
  readonly base: string;
  readonly key: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly wallet: Wallet | null;
  readonly retry: RetryPolicy;
  readonly onReceipt: ((receipt: Receipt) => void) | undefined;
}

/** What every call takes beside its parameters. */
export interface CallOptions {
  /** Aborting rejects with the signal’s reason, closes the connection, and so stops the work behind it. */
  readonly signal?: AbortSignal | undefined;
  /** A payment that was signed before for this very call (`SettlementIndexError.payment`). It goes out as it is. */
  readonly payment?: string | undefined;
  /** Sent as `X-Request-Id`: 1 to 128 of `A-Za-z0-9._:-`. The service mints one otherwise. */
  readonly requestId?: string | undefined;
}

export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** Path and query below the base path. */
  readonly path: string;
  readonly body?: string;
  readonly accept: string;
  /** Whether the answer is read here, as JSON, or left to the caller. */
  readonly reads: 'json' | 'nothing';
  readonly idempotencyKey?: string | undefined;
  readonly options: CallOptions;
}

/** An answer of the service that is none of its errors. */
export interface Sent {
  readonly response: Response;
  /** Of a request that reads JSON. */
  readonly body: unknown;
  readonly receipt: Receipt | null;
  /** The payment that went with it; whoever loses the rest of the answer can send it again. */
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
    // Signed once for a call: a payment that is refused is not followed by another.
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
  /** Null where none came. */
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
      // A key or a payment must not follow a redirect to somebody else.
      redirect: 'error',
      ...(request.body === undefined ? {} : { body: request.body }),
      ...(signal === undefined ? {} : { signal }),
    });
  } catch (cause) {
    signal?.throwIfAborted();
    const detail =
      'The service did not answer: it could not be reached, or it redirected, which is not followed.';
    return { error: new SettlementIndexError({ code: 'connection_failed', detail, cause }), response: null };
  }
  if (!response.ok) return { error: await errorOfResponse(response), response };
  const sent = { response, body: undefined, receipt: receiptOf(response.headers), payment };
  return request.reads === 'nothing' ? sent : readJson(sent, signal);
}

function headersOf({ key }: Connection, request: ApiRequest, payment: string | null): Headers {
  const { idempotencyKey, body, accept, options } = request;
  const headers = new Headers({ accept });
  // Keys and bearer tokens alike.
  if (key !== undefined) headers.set('authorization', `Bearer ${key}`);
  if (body !== undefined) headers.set('content-type', 'application/json');
  // The service reads the version inside: this header carries either.
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
  const detail = 'The answer is not JSON: is the URL that of a Settlement Index?';
  return { error: new SettlementIndexError({ ...facts, code: 'unexpected_answer', detail }), response };
}

/** For an answer that began and did not come to its end. */
export function connectionLost(response: Response, cause?: unknown): SettlementIndexError {
  return new SettlementIndexError({
    code: 'connection_lost',
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    detail: 'The connection ended before the answer did. What arrived is not the whole.',
    cause,
  });
}
