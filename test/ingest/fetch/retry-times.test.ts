import { expect, test } from 'vitest';
import { CARD_TIMES, NEVER, refreshAt, retryAt } from '../../../ingest/fetch/retry-times.ts';

const NOW = 1_800_000_000;
const WEEK = 7 * 86_400;

test('a file that fails is tried after ten minutes, then twice as long each time, and once a week in the end', () => {
  const waits = [1, 2, 3, 10, 11, 12, 60_000].map(
    (failures) => retryAt(NOW, failures, CARD_TIMES, () => 0) - NOW,
  );
  expect(waits).toEqual([600, 1_200, 2_400, 307_200, WEEK, WEEK, WEEK]);
});

test('what failed together comes back spread over a fifth more, and never in the past', () => {
  expect(retryAt(NOW, 1, CARD_TIMES, () => 0.5) - NOW).toBe(660);
  expect(refreshAt(NOW, CARD_TIMES, () => 0.999) - NOW).toBeLessThanOrEqual(1.2 * 86_400);
  expect(refreshAt(NOW, CARD_TIMES, () => 0) - NOW).toBe(86_400);
  expect(NEVER).toBe(2 ** 32 - 1);
});
