import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  createPlaces,
  LeftQueue,
  NoPlace,
  type Place,
  type PlaceLimits,
} from '../../../core/process/places.ts';

const LIMITS: PlaceLimits = {
  cores: 2,
  all: 2,
  heavy: 1,
  waitingMax: 6,
  waitingMaxPerCaller: 3,
  waitMaxMs: 1_000,
  retryAfterSeconds: 7,
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Takes places and remembers who got one, in order. */
function stage(limits: Partial<PlaceLimits> = {}) {
  const places = createPlaces({ ...LIMITS, ...limits });
  const served: string[] = [];
  const held = new Map<string, Place>();
  const take = (name: string, { heavy = false, signal = new AbortController().signal } = {}) => {
    const taken = places.take({ caller: name.replace(/\d+$/, ''), heavy }, signal).then((place) => {
      served.push(name);
      held.set(name, place);
    });
    taken.catch(() => undefined);
    return taken;
  };
  const join = (...wanted: Parameters<typeof take>): void => void take(...wanted);
  const leave = async (name: string): Promise<void> => {
    held.get(name)?.leave();
    await settled();
  };
  const threadsOf = (name: string): number | undefined => held.get(name)?.threads;
  return { served, join, take, leave, threadsOf };
}

/** Lets the callbacks of decisions made so far run. */
const settled = (): Promise<unknown> => vi.advanceTimersByTimeAsync(0);

describe('places', () => {
  test('are given at once while there are any, and then as they become free', async () => {
    const { served, join, leave } = stage();
    for (const name of ['a1', 'a2', 'a3']) join(name);
    await settled();
    expect(served).toEqual(['a1', 'a2']);
    await leave('a1');
    expect(served).toEqual(['a1', 'a2', 'a3']);
  });

  test('a caller with a long line does not keep the others waiting behind it', async () => {
    const { served, join, leave } = stage({ all: 1 });
    for (const name of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'b2']) join(name);
    await settled();
    while (served.length < 7) await leave(served.at(-1) ?? '');
    expect(served).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
  });

  test('a caller who always comes back does not overtake one who waits', async () => {
    const { served, join, leave } = stage({ all: 1 });
    join('b1');
    join('a1');
    await settled();
    await leave('b1');
    join('b2');
    join('a2');
    await leave('a1');
    join('b3');
    await leave(served.at(-1) ?? '');
    await leave(served.at(-1) ?? '');
    expect(served).toEqual(['b1', 'a1', 'b2', 'a2', 'b3']);
  });

  test('callers who come new do not overtake one who waits', async () => {
    const { served, join, leave } = stage({ all: 1 });
    for (const name of ['a1', 'a2', 'a3', 'b1']) join(name);
    await settled();
    await leave('a1');
    await leave('a2');
    join('c1');
    await leave('b1');
    expect(served).toEqual(['a1', 'a2', 'b1', 'a3']);
  });

  test('heavy ones never take the last place, and light ones pass them', async () => {
    const { served, join, leave } = stage();
    join('a1', { heavy: true });
    join('b1', { heavy: true });
    join('c1');
    await settled();
    expect(served).toEqual(['a1', 'c1']);
    await leave('c1');
    join('d1');
    await settled();
    expect(served).toEqual(['a1', 'c1', 'd1']);
    await leave('a1');
    expect(served.at(-1)).toBe('b1');
  });

  test('a place that is left twice is free once', async () => {
    const { served, join, leave } = stage({ all: 1 });
    for (const name of ['a1', 'a2', 'a3']) join(name);
    await settled();
    await leave('a1');
    await leave('a1');
    expect(served).toEqual(['a1', 'a2']);
  });
});

describe('the queue', () => {
  test('is bounded, for all and for each', async () => {
    const { join, take } = stage({ all: 1 });
    for (const name of ['a1', 'a2', 'a3', 'a4']) join(name);
    await expect(take('a5')).rejects.toBeInstanceOf(NoPlace);
    for (const name of ['b1', 'b2', 'b3']) join(name);
    await expect(take('c1')).rejects.toMatchObject({ retryAfterSeconds: 7 });
  });

  test('lets no caller wait for longer than the limit', async () => {
    const { served, join, take, leave } = stage({ all: 1 });
    join('a1');
    const late = take('a2');
    await vi.advanceTimersByTimeAsync(999);
    const later = take('a3');
    await vi.advanceTimersByTimeAsync(1);
    await expect(late).rejects.toBeInstanceOf(NoPlace);
    await leave('a1');
    await later;
    expect(served).toEqual(['a1', 'a3']);
  });

  test('forgets who leaves while waiting, at no cost to them', async () => {
    const { served, join, take, leave } = stage({ all: 1 });
    const leaving = new AbortController();
    join('a1');
    const left = take('a2', { signal: leaving.signal });
    join('a3');
    leaving.abort();
    await expect(left).rejects.toBeInstanceOf(LeftQueue);
    await leave('a1');
    expect(served).toEqual(['a1', 'a3']);
  });
});

describe('threads', () => {
  test('a query alone gets every core, and the next ones the cores that are idle, at least one', async () => {
    const { join, threadsOf } = stage({ cores: 3, all: 4 });
    for (const name of ['a1', 'b1']) join(name);
    await settled();
    expect(threadsOf('a1')).toBe(3);
    expect(threadsOf('b1')).toBe(2);
    for (const name of ['c1', 'd1']) join(name);
    await settled();
    expect([threadsOf('c1'), threadsOf('d1')]).toEqual([1, 1]);
  });

  test('a query has one thread while others wait', async () => {
    const { join, leave, threadsOf } = stage({ cores: 2, all: 1 });
    for (const name of ['a1', 'b1', 'c1']) join(name);
    await settled();
    await leave('a1');
    expect(threadsOf('b1')).toBe(1);
    await leave('b1');
    expect(threadsOf('c1')).toBe(2);
  });

  test('a burst may wait, but a queue that does not empty is kept as short as the wait that it may cost', async () => {
    const standing = { afterMs: 1_000, waitMaxMs: 500 };
    const { join, served, leave, take } = stage({
      all: 1,
      waitingMax: 100,
      waitingMaxPerCaller: 100,
      waitMaxMs: 60_000,
      standing,
    });
    for (let n = 1; n <= 20; n++) join(`a${n}`);
    for (let n = 1; n <= 11; n++) {
      await vi.advanceTimersByTimeAsync(100); // a place every tenth of a second
      await leave(`a${n}`);
    }
    expect(served).toHaveLength(12);
    await expect(take('a99')).rejects.toThrow(NoPlace); // eight are before it
    join('b1'); // one is before it
    for (const name of ['a12', 'a13']) {
      await vi.advanceTimersByTimeAsync(100);
      await leave(name);
    }
    expect(served.at(-1)).toBe('b1');
    // The engine hangs, and the place is not left.
    await vi.advanceTimersByTimeAsync(600);
    await expect(take('c1')).rejects.toThrow(NoPlace);
  });
});
