import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine.ts';
import type { Catalogue } from '../../ingest/catalogues/catalogue.ts';
import { createCatalogueHolder } from '../../ingest/catalogues/catalogue-holder.ts';
import { contractsName, createCheckpoints } from '../../ingest/checkpoints.ts';
import { missingRanges } from '../../ingest/coverage.ts';
import { type ChainRun, indexChain } from '../../ingest/index-chain.ts';
import { decodeContextOf } from '../../ingest/stages/decode-context.ts';
import { logFilterOf } from '../../ingest/stages/log-filter.ts';
import { createVersions } from '../../ingest/versions.ts';
import { createLog } from '../../src/log.ts';
import type { SimulatedChain } from './simulated-world.ts';

/** The product's own chain follower over the model chains, as one process that can die. */
export interface SimulatedIngest {
  /** Null while it lives; else what ended it. */
  ended(): { readonly error: unknown } | null;
  /** Resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

const log = createLog('fatal', 'simulated-ingest');

export function startSimulatedIngest(deps: {
  readonly chains: readonly SimulatedChain[];
  readonly catalogue: Catalogue;
  readonly writer: Writer;
}): SimulatedIngest {
  const { chains, catalogue, writer } = deps;
  const ending = new AbortController();
  const versions = createVersions(0n);
  let ended: { readonly error: unknown } | null = null;
  const runOne = async ({ config, model }: SimulatedChain): Promise<void> => {
    const run: ChainRun = await indexChain({
      config: config(),
      source: model.source,
      writer,
      versions,
      catalogues: createCatalogueHolder(catalogue),
      log,
      signal: ending.signal,
    });
    await run.done;
    if (!ending.signal.aborted) throw new Error(`a chain stopped: ${run.status.snapshot().lastError}`);
  };
  // One chain's death is the death of the process, as in ingest/worker.ts.
  const runs = chains.map((chain) =>
    runOne(chain).catch((error: unknown) => {
      if (!ending.signal.aborted) ended ??= { error };
      ending.abort();
    }),
  );
  return {
    ended: () => ended,
    async stop() {
      ending.abort();
      await Promise.all(runs);
    },
  };
}

/** Whether the checkpoints promise every block from the configured first one to the model's head. */
export async function isCaughtUp(
  writer: Writer,
  { config, model }: SimulatedChain,
  catalogue: Catalogue,
): Promise<boolean> {
  const { chain, tokens, startBlock } = config();
  const { addresses } = logFilterOf(decodeContextOf({ chain, tokens }, catalogue));
  const contracts = contractsName(addresses);
  const { head, backfilled } = await createCheckpoints(
    { chain, contracts },
    writer,
    createVersions(0n),
  ).load();
  const tip = model.head();
  if (head === null || head.end !== tip.number || head.hash !== tip.hash) return false;
  return missingRanges(startBlock, head.start - 1, backfilled).length === 0;
}

const POLL_MS = 10;

/** Waits on a condition that may be unanswerable while the engine restarts. */
export async function eventually(
  what: string,
  condition: () => Promise<boolean>,
  withinMs = 30_000,
): Promise<void> {
  const deadline = performance.now() + withinMs;
  let last: unknown;
  while (performance.now() < deadline) {
    try {
      if (await condition()) return;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await delay(POLL_MS);
  }
  throw new Error(`gave up waiting until ${what}`, { cause: last });
}
