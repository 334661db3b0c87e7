import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { systemClock } from '../../core/clock.ts';
import type { Config } from '../../core/config/config.ts';
import type { Log } from '../../core/log.ts';
import { createSafeFetcher } from '../fetch/safe-fetch.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';
import type { Versions } from '../write/versions.ts';
import {
  countActivity,
  createListedPayees,
  type ListedPayees,
  loadListedPayees,
  recordCount,
} from './activity.ts';
import type { BazaarLimits } from './bazaar.ts';
import { offerTokens } from './item.ts';
import { deriveList } from './list.ts';
import { remapOffers } from './offers.ts';
import { type ContestedOrigin, configuredSources, type Listings, loadContestedOrigins } from './sources.ts';
import {
  createSourceWatch,
  ENDPOINT_LIMITS,
  type EndpointLimits,
  type FollowEndpointsDeps,
} from './watch.ts';

/** The endpoint catalogue of an ingest process, for as long as it runs. */
export interface OpenEndpoints {
  /** The listed payees for the catalogue; loaded before the first grade, because a restart must not drop them. */
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
        tokens: offerTokens(config),
        nowMs: systemClock.nowMs,
        sources: configuredSources(listings, { fetcher, bazaarLimits, contested: () => contested }),
        onContested(origins) {
          // `identities.fetch` disables every request to an address from untrusted data.
          if (config.identities.fetch) contested = origins;
        },
      }),
  };
}

/**
 * The endpoint catalogue of an ingest process: reads sources periodically, builds the directory from their offers, adds the payees to
 * the catalogue, and recounts their activity. Nothing else waits for it.
 */

/** Counting reads every payment to a listed address: at most a twentieth of the time goes into it. */
const COUNT_REST_FACTOR = 20;

/** Until the signal aborts, with its reason. */
export async function followEndpoints(deps: FollowEndpointsDeps): Promise<never> {
  const limits = { ...ENDPOINT_LIMITS, ...deps.limits };
  const settle = createSettling(deps, limits);
  if ((await remapOffers(deps)) > 0) settle.changed();
  await settle.followContested();
  const watch = await createSourceWatch(deps, limits);
  const carryOn = async (): Promise<never> => {
    for (;;) {
      if (watch.look()) settle.changed();
      await settle.carryOn(watch.isIdle());
      await delay(limits.lookEveryMs, undefined, { signal: deps.signal });
    }
  };
  const [never] = await Promise.all([carryOn(), watch.failed]);
  return never;
}

/** Propagates changes: to the list soon, to the catalogue's payees all at once after the reading. */
function createSettling(deps: FollowEndpointsDeps, limits: EndpointLimits) {
  const { writer, versions, config, payees, log, signal } = deps;
  const chains = config.chains.map(({ chain }) => chain);
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  // Propagates what a predecessor left behind like a change.
  let listWaits = true;
  let countWaits = true;
  let payeesWaitSinceMs: number | null = performance.now();
  let listedAtMs = Number.NEGATIVE_INFINITY;
  let countedAtMs = Number.NEGATIVE_INFINITY;
  let countTookMs = 0;
  /** When a count was begun whose figures are not recorded as listed yet. */
  let unrecordedMs: number | null = null;
  let payeesChangedAtMs = Number.NEGATIVE_INFINITY;

  const arePayeesDue = (isIdle: boolean): boolean => {
    const nowMs = performance.now();
    if (payeesWaitSinceMs === null || nowMs - payeesChangedAtMs < limits.payeesEveryMs) return false;
    return isIdle || nowMs - payeesWaitSinceMs >= limits.payeesWaitMaxMs;
  };
  const followPayees = async (): Promise<void> => {
    payeesWaitSinceMs = null;
    const next = await acknowledged(() => loadListedPayees(writer, { chains, nowMs: deps.nowMs() }));
    if (!payees.replace(next)) return;
    payeesChangedAtMs = performance.now();
    log.info({ payees: next.length }, 'payees of listed endpoints changed');
  };
  const isCountDue = (isIdle: boolean): boolean => {
    const restedMs = performance.now() - countedAtMs;
    return (
      restedMs >= countTookMs * COUNT_REST_FACTOR && ((countWaits && isIdle) || restedMs >= limits.recountMs)
    );
  };
  const recount = async (): Promise<void> => {
    countWaits = false;
    const beganMs = performance.now();
    let attempts = 0;
    const hasChanged = await acknowledged(() => {
      attempts++;
      const nowMs = deps.nowMs();
      unrecordedMs = nowMs;
      return countActivity(writer, { chains, nowMs, ver: versions.next() });
    });
    // An unacknowledged attempt may have written everything.
    if (hasChanged || attempts > 1) listWaits = true;
    countedAtMs = performance.now();
    countTookMs = countedAtMs - beganMs;
  };
  const isListDue = (isIdle: boolean): boolean =>
    listWaits && (isIdle || performance.now() - listedAtMs >= limits.listEveryMs);
  const list = async (): Promise<void> => {
    listWaits = false;
    await acknowledged(() => deriveList(writer, () => versions.next()));
    listedAtMs = performance.now();
    await followContested();
  };
  const record = async (nowMs: number): Promise<void> => {
    unrecordedMs = null;
    await acknowledged(() => recordCount(writer, { nowMs, ver: versions.next() }));
  };
  const followContested = async (): Promise<void> =>
    deps.onContested(await acknowledged(() => loadContestedOrigins(writer)));
  return {
    followContested,
    /** Offers were written. */
    changed(): void {
      listWaits = true;
      countWaits = true;
      payeesWaitSinceMs ??= performance.now();
    },
    /** `isIdle`: no source is being read. */
    async carryOn(isIdle: boolean): Promise<void> {
      if (arePayeesDue(isIdle)) await followPayees();
      if (isCountDue(isIdle)) await recount();
      if (isListDue(isIdle)) await list();
      if (unrecordedMs !== null && !listWaits) await record(unrecordedMs);
    },
  };
}
