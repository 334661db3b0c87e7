import type { Writer } from '../../clickhouse/engine/engine.ts';
import { guardedWriter, Overtaken } from '../../clickhouse/engine/guard.ts';
import type { ChainConfig } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import type { BlockSource } from '../chain/block-source.ts';
import { decodeContextOf } from '../decode/context.ts';
import { logFilterOf } from '../decode/log-filter.ts';
import { backfill, backfillWindow } from '../follow/backfill.ts';
import type { ChainStatus } from '../follow/chain-status.ts';
import { createPipeline } from '../follow/pipeline.ts';
import type { CatalogueHolder } from '../grading/catalogue.ts';
import { createBatchWriter } from '../write/batch-writer.ts';
import { contractsName, createCheckpoints } from '../write/checkpoints.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import type { Versions } from '../write/versions.ts';
import type { JobQueue, RangeJob } from './job-queue.ts';

/** Works on the range jobs of one chain, whoever has planned them. Rows first, then the checkpoint, then the job is done. */
export interface RangeWorkDeps {
  readonly config: ChainConfig;
  readonly source: BlockSource;
  /** Unguarded: every job brings its own guard. */
  readonly writer: Writer;
  readonly versions: Versions;
  readonly catalogues: CatalogueHolder;
  /** By `contractsName`: jobs of a process that reads other contracts are none of ours. */
  readonly queueOf: (contracts: string) => JobQueue;
  readonly jobsAtOnce: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Until the signal aborts. */
export async function workRanges(deps: RangeWorkDeps): Promise<void> {
  const { config, catalogues, queueOf, jobsAtOnce, log, signal } = deps;
  const context = decodeContextOf(config, catalogues.current());
  const filter = logFilterOf(context);
  const contracts = contractsName(filter.addresses);
  const queue = queueOf(contracts);
  const status = reportTo(queue, deps.source);
  const adaptive = backfillWindow(config);
  // The windows of one process are shared out among its jobs: as many are in memory as without a queue.
  const parallelWindows = Math.ceil(config.parallelWindows / jobsAtOnce);
  const handle = async (job: RangeJob): Promise<void> => {
    const ending = new AbortController();
    const own = { ...deps, signal: AbortSignal.any([signal, ending.signal]) };
    const writer = guardedWriter(deps.writer, [{ scope: config.chain, token: job.epoch }]);
    deps.versions.raise(job.versionFloor);
    const pipeline = createPipeline({
      source: deps.source,
      filter,
      context,
      catalogues,
      batches: createBatchWriter({ ...own, chain: config.chain, writer }),
      status,
      signal: own.signal,
    });
    const checkpoints = createCheckpoints({ chain: config.chain, contracts }, writer, deps.versions);
    try {
      await backfill(
        {
          config: { logWindowMax: config.logWindowMax, parallelWindows },
          pipeline,
          checkpoints,
          status: { backfill: () => undefined }, // the planner tells it, from the checkpoints
          acknowledged: (attempt) => untilAcknowledged(log, own.signal, attempt),
          signal: own.signal,
          adaptive,
        },
        job.ranges,
        0,
      );
    } finally {
      ending.abort(); // of several windows one may have failed and others be under way
    }
  };
  await queue.work({
    jobsAtOnce,
    signal,
    handle: (job) => handle(job).catch((error: unknown) => tellFailure(error, job, deps)),
  });
}

/** Throws what is worth another attempt. */
function tellFailure(error: unknown, job: RangeJob, { config, log, signal }: RangeWorkDeps): void {
  // Its planner does not lead any more; the new one plans what is still missing.
  if (error instanceof Overtaken && error.scope === config.chain) return;
  if (!signal.aborted) log.error({ chain: config.chain, job: job.id, err: error }, 'a range job failed');
  throw error;
}

/** What is done here appears in the figures of the chain, which its leader publishes. A report that gets lost is a few rows less there. */
function reportTo(queue: JobQueue, source: BlockSource): Pick<ChainStatus, 'sourceAnswered' | 'wrote'> {
  let told = source.counters();
  return {
    sourceAnswered: () => undefined,
    wrote({ rows, blocks, deadLetters }) {
      const { retries, contradictions } = source.counters();
      const trouble = {
        retries: retries - told.retries,
        contradictions: contradictions - told.contradictions,
      };
      told = { ...told, retries, contradictions };
      queue.report({ rows, blocks, deadLetters, ...trouble }).catch(() => undefined);
    },
  };
}
