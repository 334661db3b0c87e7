import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryKiller } from '../../clickhouse/engine/engine.ts';
import type { Log } from '../../core/log.ts';

/**
 * Sees to it that every query ends: by the wall clock of its tier, or because its caller left. The engine is told to stop it;
 * where it does not obey, a kernel that looks at no clock (docs/design/sandbox.md), the engine itself is started anew.
 */
export interface Watchdog {
  watch<Result>(order: WatchOrder, work: (signal: AbortSignal) => Promise<Result>): Watched<Result>;
}

export interface WatchOrder {
  readonly queryId: string;
  /** Wall clock after which it is stopped. */
  readonly maxMs: number;
  readonly caller: AbortSignal;
  /** Once, when the engine was told to stop it, answers, and still runs it: the query's doing, and no accident of the engine. */
  readonly onUnstoppable: () => void;
}

export interface Watched<Result> {
  /** As `work` ends; `StoppedLate` when the clock stopped it, `CallerLeft` when its caller did. */
  readonly outcome: Promise<Result>;
  /** Resolves when the engine no longer has the query. Never rejects. */
  readonly gone: Promise<void>;
  /**
   * Resolves when its place may be given to the next: with `gone`, or, where the engine is not ours to start anew, a bounded time after
   * it did not obey. Never rejects.
   */
  readonly free: Promise<void>;
}

/** The clock stopped it. */
export class StoppedLate extends Error {
  /** False when the engine had to be started anew. */
  readonly obeyed: boolean;

  constructor(obeyed: boolean, cause: unknown) {
    super('the query was stopped by the clock', { cause });
    this.name = 'StoppedLate';
    this.obeyed = obeyed;
  }
}

export class CallerLeft extends Error {
  constructor(cause: unknown) {
    super('the caller left', { cause });
    this.name = 'CallerLeft';
  }
}

export interface WatchdogDeps {
  readonly killer: QueryKiller;
  /** Resolves when a new engine answers; null for an engine that is not ours to start. */
  readonly restartEngine: (() => Promise<void>) | null;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly obeyMaxMs: number;
  readonly pollMs: number;
  /** How long a query that does not obey keeps its place where the engine is not ours. */
  readonly placeKeptMaxMs: number;
  /** Between two looks at one that did not obey in time. */
  readonly unstoppablePollMs: number;
}

export function createWatchdog(deps: WatchdogDeps): Watchdog {
  const restart = shareOne(deps.restartEngine);
  return {
    watch(order, work) {
      const { maxMs, caller } = order;
      const giveUp = new AbortController();
      let ending: Ending | undefined;
      const end = (): Ending => {
        ending ??= endQuery(order, restart, deps);
        return ending;
      };
      const onLeave = (): void => {
        giveUp.abort();
        end();
      };
      // The engine gets the chance to say what the query took; after that its answer is not waited for.
      const timer = setTimeout(() => void end().obeyed.then(() => giveUp.abort()), maxMs);
      caller.addEventListener('abort', onLeave, { once: true });
      const settled = unlessRestarted(() => work(giveUp.signal), {
        restart,
        isOver: () => ending !== undefined || caller.aborted,
      }).finally(() => {
        clearTimeout(timer);
        caller.removeEventListener('abort', onLeave);
      });
      const outcome = settled.catch(async (error: unknown) => {
        if (caller.aborted) throw new CallerLeft(error);
        if (ending !== undefined) throw new StoppedLate(await ending.obeyed, error);
        throw error;
      });
      const gone = settled.then(nothing, nothing).then(() => ending?.gone);
      const free = settled.then(nothing, nothing).then(() => ending?.free);
      return { outcome, gone, free };
    },
  };
}

function nothing(): void {}

interface Ending {
  /** Whether the engine obeyed in time. */
  readonly obeyed: Promise<boolean>;
  readonly gone: Promise<void>;
  readonly free: Promise<void>;
}

