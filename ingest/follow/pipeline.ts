import type { Writer } from '../../clickhouse/engine/engine.ts';
import { Overtaken } from '../../clickhouse/engine/guard.ts';
import type { Address } from '../../core/domain/account.ts';
import {
  type BlockBatch,
  type BlockSource,
  type RawLog,
  type ReadOptions,
  ReceiptsUnread,
} from '../chain/block-source.ts';
import { orderLogs } from '../chain/check-batch.ts';
import { groupByBlock } from '../chain/prove-complete.ts';
import { rowsOfBatch } from '../decode/batch.ts';
import type { KnownTerms } from '../decode/channels/moves.ts';
import type { DecodeContext } from '../decode/context.ts';
import { isCandidate, KIND, kindOf, logFilterOf } from '../decode/log-kind.ts';
import { unpairedLogs } from '../decode/pair.ts';
import type { Catalogue, CatalogueHolder } from '../grading/catalogue.ts';
import { countRows } from '../write/batch-rows.ts';
import type { BatchWriter } from '../write/batch-writer.ts';
import { GRADES_SCOPE } from '../write/fence.ts';
import type { ChainStatus } from './chain-status.ts';
import { readChannelTerms } from './channel-terms.ts';

/**
 * One window of blocks, from the node to the acknowledged insert. Head following and backfill are both made of this:
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

/** A batch, with what was known when it was read: it holds only the transactions of bare transfers to payees that were catalogued. */
export interface ReadBatch extends BlockBatch {
  readonly readWith: Pick<Catalogue, 'isPayee'>;
  readonly knownTerms: KnownTerms;
}

interface PipelineDeps {
  readonly writer: Writer;
  readonly source: BlockSource;
  readonly context: DecodeContext;
  readonly catalogues: CatalogueHolder;
  readonly batches: BatchWriter;
  readonly status: Pick<ChainStatus, 'sourceAnswered' | 'wrote'>;
  readonly signal?: AbortSignal;
}

export function createPipeline(deps: PipelineDeps): Pipeline {
  const { writer, source, context, catalogues, status, signal } = deps;
  const filter = logFilterOf(context);
  return {
    async read(from, to, options) {
      const readWith = catalogues.current();
      const isCataloguedPayee = (payee: Address): boolean => readWith.isPayee(context.chain, payee);
      const asOf = { ...context, isCataloguedPayee };
      const wanted = { ...filter, isCandidate: (log: RawLog) => isCandidate(log, asOf) };
      const read = await source.read(from, to, wanted, options);
      status.sourceAnswered();
      const batch = await settleByReceipt(source, read, asOf);
      return { ...batch, readWith, knownTerms: await readChannelTerms(writer, batch, context) };
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

/**
 * The batch with the transfers that the receipts of its lone authorizations and proxy events show: a node that lost a transfer has it in
 * the receipt, and only there is that of a token which is not listed. Without the receipts they become dead letters, which are tried again
 * (repair.ts).
 */
async function settleByReceipt(
  source: BlockSource,
  batch: BlockBatch,
  context: DecodeContext,
): Promise<BlockBatch> {
  const alone = groupByBlock(unpairedLogs(batch.logs, context));
  if (alone.size === 0) return batch;
  const wanted = [...alone].map(([number, logs]) => ({
    number,
    hash: logs[0]?.blockHash ?? null,
    transactions: [...new Set(logs.map(({ transactionHash }) => transactionHash))],
  }));
  const asked = { callsMax: RECEIPT_CALLS_MAX, before: () => Promise.resolve() };
  const answers = await source.receipts(wanted, asked).catch((error: unknown) => {
    if (error instanceof ReceiptsUnread) return [];
    throw error;
  });
  const placeOf = ({ blockNumber, logIndex }: RawLog): string => `${blockNumber}/${logIndex}`;
  const known = new Set(batch.logs.map(placeOf));
  const transactions = new Set(wanted.flatMap((block) => block.transactions));
  const lost = answers
    .flatMap((block) => block?.logs ?? [])
    .filter((log) => transactions.has(log.transactionHash) && TRANSFERS.includes(kindOf(log, context)))
    .filter((log) => !known.has(placeOf(log)));
  return lost.length === 0 ? batch : { ...batch, logs: orderLogs([...batch.logs, ...lost]).logs };
}

const TRANSFERS: readonly number[] = [KIND.transfer, KIND.unlistedTransfer];

/** A block of a busy chain has a megabyte of receipts, which are parsed at once. */
const RECEIPT_CALLS_MAX = 5;

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
  { context, catalogues, batches, status }: PipelineDeps,
  batch: ReadBatch,
  isMoreComing: (() => boolean) | undefined,
): Promise<Outdated> {
  return catalogues.lend((catalogue, pass) => {
    // The catalogue may have changed since the batch was read: the batch is complete only for payees in both.
    const isCataloguedPayee = (payee: Address): boolean =>
      batch.readWith.isPayee(context.chain, payee) && catalogue.isPayee(context.chain, payee);
    const { knownTerms } = batch;
    const rows = rowsOfBatch(batch, { ...context, isCataloguedPayee, knownTerms }, catalogue);
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
