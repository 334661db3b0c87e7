import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { callerAddress } from './headers.ts';

/**
 * A caller that repeats a refused request at once, whatever `Retry-After` says, makes the process do nothing but refuse: dozens of such
 * connections keep a core busy, however cheap a refusal is. So a caller that comes back too early too often gets its next refusals
 * late, and sends no more than one request a second on each of its connections.
 */
export interface RefusalPace {
  /** Calls `answer` when the refusal is due to leave: now, or later. `retryAfterSeconds`: what the refusal says. */
  whenDue(request: FastifyRequest, retryAfterSeconds: number, answer: () => void): void;
}

export interface PaceLimits {
  /** Early repetitions that are answered at once: all processes of an organization share its key, and are refused one by one. */
  readonly earlyMax: number;
  readonly heldMs: number;
  /** Of all callers together; beyond it refusals leave at once. */
  readonly heldMax: number;
  readonly callersMax: number;
}

export const PACE_LIMITS: PaceLimits = { earlyMax: 32, heldMs: 1_000, heldMax: 1_024, callersMax: 10_000 };

export function createRefusalPace(limits: PaceLimits = PACE_LIMITS): RefusalPace {
  const refused = new Map<string, { readonly untilMs: number; early: number }>();
  let held = 0;
  const isTooEarly = (caller: string, retryAfterSeconds: number): boolean => {
    const nowMs = performance.now();
    const known = refused.get(caller);
    if (known !== undefined && nowMs < known.untilMs) {
      known.early += 1;
      return known.early > limits.earlyMax;
    }
    if (refused.size >= limits.callersMax) refused.clear();
    refused.set(caller, { untilMs: nowMs + retryAfterSeconds * 1_000, early: 0 });
    return false;
  };
  return {
    whenDue(request, retryAfterSeconds, answer) {
      if (!isTooEarly(callerOf(request), retryAfterSeconds) || held >= limits.heldMax) return answer();
      held += 1;
      setTimeout(() => {
        held -= 1;
        answer();
      }, limits.heldMs);
    },
  };
}

/** Named by digest: a credential is kept nowhere in the clear. Without one, the address. */
function callerOf(request: FastifyRequest): string {
  const { 'x-api-key': key, authorization } = request.headers;
  const sent = typeof key === 'string' && key !== '' ? key : authorization;
  return sent === undefined ? callerAddress(request) : hash('sha256', sent, 'base64');
}
