import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryKiller } from '../clickhouse/engine.ts';
import type { Log } from '../src/log.ts';

/**
 * Sees to it that every query ends: by the wall clock of its tier, or because its caller left. The engine is told to stop it;
 * where it does not obey, a kernel that looks at no clock (sandbox.md B.6), the engine itself is started anew.
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
  readonly onDeaf: () => void;
}

export interface Watched<Result> {
  /** As `work` ends; `StoppedLate` when the clock stopped it, `CallerLeft` when its caller did. */
  readonly outcome: Promise<Result>;
  /** Resolves when the engine no longer has the query. Never rejects. */
  readonly gone: Promise<void>;
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
      // The engine gets the chance to say what the query took; after that nobody waits for it any more.
      const timer = setTimeout(() => void end().obeyed.then(() => giveUp.abort()), maxMs);
      caller.addEventListener('abort', onLeave, { once: true });
      const settled = work(giveUp.signal).finally(() => {
        clearTimeout(timer);
        caller.removeEventListener('abort', onLeave);
      });
      const outcome = settled.catch(async (error: unknown) => {
        if (caller.aborted) throw new CallerLeft(error);
        if (ending !== undefined) throw new StoppedLate(await ending.obeyed, error);
        throw error;
      });
      const gone = settled.then(nothing, nothing).then(() => ending?.gone);
      return { outcome, gone };
    },
  };
}

function nothing(): void {}

interface Ending {
  /** Whether the engine obeyed in time. */
  readonly obeyed: Promise<boolean>;
  readonly gone: Promise<void>;
}

function endQuery(
  { queryId, onDeaf }: Pick<WatchOrder, 'queryId' | 'onDeaf'>,
  restart: (() => Promise<void>) | null,
  deps: WatchdogDeps,
): Ending {
  let tell: (obeyed: boolean) => void = nothing;
  const obeyed = new Promise<boolean>((resolve) => {
    tell = resolve;
  });
  const gone = untilGone(queryId, deps, async (isDeaf) => {
    if (isDeaf) onDeaf();
    tell(false);
    deps.log.error(
      { queryId },
      restart === null ? NOT_OURS : 'a query does not end; the engine is started anew',
    );
    await restart?.().catch((error: unknown) =>
      deps.log.error({ err: error }, 'the engine could not be started anew'),
    );
  }).then(() => tell(true)); // too late to say so when it was overdue
  return { obeyed, gone };
}

/** Never rejects. `onOverdue` runs once, and is told whether the engine itself said that the query is still there. */
async function untilGone(
  queryId: string,
  { killer, obeyMaxMs, pollMs }: WatchdogDeps,
  onOverdue: (isDeaf: boolean) => Promise<void>,
): Promise<void> {
  const deadline = performance.now() + obeyMaxMs;
  let isOverdue = false;
  for (;;) {
    const state = await stateOf(killer, queryId);
    if (state === 'gone') return;
    if (performance.now() > deadline && !isOverdue) {
      isOverdue = true;
      await onOverdue(state === 'there');
    } else await sleep(pollMs);
  }
}

const NOT_OURS = 'a query does not end, and its place stays taken; the engine is not ours to start anew';

/** Tells the engine again each time: a KILL that comes before its query has begun meets nothing. */
async function stateOf(killer: QueryKiller, queryId: string): Promise<'there' | 'gone' | 'unknown'> {
  try {
    await killer.kill(queryId);
    return (await killer.isRunning(queryId)) ? 'there' : 'gone';
  } catch {
    return 'unknown'; // an engine that cannot be asked may still have it
  }
}

/** Whoever asks while one is under way waits for that one. */
function shareOne(work: (() => Promise<void>) | null): (() => Promise<void>) | null {
  if (work === null) return null;
  let current: Promise<void> | undefined;
  return () => {
    current ??= work().finally(() => {
      current = undefined;
    });
    return current;
  };
}
