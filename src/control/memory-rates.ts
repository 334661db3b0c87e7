import type { RateStore } from './control-store.ts';

/** About 10 MB. The key unseen for longest is forgotten first, so a flood of addresses cannot grow the table. */
const KEYS_MAX = 50_000;

interface Window {
  readonly endsMs: number;
  taken: number;
}

/** Fixed windows in this process's memory: shared by nobody else, and forgotten when it ends. */
export function createMemoryRates(keysMax = KEYS_MAX): RateStore {
  const windows = new Map<string, Window>();
  return {
    take: async ({ key, limit, windowSeconds, nowMs }) => {
      const known = windows.get(key);
      const window =
        known && known.endsMs > nowMs ? known : { endsMs: nowMs + windowSeconds * 1_000, taken: 0 };
      window.taken += 1;
      // A Map keeps insertion order: taking the key out and in again makes the first key the one unseen for longest.
      windows.delete(key);
      windows.set(key, window);
      if (windows.size > keysMax) forgetOldest(windows);
      return {
        allowed: window.taken <= limit,
        limit,
        remaining: Math.max(0, limit - window.taken),
        resetSeconds: Math.max(1, Math.ceil((window.endsMs - nowMs) / 1_000)),
      };
    },
  };
}

function forgetOldest(windows: Map<string, unknown>): void {
  const oldest = windows.keys().next();
  if (!oldest.done) windows.delete(oldest.value);
}
