import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryKiller } from '../../clickhouse/engine/engine.ts';
import type { Log } from '../../core/log.ts';
import { watchIdleTime } from './idle-time.ts';

/**
 * Ends every query at its tier's deadline or when its caller leaves. First it sends the engine a KILL; if the query ignores it,
 * because it is inside a function that checks no time limit (docs/design/sandbox.md), it restarts the engine.
 */
export interface Watchdog {
  watch<Result>(order: WatchOrder, work: (signal: AbortSignal) => Promise<Result>): Watched<Result>;
}

export interface WatchOrder {
  readonly queryId: string;
  /** Wall-clock time limit. */
  readonly maxMs: number;
  /** Added to the limit where its threads waited more than half of the time, for cores that others used. Default: 0. */
  readonly idleMaxMs?: number;
  /** That it was given. Default: one. */
  readonly threads?: number;
  readonly caller: AbortSignal;
  /** Called once if the engine answers and still runs the query after its KILL: the query is at fault, not the engine. */
  readonly onUnstoppable: () => void;
}

export interface Watched<Result> {
  /** Settles like `work`; rejects with `StoppedLate` at the deadline and with `CallerLeft` when the caller leaves. */
  readonly outcome: Promise<Result>;
  /** Resolves when the engine no longer has the query. Never rejects. */
  readonly gone: Promise<void>;
  /**
   * Resolves when its place can go to the next query: with `gone`, or, if we cannot restart the engine, a bounded time after the query
   * ignored its KILL. Never rejects.
   */
  readonly free: Promise<void>;
  /** Milliseconds that its threads waited so far (idle-time.ts). */
  idleMs(): number;
}

/** The query was stopped at its deadline. */
export class StoppedLate extends Error {
  /** False if the engine had to be restarted. */
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
  /** Restarts the engine and resolves when it answers; null for an engine that we cannot restart. */
  readonly restartEngine: (() => Promise<void>) | null;
  readonly log: Pick<Log, 'warn' | 'error'>;
  readonly obeyMaxMs: number;
  readonly pollMs: number;
  /** How long a query that ignores its KILL keeps its place, if we cannot restart the engine. */
  readonly placeKeptMaxMs: number;
  /** Polling interval for a query that ignored its KILL. */
  readonly unstoppablePollMs: number;
}

/** How long a query at its limit runs on while the engine is asked whether its threads waited. */
const LOOK_MAX_MS = 500;

export function createWatchdog(deps: WatchdogDeps): Watchdog {
  const restart = shareOne(deps.restartEngine);
  return {
    watch(order, work) {
      const { maxMs, idleMaxMs = 0, caller, queryId, threads = 1 } = order;
      const idle = watchIdleTime({ queryId, threads }, deps.killer);
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
      // Gives the engine a chance to report the query's usage; then stops waiting for its answer.
      const stop = (): void => void end().obeyed.then(() => giveUp.abort());
      const stopUnlessIdle = async (): Promise<void> => {
        await Promise.race([idle.look(), sleep(LOOK_MAX_MS)]);
        if (isSettled) return;
        const hasWaited = idle.idleMs > (performance.now() - began) / 2;
        if (hasWaited) timer = setTimeout(stop, idleMaxMs);
        else stop();
      };
      const began = performance.now();
      let isSettled = false;
      let timer = setTimeout(idleMaxMs > 0 ? stopUnlessIdle : stop, maxMs);
      caller.addEventListener('abort', onLeave, { once: true });
      const settled = unlessRestarted(() => work(giveUp.signal), {
        restart,
        isOver: () => ending !== undefined || caller.aborted,
      }).finally(() => {
        isSettled = true;
        clearTimeout(timer);
        idle.stop();
        caller.removeEventListener('abort', onLeave);
      });
      const outcome = settled.catch(async (error: unknown) => {
        if (caller.aborted) throw new CallerLeft(error);
        if (ending !== undefined) throw new StoppedLate(await ending.obeyed, error);
        throw error;
      });
      const gone = settled.then(nothing, nothing).then(() => ending?.gone);
      const free = settled.then(nothing, nothing).then(() => ending?.free);
      return { outcome, gone, free, idleMs: () => idle.idleMs };
    },
  };
}

function nothing(): void {}

interface Ending {
  /** Whether the query ended in time after its KILL. */
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
    deps.log.error({ queryId }, restart === null ? NOT_OURS : 'a query does not end; restarting the engine');
    await restart?.().catch((error: unknown) =>
      deps.log.error({ err: error }, 'the engine could not be restarted'),
    );
  }).then(() => {
    isGone = true;
    tell(true); // no effect if the query was overdue
  });
  return { obeyed, gone, free: Promise.race([gone, givenUp]) };
}

/** Never rejects. `onOverdue` runs once; its argument says whether the engine itself reported the query as still running. */
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
  'a query does not end and keeps its place for a while; this service cannot restart the engine: end the query there';
const PLACE_GIVEN_BACK =
  'a query still does not end; its place goes to the next query, and it counts as running until it is gone';

/** Repeats the KILL each time: a KILL that arrives before its query has begun has no effect. */
async function stateOf(
  killer: Pick<QueryKiller, 'isRunning' | 'kill'>,
  queryId: string,
): Promise<'there' | 'gone' | 'unknown'> {
  try {
    await killer.kill(queryId);
    return (await killer.isRunning(queryId)) ? 'there' : 'gone';
  } catch {
    return 'unknown'; // an engine that does not answer may still run it
  }
}

/** Runs the query once more on the new engine if another query caused the restart: this one is not at fault. */
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
  /** A call during a restart waits for the running restart. */
  (): Promise<void>;
  /** The number of restarts so far. */
  begun(): number;
  /** Resolves when no restart is running. Never rejects. */
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
