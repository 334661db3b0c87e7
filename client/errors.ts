import type { ErrorCode, Problem } from './wire.ts';

/** Codes of failures that the client detects itself. */
export type ClientErrorCode =
  /** The service could not be reached, or it redirected: redirects are not followed. */
  | 'connection_failed'
  /** The connection ended before the answer was complete. */
  | 'connection_lost'
  /** The answer is not one of this service, such as that of a proxy, or has an unknown form. */
  | 'unexpected_answer'
  /** The call costs more than `maxUsd` or the rest of `maxTotalUsd`, or is only sold for tokens of unknown value. Nothing was signed. */
  | 'payment_over_cap';

export interface ErrorFacts {
  readonly code: ErrorCode | ClientErrorCode;
  readonly detail: string;
  readonly status?: number;
  readonly requestId?: string | null;
  readonly retryAfterSeconds?: number | null;
  readonly problem?: Problem | null;
  readonly cause?: unknown;
}

/**
 * A call that failed. Branch on `code`, never on the message. The documentation of the service (`/docs/errors`) lists its codes with what
 * to do. An aborted call rejects with the reason of its signal instead.
 */
export class SettlementIndexError extends Error {
  readonly code: ErrorCode | ClientErrorCode;
  /** HTTP status; 0 without an answer. */
  readonly status: number;
  /** One or two sentences about this request. */
  readonly detail: string;
  /** The id of the request in the logs of the service. */
  readonly requestId: string | null;
  /** Seconds after which to repeat the request; null where the service does not say. */
  readonly retryAfterSeconds: number | null;
  /** The whole answer, with `parameter`, `position`, `hint`, `accepts`, `stage` and so on; null where the service did not answer. */
  readonly problem: Problem | null;
  // Private, so that a logged error does not contain a payment that can still be spent.
  #payment: string | null = null;

  constructor(facts: ErrorFacts) {
    super(`${facts.code}: ${facts.detail}`, { cause: facts.cause });
    this.name = 'SettlementIndexError';
    this.code = facts.code;
    this.status = facts.status ?? 0;
    this.detail = facts.detail;
    this.requestId = facts.requestId ?? null;
    this.retryAfterSeconds = facts.retryAfterSeconds ?? null;
    this.problem = facts.problem ?? null;
  }

  /**
   * The signed payment of the request, where it may have been spent. Keep it, and send the same call again with `{ payment }`: it is
   * not charged twice. Never log it.
   */
  get payment(): string | null {
    return this.#payment;
  }

  /** Adds the payment of the request to the error. */
  withPayment(payment: string | null): this {
    this.#payment = payment;
    return this;
  }
}

/** The error in a failed answer, whose body it reads. */
export async function errorOfResponse(response: Response): Promise<SettlementIndexError> {
  const text = await response.text().catch(() => '');
  const problem = problemIn(response, text);
  const facts = {
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    retryAfterSeconds: secondsIn(response.headers.get('retry-after')),
  };
  if (problem !== null)
    return new SettlementIndexError({ ...facts, code: problem.code, detail: problem.detail, problem });
  const detail = `The answer has status ${response.status} and is not one of this service. Check the URL, and proxies in between.`;
  return new SettlementIndexError({ ...facts, code: 'unexpected_answer', detail });
}

function problemIn(response: Response, text: string): Problem | null {
  if (!/^application\/problem\+json/.test(response.headers.get('content-type') ?? '')) return null;
  const parsed = parseJson(text);
  const known = typeof parsed === 'object' && parsed !== null && 'code' in parsed && 'detail' in parsed;
  return known ? (parsed as Problem) : null; // the service, which sends this media type, is tested against the document
}

/** Undefined where the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Null for dates, which only proxies send. */
function secondsIn(retryAfter: string | null): number | null {
  return retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null;
}
