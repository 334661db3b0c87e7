import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { fail } from '../../core/errors.ts';

/**
 * How long a stopping process still answers. Each of these answers closes its connection: a request in flight on a connection that
 * the server closed by itself would be lost, and its sender could not know whether it was charged.
 */
export const DRAIN_MS = 1_000;
const RETRY_AFTER_SECONDS = 2;

/** The shutdown of a process. */
export interface Drain {
  /** Every answer from now on ends its connection, and `/readyz` is 503. Idempotent. */
  begin(): void;
  isBegun(): boolean;
  /** Resolves when callers have had their time; begins the drain where it has not begun. */
  over(): Promise<void>;
}

export function createDrain(drainMs = DRAIN_MS): Drain {
  let done: Promise<void> | undefined;
  const begin = (): Promise<void> => {
    done ??= sleep(drainMs);
    return done;
  };
  return { begin: () => void begin(), isBegun: () => done !== undefined, over: begin };
}

export function installDrain(app: FastifyInstance, drain: Drain): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!drain.isBegun()) return done();
    reply.header('connection', 'close');
    const asksForReadiness = request.routeOptions.url === '/readyz';
    done(
      asksForReadiness
        ? fail('overloaded', { detail: 'This process is stopping.', retryAfterSeconds: RETRY_AFTER_SECONDS })
        : undefined,
    );
  });
}
