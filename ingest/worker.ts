import { setMaxListeners } from 'node:events';
import type { Config } from '../core/config/config.ts';
import { runTogether } from '../core/process/run-together.ts';
import { runIdentities } from './agents/run.ts';
import { createRpcSource } from './chain/rpc-source.ts';
import type { Coordination } from './coordinate/coordination.ts';
import { engineLeases } from './coordinate/engine-leases.ts';
import { CATALOGUE_SCOPE } from './coordinate/fence.ts';
import { lead } from './coordinate/lead.ts';
import { ownerName } from './coordinate/owner-name.ts';
import { runShared } from './coordinate/run-shared.ts';
import { openEndpoints } from './endpoints/follow.ts';
import { enrichRelayers } from './follow/enrich-relayers.ts';
import { type ChainRun, indexChain } from './follow/index-chain.ts';
import { observedSource, UNOBSERVED, watchedRpc } from './follow/observe-work.ts';
import { reportProgress } from './follow/progress.ts';
import { publishStatus } from './follow/publish-status.ts';
import { openCatalogue } from './grading/regrade/follow.ts';
import { importedChain, isImportedOnly } from './import/imported-chain.ts';
import type { IngestDeps } from './ingest-deps.ts';
import { highestVersion } from './write/highest-version.ts';
import { untilAcknowledged } from './write/until-acknowledged.ts';
import { createVersions } from './write/versions.ts';

/**
 * Indexes every configured chain until the signal aborts. An error that is not marked as expected ends all of them: the
 * process must die loudly and resume from its checkpoints.
 *
 * With `coordination` any number of processes may do this over one database. Without, one does: over an engine that others could
 * reach it leads everything there is to lead, and a second process stands by; the embedded engine is its own alone.
 */
export async function runIngest(
  deps: IngestDeps & { readonly coordination?: Coordination | null },
): Promise<void> {
  const { config, signal, coordination } = deps;
  // Every pause and request listens to it: many at once are no leak.
  setMaxListeners(0, signal);
  try {
    if (coordination) await runShared({ ...deps, coordination });
    else if (config.clickhouse.url !== null) await leadAll(deps, scopesOf(config));
    else await runAlone(deps);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function scopesOf({ chains }: Config): string[] {
  return [CATALOGUE_SCOPE, ...chains.map(({ chain }) => chain)];
}

/** One lead inside the other; whoever loses one of them stops what is inside and waits for it again. */
async function leadAll(deps: IngestDeps, scopes: readonly string[], owner = ownerName()): Promise<void> {
  const [scope, ...others] = scopes;
  if (scope === undefined) return runAlone(deps);
  const leases = engineLeases(deps.writer, owner);
  await lead({ ...deps, leases, owner }, scope, ({ writer, signal }) =>
    leadAll({ ...deps, writer, signal }, others, owner),
  );
}

async function runAlone(deps: IngestDeps): Promise<void> {
  const { config, writer, log, observation = UNOBSERVED } = deps;
  await runTogether(deps.signal, async (signal) => {
    const versions = createVersions(await untilAcknowledged(log, signal, () => highestVersion(writer)));
    const endpoints = await openEndpoints({ config, writer, versions, log, signal });
    const listed = endpoints.payees;
    const catalogue = await openCatalogue({ config, writer, versions, log, signal, listed });
    const catalogues = catalogue.holder;
    const runs: ChainRun[] = [];
    const enrichments: (() => Promise<void>)[] = [];
    for (const chain of config.chains) {
      if (isImportedOnly(chain)) {
        runs.push(await importedChain({ config: chain, writer, log, signal }));
        continue;
      }
      const watched = watchedRpc(observation, chain.chain);
      const plain = createRpcSource(chain, { log, signal, ...watched });
      const source = observedSource(observation, chain.chain, plain);
      enrichments.push(() => enrichRelayers({ config: chain, source, writer, versions, log, signal }));
      runs.push(await indexChain({ config: chain, source, writer, versions, catalogues, log, signal }));
    }
    const chains = config.chains.flatMap((chain, index) => {
      const run = runs[index];
      return run === undefined || isImportedOnly(chain)
        ? []
        : [{ name: chain.facts.slug, status: run.status }];
    });
    return [
      ...runs.map((run) => run.done),
      catalogue.follow(),
      endpoints.follow(catalogue.listings),
      runIdentities({ config, writer, versions, log, signal, observation }),
      ...enrichments.map((enrich) => enrich()),
      publishStatus(runs, writer, versions, log, signal),
      reportProgress(chains, log, signal, deps.terminal),
    ];
  });
}
