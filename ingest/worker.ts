import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../clickhouse/engine.ts';
import type { Config } from '../src/config/config.ts';
import type { Log } from '../src/log.ts';
import { openEndpoints } from './catalogues/endpoints/open-endpoints.ts';
import { newsKey } from './chain-status.ts';
import { enrichRelayers } from './enrich-relayers.ts';
import { highestVersion } from './highest-version.ts';
import { runIdentities } from './identities/run-identities.ts';
import { type ChainRun, indexChain } from './index-chain.ts';
import { observedSource, UNOBSERVED, type WorkObservation, watchedRpc } from './observe-work.ts';
import { reportProgress } from './progress.ts';
import { openCatalogue } from './regrade/follow-catalogue.ts';
import { createRpcSource } from './sources/rpc-source.ts';
import { saveStatuses } from './status-row.ts';
import { untilAcknowledged } from './until-acknowledged.ts';
import { createVersions, type Versions } from './versions.ts';

/** How soon news are written for the API to serve, and how often a row is written without any. */
const STATUS_NEWS_MS = 250;
const STATUS_HEARTBEAT_MS = 2_000;

/**
 * Indexes every configured chain until the signal aborts. An error that is not marked as expected ends all of them: the
 * process must die loudly and resume from its checkpoints.
 */
export async function runIngest(deps: {
  readonly config: Config;
  readonly writer: Writer;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly terminal: ((line: string) => void) | null;
  /** Who counts and traces; default: nobody. */
  readonly observation?: WorkObservation;
}): Promise<void> {
  const { config, writer, log, observation = UNOBSERVED } = deps;
  const ending = new AbortController();
  const signal = AbortSignal.any([deps.signal, ending.signal]);
  // Every pause and request listens to it: many at once are no leak.
  setMaxListeners(0, signal);
  const runs: ChainRun[] = [];
  try {
    const versions = createVersions(await untilAcknowledged(log, signal, () => highestVersion(writer)));
    const endpoints = await openEndpoints({ config, writer, versions, log, signal });
    const listed = endpoints.payees;
    const catalogue = await openCatalogue({ config, writer, versions, log, signal, listed });
    const enrichments: (() => Promise<void>)[] = [];
    for (const chain of config.chains) {
      const watched = watchedRpc(observation, chain.chain);
      const plain = createRpcSource(chain, { log, signal, ...watched });
      const source = observedSource(observation, chain.chain, plain);
      enrichments.push(() => enrichRelayers({ config: chain, source, writer, versions, log, signal }));
      const catalogues = catalogue.holder;
      runs.push(await indexChain({ config: chain, source, writer, versions, catalogues, log, signal }));
    }
    const chains = runs.map((run, index) => ({
      name: config.chains[index]?.facts.slug ?? '',
      status: run.status,
    }));
    await Promise.all([
      ...runs.map((run) => run.done),
      catalogue.follow(),
      endpoints.follow(catalogue.listings),
      runIdentities({ config, writer, versions, log, signal, observation }),
      ...enrichments.map((enrich) => enrich()),
      publishStatus(runs, writer, versions, log, signal),
      reportProgress(chains, log, signal, deps.terminal),
    ]);
  } catch (error) {
    if (!deps.signal.aborted) throw error;
  } finally {
    ending.abort();
    await Promise.allSettled(runs.map((run) => run.done));
  }
}

/** A status that cannot be written is not worth stopping for: the next one replaces it. */
async function publishStatus(
  runs: readonly ChainRun[],
  writer: Writer,
  versions: Versions,
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  const published = new Map<ChainRun, string>();
  for (let silentMs = STATUS_HEARTBEAT_MS; !signal.aborted; silentMs += STATUS_NEWS_MS) {
    const isDue = silentMs >= STATUS_HEARTBEAT_MS;
    const news = runs.flatMap((run) => {
      run.status.tick();
      const snapshot = run.status.snapshot();
      if (!isDue && published.get(run) === newsKey(snapshot)) return [];
      published.set(run, newsKey(snapshot));
      return [snapshot];
    });
    if (isDue) silentMs = 0;
    await saveStatuses(writer, versions, news).catch((error: unknown) => {
      published.clear();
      log.warn({ err: error }, 'status not written');
    });
    await delay(STATUS_NEWS_MS, undefined, { signal });
  }
}
