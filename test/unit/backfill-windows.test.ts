import { expect, test } from 'vitest';
import { backfill } from '../../ingest/backfill.ts';
import type { BlockRange } from '../../ingest/coverage.ts';
import type { ReadBatch } from '../../ingest/pipeline.ts';
import type { Hash } from '../../src/domain/settlement.ts';

const FIRST = 1_000;
const LAST = 1_999;
const SIZE = 200;
const READERS = 4;
const HASH = `0x${'ab'.repeat(32)}` as Hash;

/** Every window that a backfill of a thousand blocks read, in order, at one size of windows. */
async function windowsRead(): Promise<BlockRange[]> {
  const windows: BlockRange[] = [];
  await backfill(
    {
      config: { logWindowMax: SIZE, parallelWindows: READERS },
      pipeline: {
        async read(from: number, to: number) {
          windows.push({ from, to });
          const last = { number: to, hash: HASH, parentHash: HASH, time: 1 };
          return { from, to, blocks: [last], logs: [], transactions: new Map() } as unknown as ReadBatch; // nothing else is read of it
        },
        store: async () => undefined,
      } as unknown as Parameters<typeof backfill>[0]['pipeline'], // the two it calls
      checkpoints: { saveBackfill: async () => undefined },
      status: { backfill: () => undefined },
      acknowledged: (attempt) => attempt(),
      signal: new AbortController().signal,
      adaptive: { size: () => SIZE, observe: () => undefined, shrink: () => undefined },
    },
    [{ from: FIRST, to: LAST }],
    0,
  );
  return windows;
}

const sizeOf = ({ from, to }: BlockRange): number => to - from + 1;

test('windows are of the asked size while there is work for every reader, then smaller, down to a quarter', async () => {
  const sizes = (await windowsRead()).map(sizeOf);
  expect(sizes[0]).toBe(SIZE);
  expect(Math.min(...sizes.slice(0, -1))).toBe(SIZE / 4);
  let left = LAST - FIRST + 1;
  for (const size of sizes) {
    expect(size).toBeLessThanOrEqual(Math.max(Math.ceil(left / READERS), SIZE / 4));
    left -= size;
  }
});

test('every block is read once, newest first', async () => {
  const windows = await windowsRead();
  expect(windows[0]?.to).toBe(LAST);
  for (const [at, window] of windows.entries())
    expect(windows[at + 1]?.to ?? FIRST - 1).toBe(window.from - 1);
});
