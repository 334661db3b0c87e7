import { expect, test } from 'vitest';
import { createAdaptiveWindow } from '../../../ingest/chain/adaptive-window.ts';

const window = (maxBlocks = 2_000, firstBlocks = 100) =>
  createAdaptiveWindow({ maxBlocks, firstBlocks, targetLogs: 1_000, targetMs: 1_000 });

test('a quick and empty window doubles the next one, up to the maximum', () => {
  const adaptive = window(300);
  adaptive.observe({ blocks: 100, logs: 0, elapsedMs: 10 });
  expect(adaptive.size()).toBe(200);
  adaptive.observe({ blocks: 200, logs: 0, elapsedMs: 10 });
  expect(adaptive.size()).toBe(300);
});

test('a window with too many logs shrinks in proportion', () => {
  const adaptive = window();
  adaptive.observe({ blocks: 100, logs: 2_000, elapsedMs: 10 });
  expect(adaptive.size()).toBe(50);
});

test('a slow window shrinks in proportion, at most to a quarter at once', () => {
  const adaptive = window();
  adaptive.observe({ blocks: 100, logs: 1, elapsedMs: 2_000 });
  expect(adaptive.size()).toBe(50);
  adaptive.observe({ blocks: 50, logs: 1, elapsedMs: 1_000_000 });
  expect(adaptive.size()).toBe(12);
});

test('a refusal halves what was asked and that size is not tried again for a good while', () => {
  const adaptive = window();
  adaptive.shrink(100);
  expect(adaptive.size()).toBe(50);
  for (let round = 0; round < 50; round++)
    adaptive.observe({ blocks: adaptive.size(), logs: 0, elapsedMs: 1 });
  expect(adaptive.size()).toBe(99);
  for (let round = 0; round < 200; round++)
    adaptive.observe({ blocks: adaptive.size(), logs: 0, elapsedMs: 1 });
  expect(adaptive.size()).toBeGreaterThan(99);
});

test('a window cut short by the end of the range does not make the next one small', () => {
  const adaptive = window();
  adaptive.observe({ blocks: 3, logs: 0, elapsedMs: 5 });
  expect(adaptive.size()).toBe(100);
});

test('the size never leaves 1 to the maximum', () => {
  const adaptive = window(10, 64);
  expect(adaptive.size()).toBe(10);
  for (let round = 0; round < 20; round++) adaptive.shrink(1);
  expect(adaptive.size()).toBe(1);
});
