import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { withDeadline } from '../../../core/process/deadline.ts';

/** Rejects with the reason once the signal aborts. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason));
  });

test('work that takes too long is aborted with a TimeoutError, and the deadline says so', async () => {
  const over: boolean[] = [];
  const work = withDeadline(5, undefined, ({ signal, isOver }) =>
    untilAborted(signal).finally(() => over.push(isOver())),
  );
  await expect(work).rejects.toMatchObject({ name: 'TimeoutError' });
  expect(over).toEqual([true]);
});

test('the outer signal aborts the work with its own reason, also when it aborted before', async () => {
  const outer = new AbortController();
  const work = withDeadline(60_000, outer.signal, ({ signal }) => untilAborted(signal));
  outer.abort(new Error('the process stops'));
  await expect(work).rejects.toThrow('the process stops');
  await expect(withDeadline(60_000, outer.signal, ({ signal }) => untilAborted(signal))).rejects.toThrow(
    'the process stops',
  );
});

test('nothing stays registered at the outer signal when the work has ended', async () => {
  const outer = new AbortController();
  expect(await withDeadline(60_000, outer.signal, async () => 7)).toBe(7);
  await expect(withDeadline(60_000, outer.signal, () => Promise.reject(new Error('no')))).rejects.toThrow(
    'no',
  );
  expect(getEventListeners(outer.signal, 'abort')).toEqual([]);
});
