import type { ChainConfig } from '../../core/config/config.ts';
import { runTogether } from '../../core/process/run-together.ts';
import { runIdentities } from '../agents/run.ts';
import type { BlockSource } from '../chain/block-source.ts';
import { createRpcSource } from '../chain/rpc-source.ts';
import { openEndpoints } from '../endpoints/follow.ts';
import { enrichRelayers } from '../follow/enrich-relayers.ts';
import { indexChain } from '../follow/index-chain.ts';
import { observedSource, UNOBSERVED, watchedRpc } from '../follow/observe-work.ts';
import { reportProgress } from '../follow/progress.ts';
import { publishStatus } from '../follow/publish-status.ts';
import type { CatalogueHolder } from '../grading/catalogue.ts';
import { openPublishedCatalogue } from '../grading/published.ts';
import { openCatalogue } from '../grading/regrade/follow.ts';
import { importedChain, isImportedOnly } from '../import/imported-chain.ts';
import type { IngestDeps } from '../ingest-deps.ts';
import { highestVersion } from '../write/highest-version.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import { createVersions } from '../write/versions.ts';
import type { Coordination } from './coordination.ts';
import { CATALOGUE_SCOPE } from './fence.ts';
import { type Lead, lead } from './lead.ts';
import { planRanges } from './plan-ranges.ts';
import { workRanges } from './work-ranges.ts';

/**
 * One of any number of ingest processes over one ClickHouse and one Redis (docs/decisions/0007-many-ingest-processes.md). Each
 * works on range jobs of every chain. One of them leads each chain: it follows the tip, retracts what a reorg undoes, plans the
 * jobs and publishes the status. One leads the catalogue: it reads the files, publishes, regrades, and keeps endpoints and
 * identities. The others stand by.
 */
export type SharedDeps = IngestDeps & { readonly coordination: Coordination };

/** Until the signal aborts, with its reason. */
export async function runShared(deps: SharedDeps): Promise<void> {
  await runTogether(deps.signal, (signal) => {
    const own = { ...deps, signal };
    return [leadCatalogue(own), indexChains(own)];
  });
}

async function leadCatalogue(deps: SharedDeps): Promise<void> {
  await lead(leadDeps(deps), CATALOGUE_SCOPE, ({ writer, versions, signal }) =>
    runTogether(signal, async (inner) => {
      const own = { ...deps, writer, versions, signal: inner };
      const endpoints = await openEndpoints(own);
      // Nothing is graded by its holder: like every other process this one follows what is published.
      const catalogue = await openCatalogue({ ...own, listed: endpoints.payees });
      return [catalogue.follow(), endpoints.follow(catalogue.listings), runIdentities(own)];
    }),
  );
}

async function indexChains(deps: SharedDeps): Promise<void> {
  const { config, writer, log, coordination } = deps;
  await runTogether(deps.signal, async (signal) => {
    const versions = createVersions(await untilAcknowledged(log, signal, () => highestVersion(writer)));
    const published = await openPublishedCatalogue({ writer, log, signal });
    const catalogues = published.holder;
    const own = { ...deps, signal };
    const { jobsAtOnce } = config.ingest;
    const read = config.chains.filter((chain) => !isImportedOnly(chain));
    const working = read.map((chain) => {
      const source = sourceOf(own, chain);
      const queueOf = (contracts: string) => coordination.queueOf(queueName(chain, contracts));
      return workRanges({ ...own, config: chain, source, versions, catalogues, queueOf, jobsAtOnce });
    });
    const leading = config.chains.map((chain) =>
      lead(leadDeps(own), chain.chain, (held) =>
        isImportedOnly(chain) ? leadImported(own, chain, held) : leadChain(own, chain, catalogues, held),
      ),
    );
    return [published.follow(), ...working, ...leading];
  });
}

async function leadImported(
  { log }: SharedDeps,
  config: ChainConfig,
  { writer, versions, signal }: Lead,
): Promise<void> {
  await runTogether(signal, async (inner) => {
    const run = await importedChain({ config, writer, log, signal: inner });
    return [run.done, publishStatus([run], writer, versions, log, inner)];
  });
}

/** What one process of all does for a chain. */
async function leadChain(
  deps: SharedDeps,
  chain: ChainConfig,
  catalogues: CatalogueHolder,
  { guard, writer, versions, signal }: Lead,
): Promise<void> {
  const { log, terminal, coordination } = deps;
  await runTogether(signal, async (inner) => {
    const own = { ...deps, config: chain, writer, versions, signal: inner };
    const source = sourceOf({ ...deps, signal: inner }, chain);
    const run = await indexChain({
      ...own,
      source,
      catalogues,
      fill: (work) =>
        planRanges({
          ...work,
          queue: coordination.queueOf(queueName(chain, work.contracts)),
          epoch: guard.token,
        }),
    });
    const named = [{ name: chain.facts.slug, status: run.status }];
    return [
      run.done,
      enrichRelayers({ ...own, source }),
      publishStatus([run], writer, versions, log, inner),
      reportProgress(named, log, inner, terminal),
    ];
  });
}

/** A source of its own for every use: its counters and its signal are the user's, and the rate is counted by URL. */
function sourceOf(
  { log, signal, coordination, observation = UNOBSERVED }: SharedDeps,
  chain: ChainConfig,
): BlockSource {
  const { rateLimitOf } = coordination;
  const watched = watchedRpc(observation, chain.chain);
  return observedSource(
    observation,
    chain.chain,
    createRpcSource(chain, { log, signal, rateLimitOf, ...watched }),
  );
}

function queueName({ chain }: ChainConfig, contracts: string): string {
  return `ranges-${chain.replace(':', '-')}-${contracts}`;
}

function leadDeps({ coordination, writer, log, signal }: SharedDeps) {
  const { leases, owner } = coordination;
  return { leases, owner, writer, log, signal };
}
