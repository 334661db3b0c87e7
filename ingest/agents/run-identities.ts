import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Clock, systemClock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import { createSafeFetcher } from '../fetch/safe-fetch.ts';
import { observedFetcher, UNOBSERVED, type WorkObservation } from '../follow/observe-work.ts';
import type { Versions } from '../write/versions.ts';
import { deriveAgents } from './derive-agents.ts';
import { fetchCards } from './fetch-cards.ts';
import { fetchFeedback } from './fetch-feedback.ts';

/**
 * Keeps everything about agents that is not a log: derives them, and fetches the files that they and their raters name. Until the
 * signal aborts; an error that is not a stranger's ends all of it.
 */
export async function runIdentities(deps: {
  readonly config: Pick<Config, 'chains' | 'identities'>;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  /** Who counts what is fetched; default: nobody. */
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
