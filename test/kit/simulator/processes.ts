import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { EngineError, type Writer } from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { createLog } from '../../../core/log.ts';
import { createMemoryQueue } from '../../../ingest/coordinate/engine.ts';
import { indexChain } from '../../../ingest/coordinate/index-chain.ts';
import { workRanges } from '../../../ingest/coordinate/work-ranges.ts';
import { decodeContextOf } from '../../../ingest/decode/context.ts';
import { emittersOf } from '../../../ingest/decode/log-kind.ts';
import { createEvmWindows } from '../../../ingest/follow/evm-windows.ts';
import {
  type Catalogue,
  type CatalogueHolder,
  createCatalogueHolder,
} from '../../../ingest/grading/catalogue.ts';
import { changeCatalogue, type RecordedPass, sweepPasses } from '../../../ingest/grading/regrade/regrade.ts';
import { mergeRelayerTotals } from '../../../ingest/rollup/close.ts';
import type { RollupLimits } from '../../../ingest/rollup/due.ts';
import { runRollup } from '../../../ingest/rollup-worker.ts';
import { untilAcknowledged } from '../../../ingest/write/batch-writer.ts';
import { contractsName, createCheckpoints, missingRanges } from '../../../ingest/write/checkpoints.ts';
import { createVersions } from '../../../ingest/write/versions.ts';
import { freshLooks, type KillableEngine } from './engine.ts';
import type { SimulatedChain } from './world.ts';

/** The product's own chain followers and regrading over the model chains, as one process that can die. */
export interface SimulatedIngest {
  /** Null while it lives; else what ended it. */
  ended(): { readonly error: unknown } | null;
  /** From now on rows are to be graded by this catalogue. */
  want(catalogue: Catalogue): void;
  /** Whether every row that this process wrote or found follows the catalogue. */
  follows(catalogue: Catalogue): boolean;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

const log = createLog('silent', 'simulation');
const POLL_MS = 10;

/** `writer` is the chain followers', `regrader` the same process's for everything else. */
export function startSimulatedIngest(deps: {
  readonly chains: readonly SimulatedChain[];
  readonly catalogue: Catalogue;
  readonly writer: Writer;
  readonly regrader: Writer;
}): SimulatedIngest {
  const { chains, writer } = deps;
  const ending = new AbortController();
  const { signal } = ending;
  setMaxListeners(0, signal);
  const versions = createVersions(0n);
  const regrade = { writer: deps.regrader, versions, log, signal };
  let ended: { readonly error: unknown } | null = null;
  let wanted = deps.catalogue;
  let followed: Catalogue | null = null;
  let wake = (): void => undefined;

  const runChain = async ({ config, model }: SimulatedChain, catalogues: CatalogueHolder): Promise<void> => {
    const { source } = model;
    const queue = createMemoryQueue();
    const chain = config();
    const context = decodeContextOf(chain, catalogues.current());
    const windows = createEvmWindows({ source, context, writer });
    const own = { config: chain, source, windows, writer, versions, catalogues, log, signal };
    const run = await indexChain({ ...own, jobs: { queueOf: () => queue, epoch: 0n } });
    await Promise.all([run.done, workRanges({ ...own, jobs: { queueOf: () => queue, atOnce: 1 } })]);
    if (!signal.aborted) throw new Error(`a chain stopped: ${run.status.snapshot().lastError}`);
  };
  /** What ingest/grading/regrade/follow.ts does, with this test in the place of its files. */
  const followCatalogue = async (holder: CatalogueHolder, begun: RecordedPass): Promise<void> => {
    let { pass } = begun;
    while (!signal.aborted) {
      const target = holder.current();
      await sweepPasses(regrade, pass === null ? [] : [pass]);
      followed = target;
      while (wanted === target && !signal.aborted) await new Promise<void>((resolve) => (wake = resolve));
      if (signal.aborted) return;
      ({ pass } = await changeCatalogue(regrade, wanted, target, (next) => holder.replace(next)));
    }
  };
  // One chain's death is the death of the process, as in ingest/worker.ts.
  const die = (error: unknown): void => {
    if (!signal.aborted) ended ??= { error };
    ending.abort();
    wake();
  };
  const run = async (): Promise<void> => {
    const first = wanted;
    const begun = await changeCatalogue(regrade, first);
    const holder = createCatalogueHolder(first);
    const parts = [...chains.map((chain) => runChain(chain, holder)), followCatalogue(holder, begun)];
    await Promise.all(parts.map((part) => part.catch(die)));
  };
  const running = run().catch(die);
  return {
    ended: () => ended,
    want(catalogue) {
      wanted = catalogue;
      wake();
    },
    follows: (catalogue) => followed === catalogue,
    async stop() {
      ending.abort();
      wake();
      await running;
    },
  };
}

/** Whether the checkpoints promise every block from the configured first one to the model's head. */
export async function isCaughtUp(
  writer: Writer,
  { config, model }: SimulatedChain,
  catalogue: Catalogue,
): Promise<boolean> {
  const chainConfig = config();
  const { chain, startBlock } = chainConfig;
  const contracts = contractsName(emittersOf(decodeContextOf(chainConfig, catalogue)));
  const { head, backfilled } = await createCheckpoints(
    { chain, contracts },
    writer,
    createVersions(0n),
  ).load();
  const tip = model.head();
  if (head === null || head.end !== tip.number || head.hash !== tip.hash) return false;
  return missingRanges(startBlock, head.start - 1, backfilled).length === 0;
}

/** An engine that starts again, and a few blocks: seconds on an idle machine. */
const WITHIN_MS = 120_000;

/** Waits on a condition that may be unanswerable while the engine restarts. */
export async function eventually(
  what: string,
  condition: () => Promise<boolean>,
  withinMs = WITHIN_MS,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      if (await condition()) return;
      last = undefined;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      last = error;
    }
    await delay(POLL_MS);
  }
  throw new Error(`gave up waiting until ${what}`, { cause: last });
}

