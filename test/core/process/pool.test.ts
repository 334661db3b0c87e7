import { expect, test } from 'vitest';
import { runPool } from '../../../core/process/pool.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('every item is worked on, in order, never more than the width at once', async () => {
  const begun: number[] = [];
  let running = 0;
  let most = 0;
  await runPool([1, 2, 3, 4, 5], { width: 2 }, async (item) => {
    begun.push(item);
    most = Math.max(most, ++running);
    await turn();
    running--;
  });
  expect(begun).toEqual([1, 2, 3, 4, 5]);
  expect(most).toBe(2);
});

test('after a failure nothing more begins, and it is thrown when all running work has ended', async () => {
  const ended: number[] = [];
  const begun: number[] = [];
  const work = runPool([1, 2, 3, 4], { width: 2 }, async (item, signal) => {
    begun.push(item);
    if (item === 1) throw new Error('broken');
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    await turn();
    ended.push(item);
    throw new Error('stopped'); // follows from the abort: not the reported error
  });
  await expect(work).rejects.toThrow('broken');
  expect(begun).toEqual([1, 2]);
  expect(ended).toEqual([2]);
});

test('an aborted signal is thrown, and nothing begins after it', async () => {
  const stopping = new AbortController();
  const begun: number[] = [];
  const work = runPool([1, 2, 3], { width: 1, signal: stopping.signal }, async (item) => {
    begun.push(item);
    stopping.abort(new Error('the process stops'));
  });
  await expect(work).rejects.toThrow('the process stops');
  expect(begun).toEqual([1]);
});
