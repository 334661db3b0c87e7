import type { SettlementIndexError } from './errors.ts';

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
