import { finished, type Readable } from 'node:stream';
import { SandboxBusy } from '../sandbox.ts';

/**
 * Results that wait in the engine until they are read: they hold no place, so they are counted here. A caller who asks for more
 * than it reads is told to come again, and nobody may take for ever.
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
