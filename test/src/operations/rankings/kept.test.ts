import { expect, test } from 'vitest';
import { keepRankings, type Ranking } from '../../../../src/operations/rankings/kept.ts';
import { testClock } from '../../../kit/api.ts';

interface Numbered extends Ranking {
  readonly number: number;
}

/** Rankings of ten rows, numbered as they are read; a read ends when it is let. */
function numbered(rows = 10) {
  const clock = testClock();
  const reads: { readonly old: number | undefined; readonly end: () => void; readonly fail: () => void }[] =
    [];
  const kept = keepRankings<string, Numbered>({
    clock,
    depths: [rows],
    read: (_scope, _depth, old) =>
      new Promise((resolve, reject) => {
        const number = reads.length + 1;
        const end = () => resolve({ number, rankedAtMs: clock.nowMs(), size: rows, isComplete: true });
        reads.push({ old: old?.number, end, fail: () => reject(new Error('down')) });
      }),
    isCurrent: () => Promise.resolve(false),
  });
  const ask = async () => (await kept.reaching('all', 5)).number;
  const untilRead = async (count: number) => {
    while (reads.length < count) await new Promise(setImmediate);
    return reads[count - 1];
  };
  return { clock, ask, untilRead, reads };
}

test('callers that ask at the same time wait for one ranking', async () => {
  const { ask, untilRead, reads } = numbered();
  const asked = [ask(), ask()];
  (await untilRead(1))?.end();
  expect(await Promise.all(asked)).toEqual([1, 1]);
  expect(reads.length).toBe(1);
});

test('while a ranking is read anew callers get the one before, up to as long again as it is kept', async () => {
  const { clock, ask, untilRead, reads } = numbered();
  const first = ask();
  (await untilRead(1))?.end();
  await first;
  clock.advanceSeconds(10);
  expect(await Promise.all([ask(), ask()])).toEqual([1, 1]);
  const second = await untilRead(2);
  expect(second?.old).toBe(1);
  clock.advanceSeconds(10);
  const waiting = ask();
  second?.end();
  expect(await waiting).toBe(2);
  expect(reads.length).toBe(2);
});

test('a ranking that is twice as old as it is kept is not answered', async () => {
  const { clock, ask, untilRead } = numbered();
  const first = ask();
  (await untilRead(1))?.end();
  await first;
  clock.advanceSeconds(20);
  const second = ask();
  const read = await untilRead(2);
  expect(read?.old).toBeUndefined();
  read?.end();
  expect(await second).toBe(2);
});

test('where it cannot be read anew callers get the old one until it is too old, then the error', async () => {
  const { clock, ask, untilRead } = numbered();
  const first = ask();
  (await untilRead(1))?.end();
  await first;
  clock.advanceSeconds(15);
  expect(await ask()).toBe(1);
  (await untilRead(2))?.fail();
  await new Promise(setImmediate);
  expect(await ask()).toBe(1);
  const third = await untilRead(3);
  clock.advanceSeconds(5);
  const late = ask();
  third?.fail();
  await expect(late).rejects.toThrow('down');
});
