import { setMaxListeners } from 'node:events';
import type { Writer } from '../clickhouse/engine/engine.ts';
import type { ChainConfig } from '../core/config/chains.ts';
import type { Config } from '../core/config/config.ts';
import type { Log } from '../core/log.ts';
import { runTogether } from '../core/process/run-together.ts';
import { runIdentities } from './agents/derive.ts';
import type { Coordination, Held } from './coordinate/coordination.ts';
import { engineCoordination } from './coordinate/engine.ts';
import { indexChain } from './coordinate/index-chain.ts';
import { workRanges } from './coordinate/work-ranges.ts';
import { openEndpoints } from './endpoints/follow.ts';
import type { OpenDeps } from './families/family.ts';
import { familyOf } from './families/family-of.ts';
import { UNOBSERVED, type WorkObservation } from './follow/observe-work.ts';
import { createRepair, retryDeadLetters } from './follow/repair.ts';
import { publishStatus, reportProgress } from './follow/status-report.ts';
import type { CatalogueHolder } from './grading/catalogue.ts';
import { openPublishedCatalogue } from './grading/published.ts';
import { openCatalogue } from './grading/regrade/follow.ts';
import { importedChain, isImportedOnly } from './import/imported-chain.ts';
import { untilAcknowledged } from './write/batch-writer.ts';
import { CATALOGUE_SCOPE } from './write/fence.ts';
import { createVersions, highestVersion, type Versions } from './write/versions.ts';
import { OTHERS_WRITE, type WriteWatch, watchWrites } from './write/watch-writes.ts';

/**
 * The assembly of an ingest process, the same for one process and for many:
 *
 *   the leader of the catalogue   reads its files, publishes, regrades; keeps endpoints and identities
 *   the leader of a chain         follows the tip, retracts what a reorg undoes, plans range jobs, publishes the status
 *   every process                 works on the range jobs of every chain
 *
 * The coordination decides which process leads and which takes a job (coordinate/coordination.ts,
 * docs/decisions/0007-many-ingest-processes.md).
 */
export interface IngestDeps {
  readonly config: Config;
  readonly writer: Writer;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Writes a readable line; null without a terminal. */
  readonly terminal: ((line: string) => void) | null;
  /** Default: nothing is counted or traced. */
  readonly observation?: WorkObservation;
}

type Deps = IngestDeps & {
  readonly coordination: Coordination;
  readonly writes: WriteWatch;
};

/**
 * Indexes every configured chain until the signal aborts. An error that is not marked as expected ends all of them: the
 * process must die loudly and resume from its checkpoints.
 */
export async function runIngest(deps: IngestDeps): Promise<void> {
  const { config, log, signal } = deps;
  // Every pause and request listens to it: many at once are no leak.
  setMaxListeners(0, signal);
  const coordination = await openCoordination(config, log);
  const { writer, writes } = watchWrites(deps.writer);
  const alone = { ...deps, coordination, writer, writes };
  const shared = { ...deps, coordination, writes: OTHERS_WRITE };
  try {
    await (coordination.isShared ? runShared(shared) : leadCatalogue(alone, indexChains));
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    await coordination.close();
  }
}

/** Over the Redis of the control store, where there is one and other processes can reach the engine. BullMQ is loaded only then. */
async function openCoordination(
  { control: { redisUrl, keyPrefix }, clickhouse }: Pick<Config, 'control' | 'clickhouse'>,
  log: Log,
): Promise<Coordination> {
  const isOwnEngine = clickhouse.url === null;
  if (redisUrl === null || isOwnEngine) return engineCoordination({ isOwnEngine });
  const { redisCoordination } = await import('./coordinate/redis/coordination.ts');
  return redisCoordination(redisUrl, keyPrefix, log);
}

/** One process of many: it may or may not lead the catalogue, and grades by the published one. */
async function runShared(deps: Deps): Promise<void> {
  await runTogether(deps.signal, async (signal) => {
    const own = { ...deps, signal };
    return [leadCatalogue(own, () => []), indexAsPublished(own)];
  });
}

async function indexAsPublished(deps: Deps): Promise<void> {
  const { writer, log } = deps;
  await runTogether(deps.signal, async (signal) => {
    const versions = createVersions(await untilAcknowledged(log, signal, () => highestVersion(writer)));
    const published = await openPublishedCatalogue({ writer, log, signal });
    return [published.follow(), ...indexChains({ ...deps, versions, signal }, published.holder)];
  });
}

/** `begin` starts what grades by this catalogue and must end with the lead. */
async function leadCatalogue(deps: Deps, begin: typeof indexChains): Promise<void> {
  await deps.coordination.lead(CATALOGUE_SCOPE, deps, ({ writer, versions, signal }) =>
    runTogether(signal, async (inner) => {
      const own = { ...deps, writer, versions, signal: inner };
      const endpoints = await openEndpoints(own);
      const catalogue = await openCatalogue({ ...own, listed: endpoints.payees });
      return [
        catalogue.follow(),
        endpoints.follow(catalogue.listings),
        runIdentities(own),
        ...begin(own, catalogue.holder),
      ];
    }),
  );
}

function indexChains(
  deps: Deps & { readonly versions: Versions },
  catalogues: CatalogueHolder,
): Promise<void>[] {
  const { config, coordination } = deps;
  return config.chains.flatMap((chain) => {
    const leading = coordination.lead(chain.chain, deps, (held) => leadChain(deps, chain, catalogues, held));
    if (isImportedOnly(chain)) return [leading];
    const open = familyOf(chain).openHistory(opening(deps, catalogues), chain);
    const jobs = { queueOf: queuesOf(coordination, chain), atOnce: config.ingest.jobsAtOnce };
    return [leading, workRanges({ ...deps, ...open, config: chain, catalogues, jobs })];
  });
}

async function leadChain(
  deps: Deps,
  chain: ChainConfig,
  catalogues: CatalogueHolder,
  { guard, writer, versions, signal }: Held,
): Promise<void> {
  await runTogether(signal, async (inner) => {
    const own = { ...deps, config: chain, writer, versions, signal: inner };
    if (isImportedOnly(chain)) {
      const run = await importedChain(own);
      return [run.done, publishStatus(run.status, own)];
    }
    const { source, windows, passes } = familyOf(chain).openHead(
      opening({ ...deps, writer, signal: inner }, catalogues),
      chain,
    );
    const jobs = { queueOf: queuesOf(deps.coordination, chain), epoch: guard?.token ?? 0n };
    const run = await indexChain({ ...own, source, windows, catalogues, jobs });
    const again = { ...own, windows, catalogues, status: run.status };
    const repair = createRepair(again);
    return [
      run.done,
      ...passes({ ...again, repair }),
      retryDeadLetters({ ...again, repair }),
      publishStatus(run.status, own),
      reportProgress(chain.facts.slug, run.status, own),
    ];
  });
}

/** What a family opens a chain with. */
function opening(
  { writer, log, signal, coordination, observation = UNOBSERVED }: Deps,
  catalogues: CatalogueHolder,
): OpenDeps {
  return { catalogues, writer, rateLimitOf: coordination.rateLimitOf, observation, log, signal };
}

function queuesOf({ queueOf }: Coordination, { chain }: ChainConfig) {
  return (contracts: string) => queueOf(`ranges-${chain.replace(':', '-')}-${contracts}`);
}
