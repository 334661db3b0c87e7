import { Overtaken } from '../clickhouse/guard.ts';
import type { BatchWriter } from './batch-writer.ts';
import type { Catalogue } from './catalogues/catalogue.ts';
import type { CatalogueHolder } from './catalogues/catalogue-holder.ts';
import type { ChainStatus } from './chain-status.ts';
import { GRADES_SCOPE } from './leases/fence.ts';
import type { BlockBatch, BlockSource, LogFilter, ReadOptions } from './sources/block-source.ts';
import { countRows, rowsOfBatch } from './stages/batch-rows.ts';
import type { DecodeContext } from './stages/decode-context.ts';
import { logFilterOf } from './stages/log-filter.ts';

/**
 * One window of blocks, from the node to the acknowledged insert. Head following and backfill are both made of this:
 *
 *   source → decode → grade → write → (the caller moves its checkpoint)
 */
export interface Pipeline {
  /** Reads and checks [from, to]. */
  read(from: number, to: number, options?: ReadOptions): Promise<ReadBatch>;
  /**
   * Decodes, grades and writes a batch; resolves when every row is acknowledged. While `isMoreComing`, the rows may wait a moment
   * for those of other batches.
   */
  store(batch: ReadBatch, isMoreComing?: () => boolean): Promise<void>;
}

/** A batch holds the transactions of bare transfers to the payees that were catalogued when it was read, and no others. */
export interface ReadBatch extends BlockBatch {
  readonly readWith: Pick<Catalogue, 'isPayee'>;
}

export function createPipeline(deps: {
  readonly source: BlockSource;
  readonly filter: LogFilter;
  readonly context: DecodeContext;
  readonly catalogues: CatalogueHolder;
  readonly batches: BatchWriter;
  readonly status: Pick<ChainStatus, 'sourceAnswered' | 'wrote'>;
  readonly signal?: AbortSignal;
}): Pipeline {
  const { source, filter, context, catalogues, batches, status, signal } = deps;
  const contextWith = (isCataloguedPayee: DecodeContext['isCataloguedPayee']) => ({
    ...context,
    isCataloguedPayee,
  });
  return {
    async read(from, to, options) {
      const readWith = catalogues.current();
      const { isCandidate } = logFilterOf(contextWith((payee) => readWith.isPayee(context.chain, payee)));
      const batch = await source.read(from, to, { ...filter, isCandidate }, options);
      status.sourceAnswered();
      return { ...batch, readWith };
    },
    async store(batch, isMoreComing) {
      for (;;) {
        const outdated = await catalogues.lend(async (catalogue, pass) => {
          // The catalogue may have changed since the batch was read: only payees of both are known whole.
          const decodeWith = contextWith(
            (payee) =>
              batch.readWith.isPayee(context.chain, payee) && catalogue.isPayee(context.chain, payee),
          );
          const rows = rowsOfBatch(batch, decodeWith, catalogue);
          if (await isOutdated(pass, batches.write(rows, pass, isMoreComing))) return pass;
          const deadLetters = rows.deadLetters.length;
          status.wrote({
            rows: countRows(rows) - deadLetters,
            blocks: batch.to - batch.from + 1,
            deadLetters,
          });
          return null;
        });
        if (outdated === null) return;
        // Another process has published a newer catalogue, and its regrade may have passed these blocks already.
        await catalogues.after(outdated, signal);
      }
    },
  };
}

/** Whether the engine refused the rows because a newer catalogue than that of `pass` is published. */
async function isOutdated(pass: bigint | null, writing: Promise<void>): Promise<boolean> {
  try {
    await writing;
    return false;
  } catch (error) {
    if (pass !== null && error instanceof Overtaken && error.scope === GRADES_SCOPE) return true;
    throw error;
  }
}
