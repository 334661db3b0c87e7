import type { RateStore } from './store.ts';

/** About 10 MB. Keys unseen for long are forgotten first, so a flood of addresses cannot grow the table. */
const KEYS_MAX = 50_000;

interface RateWindow {
  readonly endsMs: number;
  taken: number;
}

/** Fixed windows in the memory of this process: other processes count for themselves, and a restart forgets them. */
export function createMemoryRates(keysMax = KEYS_MAX): RateStore {
  const windows = createTable<string, RateWindow>(keysMax);
  return {
    take: async ({ key, limit, windowSeconds, nowMs }) => {
      let window = windows.get(key);
      if (window === undefined || window.endsMs <= nowMs) {
        window = { endsMs: nowMs + windowSeconds * 1_000, taken: 0 };
        windows.set(key, window);
      }
      window.taken += 1;
      return {
        allowed: window.taken <= limit,
        limit,
        remaining: Math.max(0, limit - window.taken),
        resetSeconds: Math.max(1, Math.ceil((window.endsMs - nowMs) / 1_000)),
      };
    },
  };
}

/**
 * At most `max` entries, in two Maps. When the newer one is full, it becomes the older one, and the older one is dropped with every
 * key that was not used since. An exact order of use would delete and set a key on every call, which makes a Map rebuild its
 * table every few calls.
 */
export function createTable<Key, Value>(max: number) {
  const half = Math.ceil(max / 2);
  let newer = new Map<Key, Value>();
  let older = new Map<Key, Value>();
  const set = (key: Key, value: Value): void => {
    newer.set(key, value);
    if (newer.size < half) return;
    older = newer;
    newer = new Map();
  };
  return {
    get(key: Key): Value | undefined {
      const value = newer.get(key);
      if (value !== undefined) return value;
      const kept = older.get(key);
      if (kept !== undefined) set(key, kept);
      return kept;
    },
    set,
  };
}
