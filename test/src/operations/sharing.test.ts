import { describe, expect, test } from 'vitest';
import { createSharing } from '../../../src/operations/sharing.ts';

/** Work that ends when the test says so. */
function createWork() {
  const begun: { resolve(value: string): void; reject(error: Error): void; stopped(): AbortSignal }[] = [];
  return {
    begun,
    begin: (stopped: () => AbortSignal) =>
      new Promise<string>((resolve, reject) => {
        begun.push({ resolve, reject, stopped });
      }),
  };
}

describe('work under one name', () => {
  test('is done once for all who ask while it is under way, and again for who asks afterwards', async () => {
    const sharing = createSharing({ joinMaxMs: 1e9 });
    const { begin, begun } = createWork();
    const asked = [1, 2, 3].map(() => sharing.join('a', begin));
    const other = sharing.join('b', begin);
    expect(begun).toHaveLength(2);
    begun[0]?.resolve('first');
    expect(await Promise.all(asked)).toEqual(['first', 'first', 'first']);
    const again = sharing.join('a', begin);
    expect(begun).toHaveLength(3);
    begun[1]?.resolve('other');
    begun[2]?.resolve('second');
    expect([await other, await again]).toEqual(['other', 'second']);
  });

  test('fails for all who wait for it, and is not kept', async () => {
    const sharing = createSharing({ joinMaxMs: 1e9 });
    const { begin, begun } = createWork();
    const asked = [sharing.join('a', begin), sharing.join('a', begin)];
    begun[0]?.reject(new Error('away'));
    expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const again = sharing.join('a', begin);
    begun[1]?.resolve('there');
    expect(await again).toBe('there');
  });

  test('is not joined once it is older than a result may be', async () => {
    const sharing = createSharing({ joinMaxMs: -1 });
    const { begin, begun } = createWork();
    const asked = [sharing.join('a', begin), sharing.join('a', begin)];
    expect(begun).toHaveLength(2);
    begun[1]?.resolve('new');
    begun[0]?.resolve('old');
    expect(await Promise.all(asked)).toEqual(['old', 'new']);
  });
});

describe('a caller who leaves', () => {
  test('is rejected alone, and the work goes on for the others', async () => {
    const sharing = createSharing({ joinMaxMs: 1e9 });
    const { begin, begun } = createWork();
    const leaving = new AbortController();
    const first = sharing.join('a', begin, leaving.signal);
    const second = sharing.join('a', begin, new AbortController().signal);
    const stopped = begun[0]?.stopped();
    leaving.abort(new Error('left'));
    await expect(first).rejects.toThrow('left');
    expect(stopped?.aborted).toBe(false);
    begun[0]?.resolve('done');
    expect(await second).toBe('done');
  });

  test('stops the work when no other waits for it, and the next one begins anew', async () => {
    const sharing = createSharing({ joinMaxMs: 1e9 });
    const { begin, begun } = createWork();
    const leaving = [new AbortController(), new AbortController()];
    const asked = leaving.map(({ signal }) => sharing.join('a', begin, signal));
    for (const one of leaving) one.abort(new Error('left'));
    expect((await Promise.allSettled(asked)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    // Also where the work asks for its signal only then.
    expect(begun[0]?.stopped().aborted).toBe(true);
    const next = sharing.join('a', begin);
    expect(begun).toHaveLength(2);
    begun[0]?.reject(new Error('aborted'));
    begun[1]?.resolve('done');
    expect(await next).toBe('done');
  });
});
