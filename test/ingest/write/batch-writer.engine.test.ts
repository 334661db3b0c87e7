import { expect } from 'vitest';
import { sql } from '../../../clickhouse/engine/sql.ts';
import type { Settlement } from '../../../clickhouse/tables/settlements.ts';
import { NO_ROWS } from '../../../ingest/write/batch-rows.ts';
import { createBatchWriter } from '../../../ingest/write/batch-writer.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { type TestEngine, testLog } from '../../kit/engine.ts';
import { engineTest as test } from '../../kit/fixtures-ingest.ts';
import { settlement as made } from '../../kit/rows.ts';

const settlement = (blockNumber: number): Settlement =>
  made({ blockNumber, blockTime: 1_780_000_000 + blockNumber, logIndex: 1 });

const batches = (engine: TestEngine) =>
  createBatchWriter({
    chain: 'eip155:8453',
    writer: engine.writer,
    versions: createVersions(0n),
    log: testLog,
    signal: new AbortController().signal,
  });

async function countFrom(engine: TestEngine, block: number): Promise<number> {
  const { rows } = await engine.writer.rows({
    name: 'count',
    sql: sql`SELECT count() FROM settlements WHERE block_number >= ${{ kind: 'value', type: 'UInt64', value: block }}`,
    maxSeconds: 10,
    maxRows: 1,
  });
  return Number(rows[0]?.[0]);
}

test('windows written at once are all in the table when each is acknowledged', async ({ engine }) => {
  const writer = batches(engine);
  const windows = Array.from({ length: 7 }, (_, window) =>
    Array.from({ length: 3_000 }, (__, row) => settlement(window * 3_000 + row)),
  );
  await Promise.all(windows.map((window) => writer.write({ ...NO_ROWS, settlements: window })));
  expect(await countFrom(engine, 0)).toBe(21_000);
});

test('a row that no column can hold stops the worker with its reason, and none of its batch is written', async ({
  engine,
}) => {
  const unfit = { ...settlement(1_006_000), txHash: '0x12' as const };
  const window = Array.from({ length: 6_000 }, (_, row) => settlement(1_000_000 + row));
  await expect(batches(engine).write({ ...NO_ROWS, settlements: [...window, unfit] })).rejects.toThrow(
    RangeError,
  );
  expect(await countFrom(engine, 1_000_000)).toBe(0);
  await batches(engine).write({ ...NO_ROWS, settlements: [settlement(1_000_000)] });
  expect(await countFrom(engine, 1_000_000)).toBe(1);
});
