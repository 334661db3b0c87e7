import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { createLog } from '../../../core/log.ts';
import type { BlockBatch, BlockSource } from '../../../ingest/chain/block-source.ts';
import { decodeContextOf } from '../../../ingest/decode/context.ts';
import { backfill } from '../../../ingest/follow/backfill.ts';
import { createEvmWindows } from '../../../ingest/follow/evm-windows.ts';
import { createPipeline, type Pipeline } from '../../../ingest/follow/pipeline.ts';
import { createCatalogueHolder } from '../../../ingest/grading/catalogue.ts';
import { createBatchWriter } from '../../../ingest/write/batch-writer.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { batchOf, TOKENS, transfer, used, wallet } from '../../kit/chain-logs.ts';
import { catalogueWith } from '../../kit/regrade-world.ts';
import { BASE } from '../../kit/rows.ts';

/*
 * While rows wait for the engine, the answers they were made from must be garbage: kept, they were what bounded backfill, because
 * the collector moved them again and again. One callback that closes over a batch is enough to keep it, and nothing else would show it.
 */

const [alice, shop, relayer] = [wallet(0xa1), wallet(0x51), wallet(0xa22)];
const GARBAGE_ROUNDS_MAX = 5;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void; // what the flag adds to new contexts

/** Whether anything still holds it, after the collector had its chances. */
async function isHeld(held: WeakRef<object> | undefined): Promise<boolean> {
  for (let round = 0; round < GARBAGE_ROUNDS_MAX && held?.deref() !== undefined; round++) {
    await nextTurn();
    collectGarbage();
  }
  return held?.deref() !== undefined;
}

interface Stuck {
  readonly pipeline: Pipeline;
  /** What the source has answered, oldest first. */
  readonly answered: WeakRef<object>[];
  inserts(): number;
}

/** A pipeline into an engine that never acknowledges anything. */
function pipelineIntoNowhere(pass?: bigint): Stuck {
  let inserts = 0;
  const answered: WeakRef<object>[] = [];
  const catalogues = createCatalogueHolder(catalogueWith(), pass);
  const context = decodeContextOf({ chain: BASE, tokens: TOKENS, registries: {} }, catalogues.current());
  const signal = new AbortController().signal;
  const writer = {
    insert: () => {
      inserts += 1;
      return new Promise<void>(() => undefined);
    },
  } as unknown as Writer; // nothing else is called
  const source = {
    async read(from: number): Promise<BlockBatch> {
      const batch = batchOf([[{ from: relayer, events: [used(alice), transfer(alice, shop, 5)] }]], from);
      answered.push(new WeakRef(batch.transactions));
      return batch;
    },
  } as unknown as BlockSource; // the pipeline only reads
  const log = createLog('error', 'test');
  return {
    answered,
    inserts: () => inserts,
    pipeline: createPipeline({
      windows: createEvmWindows({ source, context, writer }),
      catalogues,
      batches: createBatchWriter({ chain: BASE, writer, versions: createVersions(0n), log, signal }),
      status: { sourceAnswered: () => undefined, wrote: () => undefined },
      signal,
    }),
  };
}

test('a batch whose rows wait for the engine is let go', async () => {
  const { pipeline, answered, inserts } = pipelineIntoNowhere();
  void pipeline.store(await pipeline.read(100, 100));
  await nextTurn();
  expect(inserts()).toBe(1);
  expect(await isHeld(answered[0])).toBe(false);
});

test('one that another process may make outdated is kept, to be graded again', async () => {
  const { pipeline, answered, inserts } = pipelineIntoNowhere(4n);
  void pipeline.store(await pipeline.read(100, 100));
  await nextTurn();
  expect(inserts()).toBe(1);
  expect(await isHeld(answered[0])).toBe(true);
});

test('backfill keeps none of the windows that wait, but at most the last of each reader', async () => {
  const { pipeline, answered, inserts } = pipelineIntoNowhere();
  const ending = new AbortController();
  void backfill(
    {
      config: { logWindowMax: 1, parallelWindows: 1 },
      pipeline,
      checkpoints: { saveBackfill: async () => undefined },
      status: { backfill: () => undefined },
      acknowledged: (attempt) => attempt(),
      signal: ending.signal,
      adaptive: { size: () => 1, observe: () => undefined, shrink: () => undefined },
    },
    [{ from: 100, to: 102 }],
    0,
  );
  for (let turn = 0; turn < 20; turn++) await nextTurn();
  expect(inserts()).toBe(1);
  expect(answered).toHaveLength(3);
  const held = await Promise.all(answered.slice(0, -1).map(isHeld));
  expect(held).toEqual([false, false]);
});
