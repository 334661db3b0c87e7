import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Writer } from '../../../clickhouse/engine/engine.ts';
import type { DeadLetter } from '../../../clickhouse/tables/ingest-state.ts';
import type { Hash } from '../../../core/domain/account.ts';
import { createLog } from '../../../core/log.ts';
import { type BatchRows, NO_ROWS } from '../../../ingest/write/batch-rows.ts';
import { createBatchWriter } from '../../../ingest/write/batch-writer.ts';
import { createVersions } from '../../../ingest/write/versions.ts';

const HASH = `0x${'ab'.repeat(32)}` as Hash; // 64 digits
const LETTER: DeadLetter = {
  chain: 'eip155:8453',
  blockNumber: 1,
  blockHash: HASH,
  txHash: HASH,
  logIndex: 0,
  reason: 'malformed_log',
  rawLog: '{}',
};
const ROWS: BatchRows = { ...NO_ROWS, deadLetters: [LETTER] };
const more = (): boolean => true;
/** Long enough for an insert that does not wait for others to have begun. */
const A_MOMENT_MS = 20;

function batchesThat(insert: () => Promise<void>) {
  return createBatchWriter({
    chain: 'eip155:8453',
    writer: { insert } as unknown as Writer, // nothing else is called
    versions: createVersions(0n),
    log: createLog('error', 'test'),
    signal: new AbortController().signal,
  });
}

test('rows wait for those that are announced, but the first ones and unannounced ones do not', async () => {
  let inserts = 0;
  const batches = batchesThat(async () => {
    inserts++;
  });
  await batches.write(ROWS, null, more);
  expect(inserts).toBe(1);

  const announced = [batches.write(ROWS, null, more), batches.write(ROWS, null, more)];
  await delay(A_MOMENT_MS);
  expect(inserts).toBe(1);
  await Promise.all([...announced, batches.write(ROWS)]);
  expect(inserts).toBe(2);
});

test('rows whose company does not come are written all the same', async () => {
  let inserts = 0;
  const batches = batchesThat(async () => {
    inserts++;
  });
  await batches.write(ROWS);
  await batches.write(ROWS, null, more);
  expect(inserts).toBe(2);
});
