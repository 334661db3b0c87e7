import type { Clock } from '../../../core/clock.ts';

/**
 * One value, loaded at most once per `maxAgeMs` and never twice at the same time: a thousand requests in a second cost one
 * query. A failed load is not kept; everybody who waited for it gets the error, the next caller tries again.
 */
export function cached<Value>(options: {
  readonly clock: Clock;
  readonly maxAgeMs: number;
  /** False for a value that must not be kept, for example "nothing yet". */
  readonly keep?: (value: Value) => boolean;
  readonly load: () => Promise<Value>;
}): () => Promise<Value> {
  const { clock, maxAgeMs, load, keep = () => true } = options;
  let kept: { readonly value: Value; readonly atMs: number } | undefined;
  let underWay: Promise<Value> | undefined;

  const loadOnce = async (): Promise<Value> => {
    const atMs = clock.nowMs();
    try {
      const value = await load();
      kept = keep(value) ? { value, atMs } : undefined;
      return value;
    } finally {
      underWay = undefined;
    }
  };

  return () => {
    if (kept !== undefined && Math.abs(clock.nowMs() - kept.atMs) < maxAgeMs)
      return Promise.resolve(kept.value);
    underWay ??= loadOnce();
    return underWay;
  };
}
