import type { RateStore } from '../store.ts';
import type { RedisConnection } from './connection.ts';
import { listOf, numberOf } from './decode.ts';
import type { Slots } from './slots.ts';

/**
 * How much longer than its window Redis keeps a counter, by its own clock. The window itself is measured by the caller's; this
 * only frees memory, so it is generous.
 */
const KEEP_LONGER_MS = 60_000;

export function redisRates(redis: RedisConnection, slots: Slots): RateStore {
  return {
    take: async ({ key, limit, windowSeconds, nowMs }) => {
      const windowMs = windowSeconds * 1_000;
      const values = [nowMs, windowMs, windowMs + KEEP_LONGER_MS];
      const [count, opened] = listOf(await redis.script('takeRate', [slots.rate(key)], values));
      const taken = numberOf(count);
      const leftMs = numberOf(opened) + windowMs - nowMs;
      return {
        allowed: taken <= limit,
        limit,
        remaining: Math.max(0, limit - taken),
        resetSeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
      };
    },
    giveBack: async ({ key, windowSeconds, takenAtMs }) => {
      await redis.script('giveBackRate', [slots.rate(key)], [takenAtMs, windowSeconds * 1_000]);
    },
  };
}
