import { LRUCache } from 'lru-cache';
import { SandboxBusy } from '../sandbox.ts';

/** Engine time that each caller has for questions that are free, in a window that begins with the first one. */
export interface FreeTime {
  /** Throws `SandboxBusy` (`free_time`) for a caller that used its time. */
  check(caller: string): void;
  use(caller: string, ms: number): void;
}

export interface FreeTimeLimits {
  readonly maxMs: number;
  readonly windowMs: number;
  /** Callers that are remembered; the one that asked longest ago begins anew. */
  readonly callersMax: number;
}

export function createFreeTime({ maxMs, windowMs, callersMax }: FreeTimeLimits): FreeTime {
  const windows = new LRUCache<string, { usedMs: number; readonly endsAt: number }>({ max: callersMax });
  const current = (caller: string) => {
    const known = windows.get(caller);
    const now = performance.now();
    if (known !== undefined && known.endsAt > now) return known;
    const begun = { usedMs: 0, endsAt: now + windowMs };
    windows.set(caller, begun);
    return begun;
  };
  return {
    check(caller) {
      const { usedMs, endsAt } = current(caller);
      if (usedMs <= maxMs) return;
      throw new SandboxBusy(Math.max(1, Math.ceil((endsAt - performance.now()) / 1_000)), 'free_time');
    },
    use(caller, ms) {
      current(caller).usedMs += ms;
    },
  };
}
