import type { FastifyInstance } from 'fastify';
import { type FailureContext, fail } from '../../core/errors.ts';
import type { ConnectionCap } from './connection-cap.ts';

/**
 * The most requests that a process has in its hands at once, whatever they wait for: a store that hangs, a line for the engine, a
 * facilitator. Above the lines of the gate (admission.ts) by far, so that those decide who waits; this keeps a flood from
 * spending the process on requests that would be refused a few steps later, and bounds its memory.
 */
const REQUESTS_AT_ONCE_MAX = 2_048;
const RETRY_AFTER_SECONDS = 2;
const REQUESTS_FULL: FailureContext = {
  detail: 'This process has as many requests as it can hold. Nothing was run or charged.',
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};
/** What a connection beyond the cap is answered. */
export const CONNECTIONS_FULL: FailureContext = {
  detail: 'This process has as many connections as it can hold. Nothing was run or charged.',
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};
/** What tells an operator how the process is must be answered above all when it is not well. */
const ALWAYS_ANSWERED: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

export interface SheddingOptions {
  readonly atOnceMax?: number;
  /** Absent where connections are not capped. */
  readonly cap?: ConnectionCap;
}

/**
 * Refuses with `overloaded`, before anything is read or counted, what comes while `atOnceMax` requests are not answered yet, and
 * what comes over a connection beyond the cap.
 */
export function installLoadShedding(
  app: FastifyInstance,
  { atOnceMax = REQUESTS_AT_ONCE_MAX, cap }: SheddingOptions = {},
): void {
  let underWay = 0;
  app.addHook('onRequest', (request, reply, done) => {
    const isBeyondCap = cap?.isBeyond(request.raw.socket) ?? false;
    if (isBeyondCap) reply.header('connection', 'close');
    if ((isBeyondCap || underWay >= atOnceMax) && !ALWAYS_ANSWERED.has(request.routeOptions.url ?? ''))
      return done(fail('overloaded', isBeyondCap ? CONNECTIONS_FULL : REQUESTS_FULL));
    underWay += 1;
    // Of every answer, complete or not, exactly once.
    reply.raw.once('close', () => {
      underWay -= 1;
    });
    done();
  });
}
