import type { ErrorCode, Problem } from './wire.ts';

/** Codes of failures that are no answer of the service. */
export type ClientErrorCode =
  /** No answer came: the service could not be reached, or it redirected, which is not followed. */
  | 'connection_failed'
  /** The answer began and did not come to its end. What was read until then is not the whole. */
  | 'connection_lost'
  /** Something answered that is not this service, such as a proxy, or in a way that this client does not know. */
  | 'unexpected_answer'
  /** The call costs more than `maxUsd` or what `maxTotalUsd` leaves, or is only sold for tokens of unknown value. Nothing was signed. */
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
 * Every failure of a call. Branch on `code`, never on the message; the codes of the service are listed, with what to do, in its
 * documentation (`/docs/errors`). An aborted call rejects with the reason of its signal instead.
 */
export class SettlementIndexError extends Error {
  readonly code: ErrorCode | ClientErrorCode;
  /** HTTP status; 0 where no answer came. */
  readonly status: number;
  /** One or two sentences about this request. */
  readonly detail: string;
  /** Names the request in the logs of the service. */
  readonly requestId: string | null;
  /** Seconds after which the same request makes sense; null where the service did not say. */
  readonly retryAfterSeconds: number | null;
  /** The whole answer, with `parameter`, `position`, `hint`, `accepts`, `stage` and the like; null where it was not this service’s. */
  readonly problem: Problem | null;
  // Private, so that no log that prints an error prints what can be spent.
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
   * The signed payment that went with the request, where one did and may have been spent: keep it, and send the same call again
   * with `{ payment }`. It is not charged twice. Never log it.
   */
  get payment(): string | null {
    return this.#payment;
  }

  /** The same error, knowing the payment that went with the request. */
  withPayment(payment: string | null): this {
    this.#payment = payment;
    return this;
  }
}

/** The error that an answer of the service is. Reads its body. */
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
  const detail = `Status ${response.status} without an explanation of this service: is the URL right, or is something in between?`;
  return new SettlementIndexError({ ...facts, code: 'unexpected_answer', detail });
}

function problemIn(response: Response, text: string): Problem | null {
  if (!/^application\/problem\+json/.test(response.headers.get('content-type') ?? '')) return null;
  const parsed = parseJson(text);
  const known = typeof parsed === 'object' && parsed !== null && 'code' in parsed && 'detail' in parsed;
  return known ? (parsed as Problem) : null; // by its media type the service's own, which is tested against the document
}

/** Undefined for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Dates, which proxies may send, are no advice of the service. */
function secondsIn(retryAfter: string | null): number | null {
  return retryAfter !== null && /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) : null;
}
