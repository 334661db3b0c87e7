import type { BatchWriter } from './batch-writer.ts';
import type { Catalogue } from './catalogues/catalogue.ts';
import type { ChainStatus } from './chain-status.ts';
import type { BlockBatch, BlockSource, LogFilter, ReadOptions } from './sources/block-source.ts';
import type { DecodeContext } from './stages/decode-context.ts';
import { settlementsOf } from './stages/settle-batch.ts';

/**
 * One window of blocks, from the node to the acknowledged insert. Head following and backfill are both made of this:
 *
 *   source → decode → grade → write → (the caller moves its checkpoint)
 */
export interface Pipeline {
  /** Reads and checks [from, to]. */
  read(from: number, to: number, options?: ReadOptions): Promise<BlockBatch>;
  /** Decodes, grades and writes a batch; resolves when every row is acknowledged. */
  store(batch: BlockBatch): Promise<void>;
}

export function createPipeline(deps: {
  readonly source: BlockSource;
  readonly filter: LogFilter;
  readonly context: DecodeContext;
  readonly catalogue: Catalogue;
  readonly batches: BatchWriter;
  readonly status: ChainStatus;
}): Pipeline {
  const { source, filter, context, catalogue, batches, status } = deps;
  return {
    async read(from, to, options) {
      const batch = await source.read(from, to, filter, options);
      status.sourceAnswered();
      return batch;
    },
    async store(batch) {
      const { settlements, deadLetters } = settlementsOf(batch, context, catalogue);
      await batches.write(settlements, deadLetters);
      status.wrote({
        rows: settlements.length,
        blocks: batch.to - batch.from + 1,
        deadLetters: deadLetters.length,
      });
    },
  };
}
