import type { Writer } from '../../clickhouse/engine/engine.ts';
import { guardedWriter, Overtaken } from '../../clickhouse/engine/guard.ts';
import type { ChainConfig } from '../../core/config/chains.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { Log } from '../../core/log.ts';
import type { ChainTip } from '../chain/block-source.ts';
import { backfill, backfillWindow } from '../follow/backfill.ts';
import type { ChainStatus } from '../follow/chain-status.ts';
import { createPipeline, type WindowReader } from '../follow/pipeline.ts';
import type { CatalogueHolder } from '../grading/catalogue.ts';
import { createBatchWriter, untilAcknowledged } from '../write/batch-writer.ts';
import { contractsName, createCheckpoints } from '../write/checkpoints.ts';
import type { Versions } from '../write/versions.ts';
import type { JobQueue, RangeJob } from './job-queue.ts';

/** Processes the range jobs of one chain, from any planner. Rows first, then the checkpoint, then the job is done. */
export interface RangeWorkDeps {
  readonly config: ChainConfig;
  readonly source: Pick<ChainTip, 'counters'>;
  readonly windows: WindowReader;
  /** Without a guard for the chain: every job brings its own. */
  readonly writer: Writer;
  readonly versions: Versions;
  readonly catalogues: CatalogueHolder;
  readonly jobs: {
    /** Queue by `contractsName`: a process that reads other contracts uses another queue. */
    readonly queueOf: (contracts: string) => JobQueue;
    /** Concurrent jobs of a shared queue; an unshared queue has a single job. */
    readonly atOnce: number;
  };
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Until the signal aborts. */
export async function workRanges(deps: RangeWorkDeps): Promise<void> {
  const { config, windows, catalogues, jobs, log, signal } = deps;
  const { isPartial } = windows;
  const contracts = contractsName(windows.contracts, isPartial);
  const queue = jobs.queueOf(contracts);
  const status = reportTo(queue, deps.source);
  const adaptive = backfillWindow(config);
  const jobsAtOnce = queue.isShared ? jobs.atOnce : 1;
  // A process's windows are divided among its jobs, so memory does not grow with their number.
  const parallelWindows = Math.ceil(config.parallelWindows / jobsAtOnce);
  const handle = async (job: RangeJob): Promise<void> => {
    const ending = new AbortController();
    const own = { ...deps, signal: AbortSignal.any([signal, ending.signal]) };
    const writer = guardedFor(deps.writer, config.chain, job.epoch);
    deps.versions.raise(job.versionFloor);
    const pipeline = createPipeline({
      windows,
      catalogues,
      batches: createBatchWriter({ ...own, chain: config.chain, writer }),
      status,
      signal: own.signal,
    });
    const checkpoints = createCheckpoints(
      { chain: config.chain, contracts, isPartial },
      writer,
      deps.versions,
    );
    try {
      await backfill(
        {
          config: { logWindowMax: config.logWindowMax, parallelWindows },
          pipeline,
          checkpoints,
          status: { backfill: () => undefined }, // the planner reports it, from the checkpoints
          acknowledged: (attempt) => untilAcknowledged(log, own.signal, attempt),
          signal: own.signal,
          adaptive,
        },
        job.ranges,
        0,
      );
    } finally {
      ending.abort(); // when one window has failed, the others are still being read
    }
  };
  await queue.work({
    jobsAtOnce,
    signal,
    handle: (job) => handle(job).catch((error: unknown) => logFailure(error, job, deps)),
  });
}

function guardedFor(writer: Writer, chain: Chain, epoch: bigint): Writer {
  return epoch === 0n ? writer : guardedWriter(writer, [{ scope: chain, token: epoch }]);
}

/** Rethrows errors that are worth another attempt. */
function logFailure(error: unknown, job: RangeJob, { config, log, signal }: RangeWorkDeps): void {
  // Its planner no longer leads; the new one plans the ranges that are still missing.
  if (error instanceof Overtaken && error.scope === config.chain) return;
  if (!signal.aborted) log.error({ chain: config.chain, job: job.id, err: error }, 'a range job failed');
  throw error;
}

/** Reports work for the chain's figures, which its leader publishes. A lost report only makes them a few rows too low. */
function reportTo(
  queue: JobQueue,
  source: RangeWorkDeps['source'],
): Pick<ChainStatus, 'sourceAnswered' | 'wrote'> {
  let reported = source.counters();
  return {
    sourceAnswered: () => undefined,
    wrote({ rows, blocks, portalBlocks, deadLetters }) {
      const { retries, contradictions } = source.counters();
      const trouble = {
        retries: retries - reported.retries,
        contradictions: contradictions - reported.contradictions,
      };
      reported = { ...reported, retries, contradictions };
      queue.report({ rows, blocks, portalBlocks, deadLetters, ...trouble }).catch(() => undefined);
    },
  };
}
