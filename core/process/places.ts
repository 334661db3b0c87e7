/**
 * Places for calls that share a machine. Callers take turns instead of queueing in one line: a caller’s second call comes after the first ones
 * of all other waiting callers (start-time fair queueing: each call gets its caller’s next number, and no caller’s numbers start below
 * those being served). Heavy calls may only take some of the places, so that light ones always get through.
 */
export interface Places {
  /** Rejects with `NoPlace` if the queue is full or the wait too long, with `LeftQueue` if the caller leaves. */
  take(wanted: PlaceRequest, signal: AbortSignal): Promise<Place>;
  /** A place that is free right now, or null; the caller may then wait with `take`. Needs no signal, because it does not wait. */
  takeFree(wanted: PlaceRequest): Place | null;
  /** Whether `take` would reject at once. `caller` is asked for its name only where every place that fits is taken. */
  refuses(wanted: { readonly heavy: boolean; caller(): string }): boolean;
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

export interface PlaceRequest {
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
  /**
   * A burst may wait for `waitMaxMs`. Once the queue has not been empty for `afterMs`, it is no burst: more is asked than can be
   * served, and a query that would wait for longer than `waitMaxMs` of this is refused when it comes. Default: no such limit.
   */
  readonly standing?: { readonly afterMs: number; readonly waitMaxMs: number };
  readonly retryAfterSeconds: number;
}

/** The queue is full, or the wait was too long. */
export class NoPlace extends Error {
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('no place is free');
    this.name = 'NoPlace';
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The caller left before it was its turn. */
export class LeftQueue extends Error {
  constructor() {
    super('the caller left before it was its turn');
    this.name = 'LeftQueue';
  }
}

interface Waiting extends PlaceRequest {
  readonly turn: number;
  start(): void;
}

export function createPlaces(limits: PlaceLimits): Places {
  const taken = { all: 0, heavy: 0 };
  /** Queries that run without a place. */
  let left = 0;
  const waiting = new Set<Waiting>();
  const turns = createTurns();
  /** Heavy queries and the others wait for different places. */
  const paces = { heavy: createPace(), light: createPace() };
  const paceOf = ({ heavy }: Pick<PlaceRequest, 'heavy'>): Pace => (heavy ? paces.heavy : paces.light);

  const fits = ({ heavy }: PlaceRequest): boolean =>
    taken.all < limits.all && (!heavy || taken.heavy < limits.heavy);
  const admit = (): void => {
    for (let next = first(waiting, fits); next !== undefined; next = first(waiting, fits)) {
      waiting.delete(next);
      paceOf(next).start();
      turns.serve(next.turn);
      occupy(next);
      next.start();
    }
  };
  const occupy = ({ heavy }: PlaceRequest): void => {
    taken.all += 1;
    if (heavy) taken.heavy += 1;
  };
  const vacate = ({ heavy }: PlaceRequest): void => {
    taken.all -= 1;
    if (heavy) taken.heavy -= 1;
    admit();
  };
  const placeFor = (wanted: PlaceRequest, since: number): Place =>
    placeThat(performance.now() - since, threadsNow(), {
      vacate: () => vacate(wanted),
      count: (change) => {
        left += change;
      },
    });
  /** For a query that has just been counted. */
  const threadsNow = (): number =>
    waiting.size > 0 ? 1 : Math.max(1, (limits.cores ?? 1) - (taken.all - 1) - left);
  const isFull = (wanted: PlaceRequest): boolean =>
    isQueueFull({ limits, waiting, turn: turns.next(wanted.caller), pace: paceOf(wanted) }, wanted);

  const takeFree = (wanted: PlaceRequest, since = performance.now()): Place | null => {
    // No waiting query fits now; `leave` starts them when they do.
    if (!fits(wanted)) return null;
    turns.serve(turns.take(wanted.caller));
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
    refuses: ({ heavy, caller }) => !fits({ heavy, caller: '' }) && isFull({ heavy, caller: caller() }),
    take(wanted, signal) {
      const since = performance.now();
      return new Promise((resolve, reject) => {
        if (signal.aborted) return reject(new LeftQueue());
        const free = takeFree(wanted, since);
        if (free !== null) return resolve(free);
        if (isFull(wanted)) return reject(new NoPlace(limits.retryAfterSeconds));
        const one = waitFor(wanted, {
          turn: turns.take(wanted.caller),
          waitMaxMs: limits.waitMaxMs,
          signal,
          start: () => resolve(placeFor(wanted, since)),
          giveUp(error) {
            waiting.delete(one);
            paceOf(one).leave();
            reject(error ?? new NoPlace(limits.retryAfterSeconds));
          },
        });
        waiting.add(one);
        paceOf(one).join();
      });
    },
  };
}

interface Queue {
  readonly limits: PlaceLimits;
  readonly waiting: ReadonlySet<Waiting>;
  /** What the next query of the caller would get. */
  readonly turn: number;
  readonly pace: Pace;
}

/** Whether a query is refused instead of waiting. */
function isQueueFull({ limits, waiting, turn, pace }: Queue, { caller, heavy }: PlaceRequest): boolean {
  if (waiting.size >= limits.waitingMax) return true;
  let own = 0;
  let ahead = 0;
  for (const one of waiting) {
    if (one.caller === caller) own += 1;
    if (one.heavy === heavy && one.turn <= turn) ahead += 1;
  }
  if (own >= limits.waitingMaxPerCaller) return true;
  const { standing } = limits;
  if (standing === undefined || pace.standingMs() < standing.afterMs) return false;
  return (ahead + 1) * pace.betweenStartsMs() > standing.waitMaxMs;
}

/** A query in the queue, until it starts, its caller leaves, or its time is up (`giveUp` without an error). */
function waitFor(
  wanted: PlaceRequest,
  wait: {
    readonly turn: number;
    readonly waitMaxMs: number;
    readonly signal: AbortSignal;
    start(): void;
    giveUp(error?: Error): void;
  },
): Waiting {
  const { signal } = wait;
  const settle = (): void => {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  };
  const giveUp = (error?: Error): void => {
    settle();
    wait.giveUp(error);
  };
  const onAbort = (): void => giveUp(new LeftQueue());
  const timer = setTimeout(giveUp, wait.waitMaxMs);
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    ...wanted,
    turn: wait.turn,
    start() {
      settle();
      wait.start();
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

/** How fast waiting queries get their places. */
interface Pace {
  /** A query begins to wait; leaves the queue for its place; leaves it without one. */
  join(): void;
  start(): void;
  leave(): void;
  /** How long the queue has not been empty; 0 while it is. */
  standingMs(): number;
  /** Moving average of the time between two starts from the queue, or the time since the last one if that is longer. */
  betweenStartsMs(): number;
}

/** Share of the newest interval in the moving average: some twenty starts are remembered. */
const NEWEST_SHARE = 0.1;

function createPace(): Pace {
  let size = 0;
  let standingSince = 0;
  let lastStart = 0;
  let average: number | undefined;
  return {
    join() {
      size += 1;
      if (size > 1) return;
      standingSince = performance.now();
      lastStart = standingSince;
    },
    start() {
      size -= 1;
      const now = performance.now();
      const between = now - lastStart;
      average = average === undefined ? between : average + (between - average) * NEWEST_SHARE;
      lastStart = now;
    },
    leave() {
      size -= 1;
    },
    standingMs: () => (size === 0 ? 0 : performance.now() - standingSince),
    betweenStartsMs: () => Math.max(average ?? 0, performance.now() - lastStart),
  };
}

/** Assigns the numbers that determine the order of service. `next` is the one that the caller's next query would get. */
function createTurns(): {
  next(caller: string): number;
  take(caller: string): number;
  serve(turn: number): void;
} {
  let served = 0;
  const last = new Map<string, number>();
  const next = (caller: string): number => Math.max(served, last.get(caller) ?? 0) + 1;
  return {
    next,
    take(caller) {
      const turn = next(caller);
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
function first(waiting: ReadonlySet<Waiting>, fits: (wanted: PlaceRequest) => boolean): Waiting | undefined {
  let found: Waiting | undefined;
  for (const one of waiting) if (fits(one) && (found === undefined || one.turn < found.turn)) found = one;
  return found;
}
