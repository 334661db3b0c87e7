import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import { createSafeFetcher } from '../fetch/safe-fetch.ts';
import { observedFetcher, UNOBSERVED, type WorkObservation } from '../follow/observe-work.ts';
import type { Versions } from '../write/versions.ts';
import { fetchCards } from './cards/queue.ts';
import { deriveAgents } from './derive.ts';
import { fetchFeedback } from './feedback/queue.ts';

/**
 * Keeps everything about agents that is not a log: derives them, and fetches the files that they and their raters name. Until the
 * signal aborts; any error but those of remote documents ends all of it.
 */
export async function runIdentities(deps: {
  readonly config: Pick<Config, 'chains' | 'identities'>;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /** Counts what is fetched; default: nothing does. */
  readonly observation?: WorkObservation;
}): Promise<void> {
  const { config, log, clock = systemClock, observation = UNOBSERVED } = deps;
  const work = [deriveAgents(deps)];
  if (config.identities.fetch) {
    const fetcher = observedFetcher(observation, createSafeFetcher({ settings: config.identities, log }));
    work.push(fetchCards({ ...deps, clock, fetcher }), fetchFeedback({ ...deps, clock, fetcher }));
  }
  await Promise.all(work);
}
