import { expect, test } from 'vitest';
import { createRateLimit } from '../../../../ingest/chain/rpc/limits.ts';

test('calls are spaced so that no more than the permitted number starts per second', async () => {
  const limit = createRateLimit(1_000);
  const startedMs = performance.now();
  for (let batch = 0; batch < 5; batch++) await limit.take(20, undefined);
  // Four batches of 20 had to pass before the fifth: 80 ms at 1,000 a second. Timers may end a millisecond early.
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(78);
});

test('the first call after a pause does not wait, and idling saves up no burst', async () => {
  let nowMs = 0;
  const limit = createRateLimit(100, () => nowMs);
  await limit.take(1, undefined);
  nowMs = 60_000;
  await limit.take(1, undefined);
  const ending = AbortSignal.abort(new Error('no burst'));
  await expect(limit.take(1, ending)).rejects.toThrow();
});

test('an abort ends the wait', async () => {
  const limit = createRateLimit(1);
  await limit.take(100, undefined);
  const ending = new AbortController();
  const waiting = limit.take(1, ending.signal);
  ending.abort();
  await expect(waiting).rejects.toThrow();
});
