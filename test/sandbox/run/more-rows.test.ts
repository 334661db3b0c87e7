import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { EngineError, type GuestQuery, type GuestResult } from '../../../clickhouse/engine/engine.ts';
import { withMore } from '../../../sandbox/run/more-rows.ts';

/** An engine that refuses a statement whose id it still has, as ClickHouse does until it has cleaned up behind its answer. */
function engineWithIds() {
  const ids = new Set<string>();
  const asked: GuestQuery[] = [];
  const query = async (wanted: GuestQuery): Promise<GuestResult> => {
    if (ids.has(wanted.queryId)) throw new EngineError('engine_refused', wanted.name, 216, null);
    ids.add(wanted.queryId);
    asked.push(wanted);
    const figures = {
      elapsedMs: 1,
      readRows: 5,
      readBytes: 40,
      memoryBytes: 1,
      resultRows: 5,
      resultBytes: 40,
    };
    const isNext = wanted.name === 'sql-more-rows';
    return { figures: { ...figures, resultRows: isNext ? 0 : 5 }, body: Readable.from(['']) };
  };
  return { query, asked };
}

const asked: GuestQuery = {
  name: 'sql-run',
  text: 'SELECT number FROM numbers(5)',
  queryId: 'a-run',
  format: 'Parquet',
  maxRows: 5,
  maxSeconds: 10,
};

test('a file that has as many rows as it may have is whole, also while the engine still has the id of its query', async () => {
  const guest = engineWithIds();
  const answer = await guest.query(asked);
  const whole = await withMore(answer, { guest, asked, until: new AbortController().signal });
  expect(whole.hasMore).toBe(false);
  // By the beginning of the id, the watchdog ends the second statement too.
  expect(guest.asked.map(({ queryId }) => queryId.startsWith('a-run'))).toEqual([true, true]);
});
