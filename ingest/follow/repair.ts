import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, text, uint64 } from '../../clickhouse/engine/sql.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import type { Log } from '../../core/log.ts';
import { ReadAbandoned } from '../chain/block-source.ts';
import { WrongChain } from '../chain/rpc/failure.ts';
import type { CatalogueHolder } from '../grading/catalogue.ts';
import { createBatchWriter, untilAcknowledged } from '../write/batch-writer.ts';
import type { Versions } from '../write/versions.ts';
import type { ChainStatus } from './chain-status.ts';
import { createPipeline, type WindowReader } from './pipeline.ts';
import { createRefusals } from './refused-blocks.ts';

/**
 * Reads single final blocks again, whole and proved, and writes what they hold. Two things name such blocks: a dead letter, and receipts
 * that show a payment without a row (fees/compare-receipts.ts). A block that is read again only gains: rows have one key, whichever reader read
 * them, and dead letters of the block that were not written again are taken back.
 */
export interface Repair {
  /** Reads a block again; false when it could not be read now. */
  reread(number: number): Promise<boolean>;
}

export interface RepairDeps {
  readonly config: Pick<ChainConfig, 'chain' | 'sampleDataTo'>;
  readonly windows: WindowReader;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly catalogues: CatalogueHolder;
  readonly status: Pick<ChainStatus, 'snapshot' | 'sourceAnswered' | 'wrote' | 'deadLetters'>;
  readonly log: Log;
  readonly signal: AbortSignal;
}

const LOOK_MAX_SECONDS = 60;

/** Reads blocks again, each in a pipeline of its own window. */
export function createRepair(deps: RepairDeps): Repair {
  const { config, writer, versions, log, signal } = deps;
  const { chain } = config;
  const batches = createBatchWriter({ chain, writer, versions, log, signal });
  const pipeline = createPipeline({ ...deps, batches });
  return {
    async reread(number) {
      const before = versions.next();
      try {
        await pipeline.store(await pipeline.read(number, number, { freshStartsMax: 1, everyHeader: true }));
      } catch (error) {
        if (error instanceof ReadAbandoned) return false;
        throw error;
      }
      await untilAcknowledged(log, signal, () =>
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
    },
  };
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
    readonly repair: Repair;
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
