import { finished, type Readable } from 'node:stream';
import { LeftQueue, NoPlace, type Place, type Places } from '../../core/process/places.ts';
import { type OpenTo, QueryAbandoned, SandboxBusy, type SandboxQuery } from '../sandbox.ts';
import type { GuestFacts, GuestGate } from './guest.ts';
import type { Penalties, Quarantine } from './penalties.ts';

/**
 * Decides who may use the sandbox now. Checks that need no engine come first: a caller under a penalty gets its 429 even while the
 * engine restarts, and costs neither an inspection nor a place.
 */
export interface Admission {
  /** Whose queries currently run, given the penalties. */
  openTo(): OpenTo;
  /** Admits a caller to the inspection. Rejects with `SandboxBusy`, or `EngineError` while the guest has not passed its check. */
  inspect<Result>(caller: string, work: (facts: GuestFacts) => Promise<Result>): Promise<Result>;
  /**
   * Runs `work` in a place, which `work` gives back. Rejects with `SandboxBusy`, `QueryFailed` for a quarantined text, `QueryAbandoned`
   * when the caller leaves while waiting, or `EngineError` while the guest has not passed its check.
   */
  admit<Result>(
    query: Admissible,
    signal: AbortSignal,
    work: (place: Place, facts: GuestFacts) => Promise<Result>,
  ): Promise<Result>;
  /** Reports that this caller's text could not be stopped. */
  punish(query: { readonly text: string; readonly caller: string }): void;
}

export interface Admissible extends Pick<SandboxQuery, 'caller'> {
  readonly text: string;
  /** A heavy or light run, which has a result, or a plan, which has none. */
  readonly load: 'heavy' | 'light' | 'plan';
}

export interface AdmissionDeps {
  readonly penalties: Penalties;
  readonly quarantine: Quarantine;
  readonly unread: UnreadResults;
  readonly guest: Pick<GuestGate, 'pass'>;
  readonly runPlaces: Places;
  readonly planPlaces: Places;
}

export function createAdmission(deps: AdmissionDeps): Admission {
  const { penalties, quarantine, unread, guest, runPlaces, planPlaces } = deps;
  return {
    openTo: () => penalties.openTo(),
    async inspect(caller, work) {
      penalties.check(caller);
      return guest.pass(work);
    },
    async admit({ caller, text, load }, signal, work) {
      // 1. The service runs queries of this kind of caller, and this one is under no penalty.
      penalties.check(caller);
      // 2. The text is not quarantined.
      quarantine.check(text);
      // 3. The caller has not too many unread results.
      if (load !== 'plan') unread.check(caller);
      // 4. The engine answers, and its guest user passes the check.
      return guest.pass(async (facts) => {
        // 5. A place is free or becomes free in time.
        const places = load === 'plan' ? planPlaces : runPlaces;
        const place = await places.take({ caller, heavy: load === 'heavy' }, signal).catch(asRefusal);
        try {
          // 6. Like 1: the caller may have got a penalty while waiting.
          penalties.check(caller);
        } catch (error) {
          place.leave();
          throw error;
        }
        return work(place, facts);
      });
    },
    punish({ text, caller }) {
      quarantine.add(text);
      penalties.add(caller);
    },
  };
}

function asRefusal(error: unknown): never {
  if (error instanceof NoPlace) throw new SandboxBusy(error.retryAfterSeconds);
  if (error instanceof LeftQueue) throw new QueryAbandoned(null);
  throw error;
}

/**
 * Counts the results that wait in the engine to be read, because they hold no place. A caller with too many unread results must retry
 * later, and a result that is not read in time is destroyed.
 */
export interface UnreadResults {
  /** Throws `SandboxBusy` if there are too many, in total or of this caller. */
  check(caller: string): void;
  /** Counts a result until its end, its destruction or the time limit for reading. */
  watch(caller: string, body: Readable): void;
}

export interface UnreadLimits {
  readonly max: number;
  readonly maxPerCaller: number;
  readonly readMaxMs: number;
  readonly retryAfterSeconds: number;
}

export function createUnreadResults(limits: UnreadLimits): UnreadResults {
  const unread = new Map<Readable, string>();
  return {
    check(caller) {
      const own = [...unread.values()].filter((one) => one === caller).length;
      if (unread.size >= limits.max || own >= limits.maxPerCaller)
        throw new SandboxBusy(limits.retryAfterSeconds);
    },
    watch(caller, body) {
      unread.set(body, caller);
      const timer = setTimeout(
        () => body.destroy(new Error('the result was not read in time')),
        limits.readMaxMs,
      );
      finished(body, () => {
        clearTimeout(timer);
        unread.delete(body);
      });
    },
  };
}

/**
 * Decides which results the engine buffers in memory and which in a file. Writing and reading the file is a fifth of the work on a
 * large result; the memory counts towards the query's limit, so few results may use it at once.
 */
export interface HeldResults {
  /** A slot, or null if all are taken: the result then goes to a file. */
  take(): HeldResult | null;
}

export interface HeldResult {
  /** Frees the slot at the end or destruction of the result. */
  freeWith(body: Readable): void;
  /** Frees the slot if there is no result. */
  free(): void;
}

export function createHeldResults(max: number): HeldResults {
  let held = 0;
  return {
    take() {
      if (held >= max) return null;
      held += 1;
      let isFree = false;
      const free = (): void => {
        if (!isFree) held -= 1;
        isFree = true;
      };
      return { free, freeWith: (body) => void finished(body, free) };
    },
  };
}
