import { describe, expect, test } from 'vitest';
import { createTurns } from '../../../../src/operations/graph/read.ts';

const LIMITS = {
  resource: 'graph' as const,
  atOnceMax: 1,
  waitingMax: 2,
  waitMaxMs: 60_000,
  retryAfterSeconds: 5,
};

function gate(): { readonly opened: Promise<void>; open(): void } {
  const { promise, resolve } = withResolvers();
  return { opened: promise, open: resolve };
}

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const refused = {
  code: 'upstream_unavailable',
  context: { resource: 'graph', retryAfterSeconds: 5 },
};

describe('turns', () => {
  test('work runs one at a time, in the order of asking', async () => {
    const turns = createTurns(LIMITS);
    const log: string[] = [];
    const first = gate();
    const work = (name: string, until: Promise<void>) => () => {
      log.push(`${name} starts`);
      return until.then(() => log.push(`${name} ends`));
    };
    const all = [
      turns.take(work('a', first.opened)),
      turns.take(work('b', Promise.resolve())),
      turns.take(work('c', Promise.resolve())),
    ];
    first.open();
    await Promise.all(all);
    expect(log).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
  });

  test('work that fails gives its turn on', async () => {
    const turns = createTurns(LIMITS);
    const failing = turns.take(() => Promise.reject(new Error('broken')));
    const next = turns.take(() => Promise.resolve('done'));
    await expect(failing).rejects.toThrow('broken');
    expect(await next).toBe('done');
    expect(await turns.take(() => Promise.resolve('free again'))).toBe('free again');
  });

  test('who comes when the line is full is refused at once', async () => {
    const turns = createTurns({ ...LIMITS, waitingMax: 1 });
    const first = gate();
    const running = turns.take(() => first.opened);
    const waiting = turns.take(() => Promise.resolve('had its turn'));
    await expect(turns.take(() => Promise.resolve())).rejects.toMatchObject(refused);
    first.open();
    await running;
    expect(await waiting).toBe('had its turn');
  });

  test('who waits too long is refused, and is not served later', async () => {
    const turns = createTurns({ ...LIMITS, waitMaxMs: 1 });
    const first = gate();
    const running = turns.take(() => first.opened);
    let served = false;
    const waiting = turns.take(async () => {
      served = true;
    });
    await expect(waiting).rejects.toMatchObject(refused);
    first.open();
    await running;
    await turns.take(() => Promise.resolve());
    expect(served).toBe(false);
  });
});
