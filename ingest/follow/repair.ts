import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { commaList, sql, text, uint64 } from '../../clickhouse/engine/sql.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import type { Log } from '../../core/log.ts';
import { type BlockSource, type RawLog, ReadAbandoned } from '../chain/block-source.ts';
import { WrongChain } from '../chain/rpc/failure.ts';
import { decodeContextOf } from '../decode/context.ts';
import { logsWithRows } from '../decode/pair.ts';
import type { CatalogueHolder } from '../grading/catalogue.ts';
import { createBatchWriter, untilAcknowledged } from '../write/batch-writer.ts';
import type { Versions } from '../write/versions.ts';
import type { ChainStatus } from './chain-status.ts';
import { createPipeline } from './pipeline.ts';
import { createRefusals } from './refused-blocks.ts';

/**
 * Reads single final blocks again, whole and proved, and writes what they hold. Two things name such blocks: a dead letter, and receipts
 * that show a payment without a row (the fee pass compares them). A block that is read again only gains: rows have one key, whichever reader read
 * them, and dead letters of the block that were not written again are taken back.
 */
export interface Repair {
  /** Reads again the blocks whose receipts show a payment that has no row. Returns their numbers. */
  compare(blocks: readonly ReceiptLogs[]): Promise<ReadonlySet<number>>;
  /** Reads a block again; false when it could not be read now. */
  reread(number: number): Promise<boolean>;
}

/** The logs that the receipts of a block showed, as far as they were read. */
export interface ReceiptLogs {
  readonly number: number;
  readonly logs: readonly RawLog[];
}

export interface RepairDeps {
  readonly config: Pick<ChainConfig, 'chain' | 'tokens' | 'registries' | 'sampleDataTo'>;
  readonly source: BlockSource;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly catalogues: CatalogueHolder;
  readonly status: Pick<ChainStatus, 'snapshot' | 'sourceAnswered' | 'wrote' | 'deadLetters'>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const LOOK_MAX_SECONDS = 60;
/** Payments in the blocks of one comparison, with room: a block of a busy chain has some hundred. */
const ROWS_MAX = 100_000;

export function createRepair(deps: RepairDeps): Repair {
  const { config, writer, versions, catalogues, log, signal } = deps;
  const { chain } = config;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const context = decodeContextOf(config, catalogues.current());
  const batches = createBatchWriter({ chain, writer, versions, log, signal });
  const pipeline = createPipeline({ ...deps, context, batches });

  const reread = async (number: number): Promise<boolean> => {
    const before = versions.next();
    try {
      await pipeline.store(await pipeline.read(number, number, { freshStartsMax: 1, everyHeader: true }));
    } catch (error) {
      if (error instanceof ReadAbandoned) return false;
      throw error;
    }
    await acknowledged(() =>
      writer.run({
        name: `dead-letters-retire ${chain}`,
        scopes: [chain],
        maxSeconds: LOOK_MAX_SECONDS,
        sql: sql`INSERT INTO dead_letters SELECT * REPLACE(${uint64(versions.next())} AS ver, 1 AS del)
          FROM (SELECT * FROM dead_letters FINAL WHERE chain = ${text(chain)} AND block_number = ${uint64(number)}
            AND del = 0 AND ver < ${uint64(before)})`,
      }),
    );
    return true;
  };
  return {
    reread,
    async compare(blocks) {
      const shown = blocks.map(({ number, logs }) => ({ number, payments: logsWithRows(logs, context) }));
      const known = await acknowledged(() =>
        readPlaces(
          deps,
          shown.flatMap(({ number, payments }) => (payments.length > 0 ? [number] : [])),
        ),
      );
      const lacking = shown.filter(({ payments }) => payments.some((log) => !known.has(placeOf(log))));
      for (const { number } of lacking) {
        log.warn(
          { chain, block: number },
          'receipts show a payment that has no row, the block is read again',
        );
        await reread(number);
      }
      return new Set(lacking.map(({ number }) => number));
    },
  };
}

function placeOf({ blockNumber, logIndex }: Pick<RawLog, 'blockNumber' | 'logIndex'>): string {
  return `${blockNumber}/${logIndex}`;
}

/** The places of these blocks that have a row, or a dead letter: why one could not become a row is known then. */
async function readPlaces(
  { config: { chain }, writer }: RepairDeps,
  numbers: readonly number[],
): Promise<ReadonlySet<string>> {
  if (numbers.length === 0) return new Set();
  const listed = commaList(numbers.map(uint64));
  const within = sql`chain = ${text(chain)} AND block_number IN (${listed}) AND del = 0`;
  const { rows } = await writer.rows({
    name: `repair-places ${chain}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: ROWS_MAX,
    sql: sql`SELECT block_number, log_index FROM settlements FINAL WHERE ${within}
      UNION ALL SELECT block_number, log_index FROM dead_letters FINAL WHERE ${within}`,
  });
  return new Set(
    rows.map(([block, index]) => placeOf({ blockNumber: Number(block), logIndex: Number(index) })),
  );
}

export interface RetryLimits {
  /** Between two looks for dead letters. */
  readonly pollMs: number;
  /** Before a block is read again that keeps its dead letter; doubled each time. */
  readonly firstRetryMs: number;
}

export const RETRY_LIMITS: RetryLimits = { pollMs: 5_000, firstRetryMs: 60_000 };

/** Blocks with dead letters that one look finds. */
const BLOCKS_MAX = 1_000;
/** Blocks that one look reads again: some seconds of a slow node. */
const REREADS_PER_LOOK = 20;

/** Tries the dead letters of final blocks again, and reports how many there are. Ends when the signal aborts or no URL serves the chain. */
export async function retryDeadLetters(
  deps: Pick<RepairDeps, 'config' | 'writer' | 'status' | 'log' | 'signal'> & {
    readonly repair: Pick<Repair, 'reread'>;
    readonly limits?: Partial<RetryLimits>;
  },
): Promise<void> {
  const { config, repair, status, log, signal } = deps;
  const limits = { ...RETRY_LIMITS, ...deps.limits };
  const waiting = createRefusals(limits.firstRetryMs);
  const isDue = (block: number): boolean =>
    block <= status.snapshot().finalizedBlock &&
    block > (config.sampleDataTo ?? 0) &&
    !waiting.isRefused(block);
  try {
    while (!signal.aborted) {
      const { blocks, total } = await untilAcknowledged(log, signal, () => readDeadLetters(deps));
      status.deadLetters(total);
      for (const block of blocks.filter(isDue).slice(0, REREADS_PER_LOOK)) {
        await repair.reread(block);
        waiting.refuse(block);
      }
      await delay(limits.pollMs, undefined, { signal });
    }
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof WrongChain)) throw error;
    log.warn({ chain: config.chain }, 'dead letters are not tried again: no RPC URL serves this chain');
  }
}

/** The newest blocks with dead letters, and how many there are in all blocks. */
async function readDeadLetters({ config: { chain }, writer }: Pick<RepairDeps, 'config' | 'writer'>) {
  const { rows } = await writer.rows({
    name: `dead-letters ${chain}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: BLOCKS_MAX,
    sql: sql`SELECT block_number, sum(count()) OVER () FROM dead_letters FINAL WHERE chain = ${text(chain)} AND del = 0
      GROUP BY block_number ORDER BY block_number DESC LIMIT ${uint64(BLOCKS_MAX)}`,
  });
  return { blocks: rows.map(([block]) => Number(block)), total: Number(rows[0]?.[1] ?? 0) };
}
