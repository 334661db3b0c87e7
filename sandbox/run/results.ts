import { finished, type Readable } from 'node:stream';
import { SandboxBusy } from '../sandbox.ts';

/**
 * Results that wait in the engine until they are read. They hold no place, so they are counted here: a caller who asks for more than
 * it reads has to come again later, and a result that is not read in time is destroyed.
 */
export interface UnreadResults {
  /** Throws `SandboxBusy` where there are too many, of all callers or of this one. */
  check(caller: string): void;
  /** Until its end, its destruction, or the time that reading may take. */
  watch(caller: string, body: Readable): void;
}

export interface UnreadLimits {
  readonly max: number;
  readonly maxPerCaller: number;
  readonly readMaxMs: number;
  readonly retryAfterSeconds: number;
}

export function createUnreadResults(limits: UnreadLimits): UnreadResults {
  const unread = new Map<Readable, string>();
  return {
    check(caller) {
      const own = [...unread.values()].filter((one) => one === caller).length;
      if (unread.size >= limits.max || own >= limits.maxPerCaller)
        throw new SandboxBusy(limits.retryAfterSeconds);
    },
    watch(caller, body) {
      unread.set(body, caller);
      const timer = setTimeout(
        () => body.destroy(new Error('the result was not read in time')),
        limits.readMaxMs,
      );
      finished(body, () => {
        clearTimeout(timer);
        unread.delete(body);
      });
    },
  };
}

/**
 * Which results the engine keeps in memory until they are read, and which in a file. Writing and reading the file is a fifth of the
 * work on a large result; the memory counts as the query's own, so few results may use it at once.
 */
export interface HeldResults {
  /** Null when all slots are taken: the result goes to a file. */
  take(): HeldResult | null;
}

export interface HeldResult {
  /** At the result's end or destruction. */
  freeWith(body: Readable): void;
  /** There is no result. */
  free(): void;
}

export function createHeldResults(max: number): HeldResults {
  let held = 0;
  return {
    take() {
      if (held >= max) return null;
      held += 1;
      let isFree = false;
      const free = (): void => {
        if (!isFree) held -= 1;
        isFree = true;
      };
      return { free, freeWith: (body) => void finished(body, free) };
    },
  };
}
