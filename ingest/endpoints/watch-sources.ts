import { untilAcknowledged } from '../write/until-acknowledged.ts';
import { createDueTimes } from './due-times.ts';
import type { EndpointLimits, FollowEndpointsDeps } from './limits.ts';
import { buryOffers, loadOffers } from './offer-store.ts';
import { loadSourceStates, type SourceState, saveSourceState } from './source-states.ts';
import { type EndpointSource, type SyncOutcome, syncSource } from './sync-source.ts';

/** Reads each source when it is due, forgets those that are not configured any more, and remembers how each answered. */
export interface SourceWatch {
  /** Begins what is due. True when offers have changed since it was asked last. */
  look(): boolean;
  /** Whether nothing is being read. */
  isIdle(): boolean;
  /** Rejects when a reading ends in what no waiting mends. */
  readonly failed: Promise<never>;
}

type WatchLimits = Pick<EndpointLimits, 'refreshMs' | 'retryMs' | 'syncsMax'>;

export async function createSourceWatch(
  deps: FollowEndpointsDeps,
  limits: WatchLimits,
): Promise<SourceWatch> {
  const { writer, versions, log, signal } = deps;
  const acknowledged = <T>(attempt: () => Promise<T>): Promise<T> => untilAcknowledged(log, signal, attempt);
  const states = new Map(
    (await acknowledged(() => loadSourceStates(writer))).map((state) => [state.source, state]),
  );
  const due = createDueTimes(states.values(), limits, deps.nowMs());
  /** By id, the name of the host that is asked. */
  const underWay = new Map<string, string>();
  let hasChanged = false;
  let fail: (cause: unknown) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined); // whoever waits for it hears of it
  const begin = (id: string, host: string, work: () => Promise<void>): void => {
    underWay.set(id, hostnameOf(host));
    work().then(
      () => underWay.delete(id),
      (cause: unknown) => fail(cause),
    );
  };

  const read = async (source: EndpointSource): Promise<void> => {
    const outcome = await syncSource(deps, source, () => {
      hasChanged = true;
    });
    const { id } = source;
    const isGood = outcome.problem === null;
    due.wasRead(source, isGood && outcome.isWhole);
    const state = stateAfter(source, outcome, states.get(id), Math.floor(deps.nowMs() / 1_000));
    await acknowledged(() => saveSourceState(writer, state, { ver: versions.next(), isGone: false }));
    states.set(id, state);
    const told = { source: id, host: source.host, offers: outcome.offers, written: outcome.written };
    if (isGood) log.info(told, 'endpoints read');
    else if (source.kind === 'contested')
      log.debug({ ...told, problem: outcome.problem }, 'a contested origin did not answer');
    else
      log.warn({ ...told, problem: outcome.problem }, 'endpoints not read to the end; what was listed stays');
  };
  const forget = async (state: SourceState): Promise<void> => {
    const known = await acknowledged(() => loadOffers(writer, state.source));
    const offerIds = [...known.keys()];
    await acknowledged(() => buryOffers(writer, { source: state.source, offerIds }, () => versions.next()));
    await acknowledged(() => saveSourceState(writer, state, { ver: versions.next(), isGone: true }));
    states.delete(state.source);
    due.forget(state.source);
    hasChanged = true;
    log.info(
      { source: state.source, offers: offerIds.length },
      'endpoints of a source that is not configured are gone',
    );
  };
  const isDue = (source: EndpointSource): boolean => {
    const isBusy = [...underWay.values()].includes(hostnameOf(source.host));
    return due.isDue(source) && !(source.kind === 'contested' && isBusy);
  };
  return {
    failed,
    isIdle: () => underWay.size === 0,
    look() {
      const configured = deps.sources();
      if (configured !== null) {
        const ids = new Set(configured.map(({ id }) => id));
        for (const state of states.values())
          if (!ids.has(state.source) && !underWay.has(state.source))
            begin(state.source, '', () => forget(state));
        for (const source of configured)
          if (underWay.size < limits.syncsMax && !underWay.has(source.id) && isDue(source))
            begin(source.id, source.host, () => read(source));
        due.dropPast(ids);
      }
      const changed = hasChanged;
      hasChanged = false;
      return changed;
    },
  };
}

/** Without the port: it is one machine that answers, whatever it listens on. */
function hostnameOf(host: string): string {
  return host.replace(/:\d+$/, '');
}

function stateAfter(
  { id, kind, host }: EndpointSource,
  { problem, offers }: SyncOutcome,
  before: SourceState | undefined,
  now: number,
): SourceState {
  const goodAt = problem === null ? now : (before?.goodAt ?? 0);
  return { source: id, kind, host, triedAt: now, goodAt, problem, items: offers };
}
