import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Hash } from '../../../core/domain/account.ts';
import { backfill } from '../../../ingest/follow/backfill.ts';
import type { ReadBatch } from '../../../ingest/follow/pipeline.ts';
import { NO_ROWS } from '../../../ingest/write/batch-rows.ts';
import type { BlockRange } from '../../../ingest/write/checkpoints.ts';

const FIRST = 1_000;
const LAST = 1_999;
const SIZE = 200;
const READERS = 4;
/** Long enough for everything that waits for nothing. */
const A_MOMENT_MS = 30;
const HASH = `0x${'ab'.repeat(32)}` as Hash;

/** Every window that a backfill of a thousand blocks read, in order, at one size of windows. */
async function windowsRead(): Promise<BlockRange[]> {
  const windows: BlockRange[] = [];
  await backfillInto(windows, { size: SIZE, store: async () => undefined });
  return windows;
}

/** Backfills a thousand blocks at one size of windows, and notes the windows as they are read. */
function backfillInto(
  windows: BlockRange[],
  { size, store }: { readonly size: number; readonly store: () => Promise<void> },
): Promise<void> {
  return backfill(
    {
      config: { logWindowMax: size, parallelWindows: READERS },
      pipeline: {
        async read(from: number, to: number) {
          windows.push({ from, to });
          const last = { number: to, hash: HASH, parentHash: HASH, time: 1 };
          return { from, to, blocks: [last], size: 0, rowsBy: () => NO_ROWS } satisfies ReadBatch;
        },
        store,
      } as unknown as Parameters<typeof backfill>[0]['pipeline'], // the two it calls
      checkpoints: { saveBackfill: async () => undefined },
      status: { backfill: () => undefined },
      acknowledged: (attempt) => attempt(),
      signal: new AbortController().signal,
      adaptive: { size: () => size, observe: () => undefined, shrink: () => undefined },
    },
    [{ from: FIRST, to: LAST }],
    0,
  );
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

test('readers stop when too many of their rows are not yet written', async () => {
  const windows: BlockRange[] = [];
  let written: () => void = () => undefined;
  const writing = new Promise<void>((resolve) => {
    written = resolve;
  });
  const done = backfillInto(windows, { size: 1, store: () => writing });
  await delay(A_MOMENT_MS);
  const before = windows.length;
  expect(before).toBeGreaterThan(READERS);
  expect(before).toBeLessThan(LAST - FIRST);
  await delay(A_MOMENT_MS);
  expect(windows.length).toBe(before);
  written();
  await done;
  expect(windows.length).toBe(LAST - FIRST + 1);
});

test('a write that must stop the worker ends the reading', async () => {
  const windows: BlockRange[] = [];
  const broken = new Error('cannot be encoded');
  await expect(backfillInto(windows, { size: 1, store: () => Promise.reject(broken) })).rejects.toBe(broken);
  expect(windows.length).toBeLessThan(LAST - FIRST);
});
