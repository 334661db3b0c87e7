import type { Config } from '../../core/config/config.ts';
import { untilAcknowledged } from '../write/batch-writer.ts';
import type { ListedPayees } from './activity.ts';
import { loadSourceStates, type SourceState, saveSourceState } from './list.ts';
import { loadOffers, tombstoneOffers } from './offers.ts';
import type { ContestedOrigin } from './sources.ts';
import { type EndpointSource, type SyncDeps, type SyncOutcome, syncSource } from './sync.ts';

/** Intervals and dependencies of the watch. */

export interface EndpointLimits {
  /** New listings are seen within the hour; reading more often would burden the sources for little. */
  readonly refreshMs: number;
  /** After a reading that failed; contested origins wait `refreshMs` then too. */
  readonly retryMs: number;
  /** How soon a newly configured source is read and a change is propagated. */
  readonly lookEveryMs: number;
  /** Sources that are read at the same time. */
  readonly syncsMax: number;
  /** Interval of the activity count, which also follows every reading that changed something. */
  readonly recountMs: number;
  /** While sources are being read, the directory follows them this often. */
  readonly listEveryMs: number;
  /** Minimum time between changes of the catalogue's payees: each change causes a regrade. */
  readonly payeesEveryMs: number;
  /** Changes wait until no source is being read, but no longer than this. */
  readonly payeesWaitMaxMs: number;
}

export const ENDPOINT_LIMITS: EndpointLimits = {
  refreshMs: 3_600_000,
  retryMs: 600_000,
  lookEveryMs: 1_000,
  syncsMax: 4,
  recountMs: 300_000,
  listEveryMs: 60_000,
  payeesEveryMs: 600_000,
  payeesWaitMaxMs: 3_600_000,
};

export interface FollowEndpointsDeps extends SyncDeps {
  readonly config: Pick<Config, 'chains'>;
  /** The list as configured now; null while it is not known. */
  readonly sources: () => readonly EndpointSource[] | null;
  /** Called whenever the directory was derived, and before the first look at the sources. */
  readonly onContested: (origins: readonly ContestedOrigin[]) => void;
  readonly payees: ListedPayees;
  readonly limits?: Partial<EndpointLimits>;
}

/** Reads each source when it is due, removes those no longer configured, and stores the outcome of each. */
export interface SourceWatch {
  /** Starts the due readings. True if offers have changed since the last call. */
  look(): boolean;
  /** Whether nothing is being read. */
  isIdle(): boolean;
  /** Rejects when a reading fails with an error that a retry cannot fix. */
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
  failed.catch(() => undefined); // the caller awaits it; until then a failure must not count as unhandled
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
    const { offers, written, unread } = outcome;
    const fields = { source: id, host: source.host, offers, written, unread };
    if (isGood) log.info(fields, 'endpoints read');
    else if (source.kind === 'contested')
      log.debug({ ...fields, problem: outcome.problem }, 'a contested origin did not answer');
    else
      log.warn(
        { ...fields, problem: outcome.problem },
        'endpoints not read to the end; what was listed stays',
      );
  };
  const forget = async (state: SourceState): Promise<void> => {
    const known = await acknowledged(() => loadOffers(writer, state.source, null));
    const offerIds = [...known.keys()];
    await acknowledged(() =>
      tombstoneOffers(writer, { source: state.source, offerIds }, () => versions.next()),
    );
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

/** Without the port: all ports belong to the same machine. */
function hostnameOf(host: string): string {
  return host.replace(/:\d+$/, '');
}

function stateAfter(
  { id, kind, host }: EndpointSource,
  { problem, offers, unread }: SyncOutcome,
  before: SourceState | undefined,
  now: number,
): SourceState {
  const goodAt = problem === null ? now : (before?.goodAt ?? 0);
  return {
    source: id,
    kind,
    host,
    triedAt: now,
    goodAt,
    problem,
    items: offers,
    unread: JSON.stringify(unread),
  };
}

/**
 * Schedules the readings. Configured sources are read at the start, when their configuration changes, and soon again after a failure.
 * Contested origins come from untrusted listings, so they are never fetched again before `refreshMs` have passed.
 */
export interface DueTimes {
  isDue(source: EndpointSource): boolean;
  /** `isWhole`: everything that it lists was read. */
  wasRead(source: EndpointSource, isWhole: boolean): void;
  /** A configured source that comes back has nothing stored and is read at once. */
  forget(id: string): void;
  /** Drops the state of origins that are no longer contested and may be fetched again; `ids` are the current sources. */
  dropPast(ids: ReadonlySet<string>): void;
}

interface DueTime {
  readonly mark: string;
  /** On the monotonic clock. */
  readonly atMs: number;
  readonly isUntrusted: boolean;
}

/** `states` are those stored by a predecessor; `nowMs` is Unix time. */
export function createDueTimes(
  states: Iterable<SourceState>,
  { refreshMs, retryMs }: Pick<EndpointLimits, 'refreshMs' | 'retryMs'>,
  nowMs: number,
): DueTimes {
  const due = new Map<string, DueTime>();
  for (const { source, kind, triedAt } of states) {
    if (kind !== 'contested') continue;
    // A clock that was set back must not make them wait longer than usual.
    const waitMs = Math.min(refreshMs, triedAt * 1_000 + refreshMs - nowMs);
    due.set(source, { mark: '', atMs: performance.now() + waitMs, isUntrusted: true });
  }
  return {
    isDue({ id, kind, mark }) {
      const last = due.get(id);
      if (last === undefined || performance.now() >= last.atMs) return true;
      return kind !== 'contested' && (last.isUntrusted || last.mark !== mark);
    },
    wasRead({ id, kind, mark }, isWhole) {
      const isUntrusted = kind === 'contested';
      const waitMs = isWhole || isUntrusted ? refreshMs : retryMs;
      due.set(id, { mark, isUntrusted, atMs: performance.now() + waitMs });
    },
    forget(id) {
      if (due.get(id)?.isUntrusted !== true) due.delete(id);
    },
    dropPast(ids) {
      for (const [id, { atMs }] of due) if (!ids.has(id) && performance.now() >= atMs) due.delete(id);
    },
  };
}
