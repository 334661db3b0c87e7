import { Overtaken } from '../../clickhouse/engine/guard.ts';
import type { Address } from '../../core/domain/account.ts';
import type { BlockRef, ReadOptions } from '../chain/block-source.ts';
import type { Catalogue, CatalogueHolder } from '../grading/catalogue.ts';
import { type BatchRows, countRows } from '../write/batch-rows.ts';
import type { BatchWriter } from '../write/batch-writer.ts';
import { GRADES_SCOPE } from '../write/fence.ts';
import type { ChainStatus } from './chain-status.ts';

/**
 * One window of blocks, from the node to the acknowledged insert. Head following and backfill are both made of this, for chains of any
 * family:
 *
 *   source → decode → grade → write → (the caller moves its checkpoint)
 */
export interface Pipeline {
  /** Reads and checks [from, to]. */
  read(from: number, to: number, options?: ReadOptions): Promise<ReadBatch>;
  /**
   * Decodes, grades and writes a batch; resolves when every row is acknowledged. With `isMoreComing`, rows may wait a moment for those
   * of other batches.
   */
  store(batch: ReadBatch, isMoreComing?: () => boolean): Promise<void>;
}

/** Blocks [from, to], read and checked. What they hold differs by family, and only `rowsBy` knows. */
export interface ReadBatch {
  readonly from: number;
  readonly to: number;
  /** Ascending; the last one is `to`, and the first one's parent is the block before `from`. */
  readonly blocks: readonly BlockRef[];
  /** By which windows are cut: logs of an EVM chain, token transfers of Solana. */
  readonly size: number;
  /** How long the read waited for its turn under a limit of requests: this says nothing about the size of the range. */
  readonly waitedMs?: number | undefined;
  /** Where a chain has two sources: the one that gave this batch. */
  readonly readFrom?: 'portal' | 'rpc' | undefined;
  /** Everything that the blocks hold, graded by this catalogue. */
  readonly rowsBy: (catalogue: Catalogue) => BatchRows;
}

/** One family's way from blocks to rows: evm-windows.ts, solana-windows.ts. */
export interface WindowReader {
  /** The contracts whose events are read: ranges that were read for other ones promise nothing about these. */
  readonly contracts: readonly Address[];
  /** Whether only a part of what the blocks hold is read, of which no block proves that it is all. Default: false. */
  readonly isPartial?: boolean;
  /** `readWith`: the catalogue of the moment. A batch may leave out what only a payee or a relayer of a later one would make a row. */
  read(
    from: number,
    to: number,
    readWith: Pick<Catalogue, 'isPayee' | 'relayers'>,
    options?: ReadOptions,
  ): Promise<ReadBatch>;
}

interface PipelineDeps {
  readonly windows: WindowReader;
  readonly catalogues: CatalogueHolder;
  readonly batches: BatchWriter;
  readonly status: Pick<ChainStatus, 'sourceAnswered' | 'wrote'>;
  readonly signal?: AbortSignal;
}

export function createPipeline(deps: PipelineDeps): Pipeline {
  const { windows, catalogues, status, signal } = deps;
  return {
    async read(from, to, options) {
      const batch = await windows.read(from, to, catalogues.current(), options);
      status.sourceAnswered();
      return batch;
    },
    store(batch, isMoreComing) {
      const written = lendAndWrite(deps, batch, isMoreComing);
      // A process that grades alone is never outdated, and keeps nothing of the batch while its rows wait.
      if (!catalogues.isShared()) return written.then(nothing);
      return untilUpToDate(written, async (outdated) => {
        // Another process has published a newer catalogue, and its regrade may have passed these blocks already.
        await catalogues.after(outdated, signal);
        return lendAndWrite(deps, batch, isMoreComing);
      });
    },
  };
}

const nothing = (): void => undefined;

/** The pass whose catalogue graded rows that were refused for it; null when they are acknowledged. */
type Outdated = bigint | null;

async function untilUpToDate(
  written: Promise<Outdated>,
  again: (outdated: bigint) => Promise<Outdated>,
): Promise<void> {
  for (let outdated = await written; outdated !== null; ) outdated = await again(outdated);
}

/** Creates no waiting callback here: it would retain the batch, which is ten times the size of its encoded rows. */
function lendAndWrite(
  { catalogues, batches, status }: PipelineDeps,
  batch: ReadBatch,
  isMoreComing: (() => boolean) | undefined,
): Promise<Outdated> {
  return catalogues.lend((catalogue, pass) => {
    const rows = batch.rowsBy(catalogue);
    const deadLetters = rows.deadLetters.length;
    const blocks = batch.to - batch.from + 1;
    const portalBlocks = batch.readFrom === 'portal' ? blocks : 0;
    const work = { rows: countRows(rows) - deadLetters, blocks, portalBlocks, deadLetters };
    return settle(batches.write(rows, pass, isMoreComing), pass, status, work);
  });
}

async function settle(
  writing: Promise<void>,
  pass: bigint | null,
  status: PipelineDeps['status'],
  work: Parameters<PipelineDeps['status']['wrote']>[0],
): Promise<Outdated> {
  if (await isOutdated(pass, writing)) return pass;
  status.wrote(work);
  return null;
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
