import { QueryAbandoned, SandboxBusy } from '../sandbox.ts';

/**
 * Places for queries. Callers take turns instead of queueing in one line: a caller’s second query comes after the first ones of all
 * other waiting callers (start-time fair queueing: each query gets its caller’s next number, and no caller’s numbers start below
 * those being served). Heavy queries may only take some of the places, so that light ones always get through.
 */
export interface Places {
  /** Rejects with `SandboxBusy` if the queue is full or the wait too long, with `QueryAbandoned` if the caller leaves. */
  take(wanted: Wanted, signal: AbortSignal): Promise<Place>;
  /** A place that is free right now, or null; the caller may then wait with `take`. Needs no signal, because it does not wait. */
  takeFree(wanted: Wanted): Place | null;
  /**
   * The numbers of places, taken places, waiting queries, and queries that still run after giving up their place.
   */
  load(): PlaceLoad;
}

export interface PlaceLoad {
  readonly places: number;
  readonly running: number;
  readonly waiting: number;
  readonly unstoppable: number;
}

export interface Wanted {
  readonly caller: string;
  readonly heavy: boolean;
}

export interface Place {
  readonly waitedMs: number;
  /** Threads that the query may use: the idle cores when it began, or one while others wait. */
  readonly threads: number;
  /** Gives the place to the next query. Idempotent. */
  leave(): void;
  /** The same for a query that still runs; it counts as running until `gone` resolves. */
  leaveBehind(gone: Promise<void>): void;
}

export interface PlaceLimits {
  /** Cores that the queries share. Default: 1. */
  readonly cores?: number;
  readonly all: number;
  /** How many of the places heavy queries may take. */
  readonly heavy: number;
  readonly waitingMax: number;
  readonly waitingMaxPerCaller: number;
  readonly waitMaxMs: number;
  readonly retryAfterSeconds: number;
}

interface Waiting extends Wanted {
  readonly turn: number;
  start(): void;
}

export function createPlaces(limits: PlaceLimits): Places {
  const taken = { all: 0, heavy: 0 };
  /** Queries that run without a place. */
  let left = 0;
  const waiting = new Set<Waiting>();
  const turns = createTurns();

  const fits = ({ heavy }: Wanted): boolean =>
    taken.all < limits.all && (!heavy || taken.heavy < limits.heavy);
  const admit = (): void => {
    for (let next = first(waiting, fits); next !== undefined; next = first(waiting, fits)) {
      waiting.delete(next);
      turns.serve(next.turn);
      occupy(next);
      next.start();
    }
  };
  const occupy = ({ heavy }: Wanted): void => {
    taken.all += 1;
    if (heavy) taken.heavy += 1;
  };
  const vacate = ({ heavy }: Wanted): void => {
    taken.all -= 1;
    if (heavy) taken.heavy -= 1;
    admit();
  };
  const placeFor = (wanted: Wanted, since: number): Place =>
    placeThat(performance.now() - since, threadsNow(), {
      vacate: () => vacate(wanted),
      count: (change) => {
        left += change;
      },
    });
  /** For a query that has just been counted. */
  const threadsNow = (): number =>
    waiting.size > 0 ? 1 : Math.max(1, (limits.cores ?? 1) - (taken.all - 1) - left);
  const isFull = (caller: string): boolean =>
    waiting.size >= limits.waitingMax ||
    [...waiting].filter((one) => one.caller === caller).length >= limits.waitingMaxPerCaller;

  const takeFree = (wanted: Wanted, since = performance.now()): Place | null => {
    // No waiting query fits now; `leave` starts them when they do.
    if (!fits(wanted)) return null;
    turns.serve(turns.next(wanted.caller));
    occupy(wanted);
    return placeFor(wanted, since);
  };

  return {
    load: () => ({
      places: limits.all,
      running: taken.all + left,
      waiting: waiting.size,
      unstoppable: left,
    }),
    takeFree: (wanted) => takeFree(wanted),
    take(wanted, signal) {
      const since = performance.now();
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(new QueryAbandoned(null));
        const free = takeFree(wanted, since);
        if (free !== null) return resolve(free);
        if (isFull(wanted.caller)) return reject(new SandboxBusy(limits.retryAfterSeconds));
        const giveUp = (error: Error): void => {
          settle();
          waiting.delete(one);
          reject(error);
        };
        const onAbort = (): void => giveUp(new QueryAbandoned(null));
        const timer = setTimeout(() => giveUp(new SandboxBusy(limits.retryAfterSeconds)), limits.waitMaxMs);
        const settle = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', onAbort);
        };
        const one: Waiting = {
          ...wanted,
          turn: turns.next(wanted.caller),
          start() {
            settle();
            resolve(placeFor(wanted, since));
          },
        };
        signal.addEventListener('abort', onAbort, { once: true });
        waiting.add(one);
      });
    },
  };
}

/** `count`: the number of queries that run without a place. */
function placeThat(
  waitedMs: number,
  threads: number,
  { vacate, count }: { readonly vacate: () => void; readonly count: (change: 1 | -1) => void },
): Place {
  let isLeft = false;
  const leave = (): void => {
    if (isLeft) return;
    isLeft = true;
    vacate();
  };
  return {
    waitedMs,
    threads,
    leave,
    leaveBehind(gone) {
      if (isLeft) return;
      count(1);
      void gone.then(() => count(-1));
      leave();
    },
  };
}

/** Assigns the numbers that determine the order of service. */
function createTurns(): { next(caller: string): number; serve(turn: number): void } {
  let served = 0;
  const last = new Map<string, number>();
  return {
    next(caller) {
      const turn = Math.max(served, last.get(caller) ?? 0) + 1;
      last.set(caller, turn);
      return turn;
    },
    serve(turn) {
      served = Math.max(served, turn);
      // A number below those being served has no effect and can be dropped.
      for (const [caller, its] of last) if (its <= served) last.delete(caller);
    },
  };
}

/** Of the queries that fit, the one with the lowest number; the first to arrive wins a tie. */
function first(waiting: ReadonlySet<Waiting>, fits: (wanted: Wanted) => boolean): Waiting | undefined {
  let found: Waiting | undefined;
  for (const one of waiting) if (fits(one) && (found === undefined || one.turn < found.turn)) found = one;
  return found;
}
