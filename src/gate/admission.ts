import { type FailureContext, fail } from '../../core/errors.ts';
import {
  createPlaces,
  LeftQueue,
  NoPlace,
  type Place,
  type PlaceLimits,
  type PlaceLoad,
  type PlaceRequest,
  type Places,
} from '../../core/process/places.ts';
import type { EngineLoad } from '../operations/define.ts';
import type { Sender } from './gate.ts';

/**
 * Bounds how many calls of this process use the engine at once. Unbounded, a burst of calls shares the engine: every call takes as
 * long as all of them together, callers time out one by one, and the work is wasted. So a few calls run, some wait for
 * their turn, and the others are refused at once with a retry time. Turns alternate between callers, so that one caller with a
 * thousand requests does not block another with one.
 */
export interface Admission {
  /**
   * Resolves when it is the call's turn, with a place to give back; null for a call that needs none. Rejects with
   * `overloaded` when the queue is full or the wait too long, with `request_timeout` when the caller disconnects before its turn.
   */
  enter(wanted: AdmissionWanted, request: Leaving): Promise<Pick<Place, 'leave'> | null>;
  /**
   * Whether `enter` would reject at once. Costs microseconds, so that it is asked before a request is read (http/shed-load.ts);
   * `callerName` is called only where the call would have to wait.
   */
  refuses(load: EngineLoad, callerName: () => string): boolean;
  /** Places for reads, and calls that have one or wait for one. */
  reads(): PlaceLoad;
}

export interface AdmissionWanted {
  readonly load: EngineLoad;
  /** Names the caller; holds no secret. */
  readonly callerName: string;
}

type Leaving = Pick<Sender, 'hasLeft' | 'left'>;

/** Reads and queries have a queue each, so that neither delays the other. */
export interface AdmissionLimits {
  readonly reads: PlaceLimits;
  readonly queries: PlaceLimits;
}

const RETRY_AFTER_SECONDS = 2;

/**
 * Reads: as many at once as the process has connections to the engine (http-engine.ts), a quarter of them for summaries, which ask
 * it several things each. A page takes hundredths of a second, so a queue of a thousand is mostly served within the wait; a longer
 * one would be work for callers that have given up. A caller may spend its units in one burst: 500 calls at once are admitted, so
 * that the refusals are for lack of units and not of a place. A queue that has not been empty for a second is overload: it is then
 * kept so short that it is served in a second, which is enough to keep every place taken.
 * Queries: the sandbox has their real places (sandbox/limits.ts). This bounds those that are checked or wait there; none
 * waits here, because a caller is refused at once when that queue is full.
 */
export const ADMISSION_LIMITS: AdmissionLimits = {
  reads: {
    all: 32,
    heavy: 8,
    waitingMax: 1_024,
    waitingMaxPerCaller: 512,
    waitMaxMs: 5_000,
    standing: { afterMs: 1_000, waitMaxMs: 1_000 },
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  },
  queries: {
    all: 128,
    heavy: 0,
    waitingMax: 0,
    waitingMaxPerCaller: 0,
    waitMaxMs: 0,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  },
};

export function createAdmission(limits: AdmissionLimits = ADMISSION_LIMITS): Admission {
  const reads = createPlaces(limits.reads);
  const queries = createPlaces(limits.queries);
  return {
    refuses(load, caller) {
      if (load === 'none') return false;
      return load === 'query'
        ? queries.refuses({ heavy: false, caller })
        : reads.refuses({ heavy: load === 'summary', caller });
    },
    reads: () => reads.load(),
    enter({ load, callerName: caller }, request) {
      switch (load) {
        case 'none':
          return Promise.resolve(null);
        case 'page':
          return take(reads, { caller, heavy: false }, request);
        case 'summary':
          return take(reads, { caller, heavy: true }, request);
        case 'query':
          return take(queries, { caller, heavy: false }, request);
      }
    },
  };
}

/** Only a call that waits needs a signal: making one costs more than the rest of an admission. */
async function take(places: Places, wanted: PlaceRequest, request: Leaving): Promise<Place> {
  const free = request.hasLeft ? null : places.takeFree(wanted);
  return free ?? (await places.take(wanted, request.left()).catch(asRefusal));
}

/** What a call without a place is answered, before it is read and after. */
export const NO_PLACE: Pick<FailureContext, 'detail'> & { readonly retryAfterSeconds: number } = {
  detail: 'More is asked of this service at the moment than it can answer. Nothing was run or charged.',
  retryAfterSeconds: RETRY_AFTER_SECONDS,
};

function asRefusal(error: unknown): never {
  if (error instanceof NoPlace)
    throw fail('overloaded', { ...NO_PLACE, retryAfterSeconds: error.retryAfterSeconds });
  if (error instanceof LeftQueue)
    throw fail('request_timeout', { detail: 'The caller left before it was its turn.', cause: error });
  throw error;
}