const MAX_SECONDS = 10;

/** Everything is due at once; a busy block is enough for a day to be closed by hours. */
const LIMITS: RollupLimits = {
  pollMs: POLL_MS,
  closeAfterMs: 0,
  quietMs: 0,
  closeAnywayAfterMs: 0,
  splitAboveRows: 50,
  slicesPerPassMax: 4,
  totalsEveryMs: 0,
  copyEveryMs: 0,
};

/**
 * The product's rollup worker as a process that ends when nothing is dirty and the relayers' totals are merged from that.
 * Rejects when it dies or meets what no waiting mends.
 * `engine` tells of the tables whatever happens to the worker.
 */
export async function rollUp(writer: Writer, engine: KillableEngine): Promise<void> {
  const ending = new AbortController();
  const versions = createVersions(0n);
  let failed = false;
  const running = runRollup({
    writer,
    versions,
    log,
    signal: ending.signal,
    clock: { nowMs: () => Date.now() },
    limits: LIMITS,
  }).catch((error: unknown) => {
    failed = true;
    throw error;
  });
  running.catch(() => undefined); // awaited below
  const isClean = freshLooks(engine.changes, async () => (await dirtySlices(engine.writer)) === 0);
  while (!failed && !(await isClean())) await delay(POLL_MS);
  ending.abort();
  await running;
  // By itself it may have been ended before it came to this.
  const { signal } = new AbortController();
  await untilAcknowledged(log, signal, () => mergeRelayerTotals({ writer, versions }));
}

/** Infinite while the engine does not answer. */
async function dirtySlices(observer: Writer): Promise<number> {
  try {
    const { rows } = await observer.rows({
      name: 'simulation-dirty',
      sql: sql`SELECT count() FROM rollup_slices WHERE ver > rolled_ver`,
      maxSeconds: MAX_SECONDS,
      maxRows: 1,
    });
    return Number(rows[0]?.[0]);
  } catch {
    return Number.POSITIVE_INFINITY; // it is being restarted
  }
}
