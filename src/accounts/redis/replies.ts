import type { ReplyStore } from '../store.ts';
import type { RedisConnection } from './connection.ts';
import { listOf, oneOf, textOf } from './decode.ts';
import type { Slots } from './slots.ts';

/**
 * How much longer than asked Redis keeps a reply, by its own clock. Whether it still counts is decided by the caller's time; this
 * only frees memory, and must not come early where the two clocks differ.
 */
const KEEP_LONGER_MS = 3_600_000;

export function redisReplies(redis: RedisConnection, slots: Slots): ReplyStore {
  return {
    begin: async ({ scope, key, requestDigest, nowMs, leaseUntilMs, keepUntilMs }) => {
      const keepMs = Math.max(0, keepUntilMs - nowMs) + KEEP_LONGER_MS;
      const values = [requestDigest, nowMs, leaseUntilMs, keepUntilMs, keepMs];
      const answer = listOf(await redis.script('beginReply', [slots.reply(scope, key)], values));
      const outcome = oneOf(['begun', 'done', 'running', 'conflict'], answer[0]);
      return outcome === 'done' ? { outcome, reply: textOf(answer[1]) } : { outcome };
    },
    finish: async ({ scope, key, reply }) => {
      const values = reply === null ? ['forget', ''] : ['keep', reply];
      await redis.script('finishReply', [slots.reply(scope, key)], values);
    },
  };
}
