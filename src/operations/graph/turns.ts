import type { Resource } from '../../../core/domain/resources.ts';
import { fail } from '../../../core/errors.ts';

/** Work that is done by few at a time; the others wait their turn, in order and not for ever. */
export interface Turns {
  /** Runs `work` when it is its turn. Throws `upstream_unavailable` naming `resource` when that takes too long. */
  take<Result>(work: () => Promise<Result>): Promise<Result>;
}

export interface TurnLimits {
  readonly resource: Resource;
  readonly atOnceMax: number;
  readonly waitingMax: number;
  readonly waitMaxMs: number;
  readonly retryAfterSeconds: number;
}

export function createTurns(limits: TurnLimits): Turns {
  let running = 0;
  const waiting: (() => void)[] = [];
  const full = () =>
    fail('upstream_unavailable', {
      detail: `Too many callers want this at once: ${limits.resource}.`,
      resource: limits.resource,
      retryAfterSeconds: limits.retryAfterSeconds,
    });

  const enter = (): Promise<void> => {
    if (running < limits.atOnceMax) {
      running += 1;
      return Promise.resolve();
    }
    if (waiting.length >= limits.waitingMax) return Promise.reject(full());
    return new Promise((resolve, reject) => {
      const start = (): void => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(full());
      }, limits.waitMaxMs);
      waiting.push(start);
    });
  };
  /** The turn goes to the next in line without being free in between. */
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) running -= 1;
    else next();
  };

  return {
    async take(work) {
      await enter();
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
}
