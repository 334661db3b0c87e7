import { expect, test } from 'vitest';
import { createMemoryRates } from '../../../src/accounts/memory-rates.ts';

test('a flood of keys cannot grow the table: keys unseen for long are forgotten', async () => {
  const rates = createMemoryRates(4);
  const take = async (key: string): Promise<number> => {
    const { remaining } = await rates.take({ key, limit: 9, windowSeconds: 60, nowMs: 1 });
    return remaining;
  };
  expect(await take('old')).toBe(8);
  expect(await take('kept')).toBe(8);
  expect(await take('old')).toBe(7);
  expect(await take('new')).toBe(8);
  expect(await take('old')).toBe(6);
  expect(await take('kept')).toBe(8);
});
