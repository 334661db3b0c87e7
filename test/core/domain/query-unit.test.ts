import { expect, test } from 'vitest';
import { quForMilliseconds } from '../../../core/domain/plan.ts';

test.each([
  [0, 1],
  [1, 1],
  [5_000, 1],
  [5_001, 2],
  [14_999.5, 3],
  [300_000, 60],
])('%d ms cost %d QU: one per started five seconds, at least one', (milliseconds, units) => {
  expect(quForMilliseconds(milliseconds)).toBe(units);
});
