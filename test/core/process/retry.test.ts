import { expect, test } from 'vitest';
import { backOffMs, pauseUntil, retry } from '../../../core/process/retry.ts';

test('an attempt is repeated until it succeeds, and the pauses know how often it failed', async () => {
  const seen: number[] = [];
  const answer = await retry(async () => (seen.length < 2 ? Promise.reject(new Error('not yet')) : 'done'), {
    pauseMs: (_, failures) => {
      seen.push(failures);
      return 0;
    },
  });
  expect(answer).toBe('done');
  expect(seen).toEqual([1, 2]);
});

test('no pause means that the error itself is thrown', async () => {
  const error = new Error('broken');
  await expect(retry(() => Promise.reject(error), { pauseMs: () => null })).rejects.toBe(error);
});

test('an abort ends a pause, and no attempt begins after it', async () => {
  const stopping = new AbortController();
  let attempts = 0;
  const work = retry(
    () => {
      attempts++;
      return Promise.reject(new Error('not yet'));
    },
    {
      signal: stopping.signal,
      pauseMs: () => {
        setImmediate(() => stopping.abort());
        return 60_000;
      },
    },
  );
  await expect(work).rejects.toMatchObject({ name: 'AbortError' });
  expect(attempts).toBe(1);
});

test('back-off doubles up to its maximum and stays between half and the whole of it', () => {
  for (const [failures, fullMs] of [
    [1, 100],
    [2, 200],
    [4, 800],
    [5, 1_000],
    [40, 1_000],
  ] as const) {
    const ms = backOffMs(failures, { firstMs: 100, maxMs: 1_000 });
    expect(ms).toBeGreaterThanOrEqual(fullMs / 2);
    expect(ms).toBeLessThanOrEqual(fullMs);
  }
});

test('attempts end at their deadline', () => {
  expect(pauseUntil(performance.now() + 60_000, 5)).toBe(5);
  expect(pauseUntil(performance.now() - 1, 5)).toBeNull();
});
