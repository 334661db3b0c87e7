import type { Writer } from '../../clickhouse/engine/engine.ts';
import { systemClock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import { createSafeFetcher } from '../fetch/safe-fetch.ts';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import type { Versions } from '../write/versions.ts';
import { configuredSources, type Listings } from './configured-sources.ts';
import type { ContestedOrigin } from './contested-origins.ts';
import { dollarTokens } from './dollar-tokens.ts';
import { followEndpoints } from './follow.ts';
import type { EndpointLimits } from './limits.ts';
import { createListedPayees, type ListedPayees, loadListedPayees } from './listed-payees.ts';
import type { BazaarLimits } from './read-bazaar.ts';

/** The endpoint catalogue of an ingest process, for as long as it runs. */
export interface OpenEndpoints {
  /** What the catalogue is built with; known before the first grade, because a restart must not unname them. */
  readonly payees: ListedPayees;
  /** Until the signal aborts, with its reason. */
  follow(listings: () => Listings | null): Promise<never>;
}

export async function openEndpoints(deps: {
  readonly config: Pick<Config, 'chains' | 'identities'>;
  readonly writer: Writer;
  readonly versions: Versions;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly limits?: Partial<EndpointLimits>;
  readonly bazaarLimits?: Partial<BazaarLimits>;
}): Promise<OpenEndpoints> {
  const { config, writer, log, signal, bazaarLimits = {} } = deps;
  const chains = config.chains.map(({ chain }) => chain);
  const payees = createListedPayees(
    await untilAcknowledged(log, signal, () =>
      loadListedPayees(writer, { chains, nowMs: systemClock.nowMs() }),
    ),
  );
  const fetcher = createSafeFetcher({ settings: config.identities, log });
  let contested: readonly ContestedOrigin[] = [];
  return {
    payees,
    follow: (listings) =>
      followEndpoints({
        ...deps,
        payees,
        tokens: dollarTokens(config),
        nowMs: systemClock.nowMs,
        sources: configuredSources(listings, { fetcher, bazaarLimits, contested: () => contested }),
        onContested(origins) {
          // The switch for everything that strangers name.
          if (config.identities.fetch) contested = origins;
        },
      }),
  };
}
