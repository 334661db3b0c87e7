import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { createAttachedReader } from '../clickhouse/engine/attached-reader.ts';
import type { EngineAccess } from '../clickhouse/engine/engine.ts';
import type { Clock } from '../core/clock.ts';
import type { Config } from '../core/config/config.ts';
import { lentKeyDigest } from '../core/domain/caller.ts';
import type { Log } from '../core/log.ts';
import type { SqlSandbox } from '../sandbox/sandbox.ts';
import type { ControlStore } from './accounts/store.ts';
import type { UsageRecorder } from './gate/usage.ts';
import { bullmqLine } from './jobs/bullmq-line.ts';
import { createJobNews, createJobs, type Jobs } from './jobs/jobs.ts';
import { type JobLine, polledLine } from './jobs/line.ts';
import { createJobRunner, type JobRunner, type RunnerDeps } from './jobs/runner.ts';
import type { ServiceDeps } from './operations/create-deps.ts';
import { createJobWork } from './operations/sql/job-work.ts';
import { createRefresher, type Refresher } from './organizations/refresher.ts';
import { directoryFiles } from './results/directory-files.ts';
import type { ResultFiles } from './results/result-files.ts';
import { createResults, type Results } from './results/results.ts';
import { s3Files } from './results/s3-files.ts';
import { createShares, type Shares } from './results/shares.ts';

/** Jobs, kept results and refreshes of an API process, built from the configuration. */
export interface OpenJobs {
  readonly results: Results;
  readonly jobs: Jobs;
  readonly shares: Shares;
  /** Begins to run jobs, with what their queries need. */
  begin(deps: ServiceDeps, sandbox: SqlSandbox): void;
  /** Stops what runs, and puts it back into the line. */
  close(): Promise<void>;
}

interface JobParts {
  readonly config: Pick<Config, 'console' | 'control' | 'dataDir' | 'results'>;
  readonly access: EngineAccess;
  readonly store: ControlStore;
  readonly usage: Pick<UsageRecorder, 'keepQuery'>;
  readonly clock: Clock;
  readonly log: Log;
  /** In place of the product's own limits, for tests. */
  readonly limits?: RunnerDeps['limits'];
}

/** The long queries of the sandbox leave a core to the others; more jobs at once would wait there. */
const placesHere = (): number => Math.max(1, availableParallelism() - 1);

export function openJobs({ config, access, store, usage, clock, log, limits }: JobParts): OpenJobs {
  const reader = createAttachedReader(access);
  const { maxGigabytes, minFreeGigabytes } = config.results;
  const room = { bytesMax: maxGigabytes * 1e9, freeBytesMin: minFreeGigabytes * 1e9 };
  const results = createResults({ store, files: openResultFiles(config), reader, clock, limits: room });
  const news = createJobNews();
  const line = openLine(config, log);
  let runner: JobRunner | undefined;
  let refresher: Refresher | undefined;
  const jobs = createJobs({ store, clock, log, news, onQueued: () => line.announce() });
  return {
    results,
    jobs,
    shares: createShares({ store, clock }),
    begin: (deps, sandbox) => {
      runner = createJobRunner({
        store,
        work: createJobWork(deps, sandbox),
        clock,
        log,
        news,
        line,
        places: placesHere(),
        keepRun: usage.keepQuery,
        sweep: () => results.sweep(),
        ...(limits === undefined ? {} : { limits }),
      });
      runner.start();
      refresher = createRefresher({
        store,
        jobs,
        plans: deps.deployment.plans,
        publicKey: lentKeyDigest(config.console.visitorKey),
        clock,
        log,
      });
      refresher.start();
    },
    close: async () => {
      await refresher?.stop();
      await runner?.stop();
      await line.close();
      reader.close();
    },
  };
}

function openResultFiles({ dataDir, results: { directory, s3 } }: JobParts['config']): ResultFiles {
  return s3 === null ? directoryFiles(directory ?? join(dataDir, 'results')) : s3Files(s3);
}

function openLine({ control: { redisUrl, keyPrefix } }: JobParts['config'], log: Log): JobLine {
  return redisUrl === null ? polledLine(log) : bullmqLine({ url: redisUrl, keyPrefix, log });
}
