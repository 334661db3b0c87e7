import { expect, test } from 'vitest';
import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { createLog } from '../../../core/log.ts';
import { rankingPasses } from '../../../ingest/rankings/follow.ts';

test('the first ranking of a window that no caller reads leaves the engine alone for a minute', async () => {
  let nowMs = 0;
  const read = new Set<string>();
  const asked = (): never => {
    throw new Error('asked');
  };
  const [pass] = rankingPasses({
    writer: { rows: asked } as unknown as Writer, // nothing else is reached
    chains: [],
    log: createLog('fatal', 'test'),
    clock: { nowMs: () => nowMs },
    isRead: (window) => read.has(window),
  });
  const run = () => pass?.run(new AbortController().signal);
  expect(await run()).toBe('waiting');
  nowMs = 60_000;
  await expect(run()).rejects.toThrow('asked');
  nowMs = 0;
  read.add('24h');
  await expect(run()).rejects.toThrow('asked');
});
