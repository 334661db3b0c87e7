import { setTimeout as delay } from 'node:timers/promises';
import { untilAcknowledged } from '../write/until-acknowledged.ts';
import { loadContestedOrigins } from './contested-origins.ts';
import { countActivity } from './count-activity.ts';
import { deriveList } from './derive-list.ts';
import { ENDPOINT_LIMITS, type EndpointLimits, type FollowEndpointsDeps } from './limits.ts';
import { loadListedPayees } from './listed-payees.ts';
import { remapOffers } from './remap-offers.ts';
import { createSourceWatch } from './watch-sources.ts';

/**
 * The endpoint catalogue of an ingest process: sources are read again and again, what they list becomes the directory, its
 * addresses become payees of the catalogue, and their activity is counted anew. Nothing else waits for any of it.
 */

/** Counting reads a month of payments: at most a twentieth of the time goes into it. */
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

/** Carries changes on: to the list soon, to the catalogue's payees all at once when the reading is over. */
function createSettling(deps: FollowEndpointsDeps, limits: EndpointLimits) {
  const { writer, versions, config, payees, log, signal } = deps;
  const chains = config.chains.map(({ chain }) => chain);
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  // What a predecessor left behind is carried on as a change is.
  let listWaits = true;
  let countWaits = true;
  let payeesWaitSinceMs: number | null = performance.now();
  let listedAtMs = Number.NEGATIVE_INFINITY;
  let countedAtMs = Number.NEGATIVE_INFINITY;
  let countTookMs = 0;
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
      return countActivity(writer, { chains, nowMs: deps.nowMs(), ver: versions.next() });
    });
    // An attempt that was not acknowledged may have written all there was to write.
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
    },
  };
}