function endQuery(
  { queryId, onUnstoppable }: Pick<WatchOrder, 'queryId' | 'onUnstoppable'>,
  restart: Restart | null,
  deps: WatchdogDeps,
): Ending {
  let tell: (obeyed: boolean) => void = nothing;
  const obeyed = new Promise<boolean>((resolve) => {
    tell = resolve;
  });
  let isGone = false;
  let giveUp: () => void = nothing;
  const givenUp = new Promise<void>((resolve) => {
    giveUp = resolve;
  });
  const giveBack = (): void => {
    if (!isGone) deps.log.error({ queryId }, PLACE_GIVEN_BACK);
    giveUp();
  };
  const gone = untilGone(queryId, deps, async (isUnstoppable) => {
    if (isUnstoppable) onUnstoppable();
    tell(false);
    if (restart === null) setTimeout(giveBack, deps.placeKeptMaxMs).unref();
    deps.log.error(
      { queryId },
      restart === null ? NOT_OURS : 'a query does not end; the engine is started anew',
    );
    await restart?.().catch((error: unknown) =>
      deps.log.error({ err: error }, 'the engine could not be started anew'),
    );
  }).then(() => {
    isGone = true;
    tell(true); // too late to say so when it was overdue
  });
  return { obeyed, gone, free: Promise.race([gone, givenUp]) };
}

/** Never rejects. `onOverdue` runs once, and is told whether the engine itself said that the query is still there. */
async function untilGone(
  queryId: string,
  { killer, obeyMaxMs, pollMs, restartEngine, unstoppablePollMs }: WatchdogDeps,
  onOverdue: (isUnstoppable: boolean) => Promise<void>,
): Promise<void> {
  const deadline = performance.now() + obeyMaxMs;
  let isOverdue = false;
  for (;;) {
    const state = await stateOf(killer, queryId);
    if (state === 'gone') return;
    if (performance.now() > deadline && !isOverdue) {
      isOverdue = true;
      await onOverdue(state === 'there');
    } else await sleep(isOverdue && restartEngine === null ? unstoppablePollMs : pollMs);
  }
}

const NOT_OURS =
  'a query does not end, and keeps its place for a while; the engine is not ours to start anew: end the query there';
const PLACE_GIVEN_BACK =
  'a query still does not end; its place is given to the next, and it is counted as running until it is gone';

/** Tells the engine again each time: a KILL that comes before its query has begun meets nothing. */
async function stateOf(killer: QueryKiller, queryId: string): Promise<'there' | 'gone' | 'unknown'> {
  try {
    await killer.kill(queryId);
    return (await killer.isRunning(queryId)) ? 'there' : 'gone';
  } catch {
    return 'unknown'; // an engine that cannot be asked may still have it
  }
}

/** Once more, on the new engine, where another query had the engine started anew: this one has done nothing. */
async function unlessRestarted<Result>(
  work: () => Promise<Result>,
  { restart, isOver }: { readonly restart: Restart | null; readonly isOver: () => boolean },
): Promise<Result> {
  const before = restart?.begun();
  try {
    return await work();
  } catch (error) {
    if (restart === null || restart.begun() === before || isOver()) throw error;
    await restart.underWay();
    return work();
  }
}

interface Restart {
  /** A call during a restart waits for that one. */
  (): Promise<void>;
  /** How many there have been. */
  begun(): number;
  /** Resolves when none is under way. Never rejects. */
  underWay(): Promise<void>;
}

function shareOne(work: (() => Promise<void>) | null): Restart | null {
  if (work === null) return null;
  let current: Promise<void> | undefined;
  let begun = 0;
  const restart = (): Promise<void> => {
    if (current === undefined) begun += 1;
    current ??= work().finally(() => {
      current = undefined;
    });
    return current;
  };
  return Object.assign(restart, {
    begun: () => begun,
    underWay: () => Promise.resolve(current).catch(nothing),
  });
}
