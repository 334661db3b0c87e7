import { setMaxListeners } from 'node:events';
import type { Config } from '../core/config/config.ts';
import { openEndpoints } from './catalogues/endpoints/open-endpoints.ts';
import { enrichRelayers } from './enrich-relayers.ts';
import { highestVersion } from './highest-version.ts';
import { runIdentities } from './identities/run-identities.ts';
import { importedChain, isImportedOnly } from './imported-chain.ts';
import { type ChainRun, indexChain } from './index-chain.ts';
import type { IngestDeps } from './ingest-deps.ts';
import { engineLeases } from './leases/engine-leases.ts';
import { CATALOGUE_SCOPE } from './leases/fence.ts';
import { lead } from './leases/lead.ts';
import { ownerName } from './leases/owner-name.ts';
import { observedSource, UNOBSERVED, watchedRpc } from './observe-work.ts';
import { reportProgress } from './progress.ts';
import { publishStatus } from './publish-status.ts';
import { openCatalogue } from './regrade/follow-catalogue.ts';
import type { Coordination } from './shared/coordination.ts';
import { runShared } from './shared/run-shared.ts';
import { createRpcSource } from './sources/rpc-source.ts';
import { together } from './together.ts';
import { untilAcknowledged } from './until-acknowledged.ts';
import { createVersions } from './versions.ts';

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
  await together(deps.signal, async (signal) => {
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
