import { expect, test } from 'vitest';
import { waitWhileItProgresses } from '../../../core/process/standstill.ts';

const STANDSTILL_MS = 300;

test('work that makes progress is waited for, however long it takes in all', async () => {
  let steps = 0;
  const startedMs = performance.now();
  const look = async () => ({ done: performance.now() - startedMs > 3 * STANDSTILL_MS, at: `${steps++}` });
  await waitWhileItProgresses('it is done', look, STANDSTILL_MS);
  expect(performance.now() - startedMs).toBeGreaterThan(3 * STANDSTILL_MS);
});

test.each([
  ['stands still', ['block 7']],
  ['goes round in circles', ['block 8', 'block 9', 'block 7']],
])('work that %s is given up, and the error tells where it stands', async (_, places) => {
  let looks = 0;
  const look = async () => ({ done: false, at: places[looks++ % places.length] ?? '' });
  await expect(waitWhileItProgresses('the end', look, STANDSTILL_MS)).rejects.toThrow(
    /until the end: 300 ms without progress, at: block [789]$/,
  );
});

test('a look that fails is no progress, and the error tells why it failed', async () => {
  const gone = new Error('no answer');
  const waiting = waitWhileItProgresses('the end', () => Promise.reject(gone), STANDSTILL_MS);
  await expect(waiting).rejects.toMatchObject({ cause: gone });
});
