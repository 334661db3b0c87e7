import { fail } from '../../core/errors.ts';
import {
  createPlaces,
  type Place,
  type PlaceLimits,
  type Places,
  type Wanted,
} from '../../sandbox/run/places.ts';
import { QueryAbandoned, SandboxBusy } from '../../sandbox/sandbox.ts';
import type { EngineLoad } from '../operations/define.ts';
import type { Sender } from './gate.ts';

/**
 * How much of the engine the calls of this process may have at once. Without a bound a crowd shares the engine: every call takes as
 * long as all of them together, callers give up one after the other, and the work is wasted. So few calls run, some wait for
 * their turn, and the others are refused at once with a retry time. Turns go round between callers, so that one caller with a
 * thousand requests does not keep out the next with one.
 */
export interface Admission {
  /**
   * Resolves when it is the call's turn, with a place to give back. Null for a call that needs none. Rejects with
   * `overloaded` where the line is full or the wait too long, with `request_timeout` when the caller leaves meanwhile.
   */
  enter(wanted: AdmissionWanted, request: Leaving): Promise<Pick<Place, 'leave'> | null>;
}

export interface AdmissionWanted {
  readonly load: EngineLoad;
  /** Names the caller; holds no secret. */
  readonly callerName: string;
}

type Leaving = Pick<Sender, 'hasLeft' | 'left'>;

/** Of reads, and of queries, which have a line of their own so that neither keeps the other waiting. */
export interface AdmissionLimits {
  readonly reads: PlaceLimits;
  readonly queries: PlaceLimits;
}

const RETRY_AFTER_SECONDS = 2;

/**
 * Reads: as many at once as the process has connections to the engine (http-engine.ts), a quarter of them for summaries, which ask
 * it several things each. A page takes hundredths of a second, so a line of a thousand is mostly served within the wait; longer
 * ones would be work for callers that have given up. A caller may spend its units in one burst: 500 calls at once are let in, so
 * that what is refused is refused for want of units and not of a place.
 * Queries: their real places are the sandbox's (sandbox/limits.ts). This bounds those that are judged or wait there; none
 * waits here, because a caller who finds that line full is refused at once.
 */
export const ADMISSION_LIMITS: AdmissionLimits = {
  reads: {
    all: 32,
    heavy: 8,
    waitingMax: 1_024,
    waitingMaxPerCaller: 512,
    waitMaxMs: 5_000,
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
async function take(places: Places, wanted: Wanted, request: Leaving): Promise<Place> {
  const free = request.hasLeft ? null : places.takeFree(wanted);
  return free ?? (await places.take(wanted, request.left()).catch(asRefusal));
}

function asRefusal(error: unknown): never {
  if (error instanceof SandboxBusy)
    throw fail('overloaded', {
      detail: 'More is asked of this service at the moment than it can answer. Nothing was run or charged.',
      retryAfterSeconds: error.retryAfterSeconds,
    });
  if (error instanceof QueryAbandoned)
    throw fail('request_timeout', { detail: 'The caller left before it was its turn.', cause: error });
  throw error;
}
