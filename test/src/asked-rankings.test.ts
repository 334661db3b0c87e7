import { expect, test } from 'vitest';
import type { Statement } from '../../clickhouse/engine/engine.ts';
import { trustedText } from '../../clickhouse/engine/sql.ts';
import { WINDOWS } from '../../core/domain/window.ts';
import { createRankingsRead, tellingReader } from '../../src/asked-rankings.ts';
import { readPass } from '../../src/operations/rankings/passes.ts';
import { testClock } from '../kit/api.ts';

test('the worker hears which ranking is read, once in five seconds, and believes it for ten minutes', async () => {
  const clock = testClock();
  const read = createRankingsRead(clock);
  const told: string[] = [];
  const reader = tellingReader(
    {
      rows: async (_statement: Statement) => ({ rows: [], readRows: 0, readBytes: 0, elapsedMs: 0 }),
      ping: async () => undefined,
      close: async () => undefined,
    },
    (line) => {
      told.push(line);
      read.hear(line);
    },
    clock,
  );
  const isRead = () => WINDOWS.filter(read.isRead);
  expect(isRead()).toEqual([]);
  await readPass(reader, '7d', 'wallets');
  await readPass(reader, '7d', 'wallets');
  await reader.rows({ name: 'flows', sql: trustedText('SELECT 1'), maxSeconds: 1, maxRows: 1 });
  expect(told).toHaveLength(1);
  expect(isRead()).toEqual(['7d']);
  clock.advanceSeconds(5);
  await readPass(reader, '7d', 'wallets');
  expect(told).toHaveLength(2);
  clock.advanceSeconds(599);
  expect(isRead()).toEqual(['7d']);
  clock.advanceSeconds(1);
  expect(isRead()).toEqual([]);
});

test('a line that is none of a ranking is passed over', () => {
  const read = createRankingsRead(testClock());
  for (const line of ['', 'ranking read 8d', 'ranking read 7d ', '7d']) read.hear(line);
  expect(WINDOWS.filter(read.isRead)).toEqual([]);
});
