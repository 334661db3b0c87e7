import type { EngineAccess } from '../clickhouse/engine/engine.ts';
import { createWriter } from '../clickhouse/engine/http-engine.ts';
import { shardsOf } from '../clickhouse/engine/nodes.ts';
import { systemClock } from '../core/clock.ts';
import type { Config } from '../core/config/config.ts';
import { createLog, standardError } from '../core/log.ts';
import { readBootstrap } from '../core/process/child-process.ts';
import { WORKER_LOOP_LIMIT_MS, watchLoop } from '../core/process/watch-loop.ts';
import { runRollupWorker } from '../ingest/rollup-worker.ts';
import { runIngest } from '../ingest/worker.ts';
import { createRankingsRead } from './asked-rankings.ts';
import { openObservation, WORKER_PORT_OFFSET } from './observe/open.ts';

/**
 * Entry of the ingest and the rollup worker as a child of the service. A process of its own, because parsing a node's answers
 * would block the API's event loop, and because it may be killed at any moment without taking the API along.
 */

/** What the parent hands over on stdin. */
export interface IngestBootstrap {
  readonly config: Config;
  readonly access: EngineAccess;
  /** Of this program. */
  readonly version: string;
  /** Whether stderr is a terminal. */
  readonly terminal: boolean;
}

const stopping = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.on(name, () => stopping.abort());

// The parent of this process made the JSON from the same types; nothing else can write to the pipe.
const rankingsRead = createRankingsRead(systemClock);
const { config, access, version, terminal } = await readBootstrap((json) => json as IngestBootstrap, {
  onLine: rankingsRead.hear,
});
const log = createLog(config.logLevel, 'ingest', standardError(terminal));
const observation = await openObservation({
  config,
  role: 'worker',
  version,
  portOffset: WORKER_PORT_OFFSET,
  log,
});
const writer = observation.engine(createWriter(observation.access(access), log), 'writer');
const shards = shardsOf(access).map((shard) =>
  observation.engine(createWriter(observation.access(shard), log), 'writer'),
);
const ending = new AbortController();
const deps = {
  config,
  writer,
  log,
  signal: AbortSignal.any([stopping.signal, ending.signal]),
  clock: systemClock,
  observation,
  meter: observation.meter,
  terminal: terminal ? (line: string) => void process.stderr.write(`${line}\n`) : null,
};
watchLoop({
  ...{ name: 'ingest', log, dataDir: config.dataDir },
  limitMs: WORKER_LOOP_LIMIT_MS,
  marks: null,
});
const parts = [runIngest(deps), runRollupWorker({ ...deps, shards, isRead: rankingsRead.isRead })];
try {
  await Promise.all(parts);
} catch (error) {
  log.fatal({ err: error }, 'ingest or rollup failed; both resume where they were');
  process.exitCode = 1;
} finally {
  ending.abort();
  await Promise.allSettled(parts);
  await writer.close();
  await observation.close();
}
process.exit();
