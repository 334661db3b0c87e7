import { finished, type Readable } from 'node:stream';
import { type OpenTo, SandboxBusy, type SandboxQuery } from '../sandbox.ts';
import type { GuestFacts, GuestGate } from './guest.ts';
import type { Penalties, Quarantine } from './penalties.ts';
import type { Place, Places } from './places.ts';

/**
 * Who may use the sandbox now. Every check that needs no engine comes first: a caller under a penalty is told so (429) even while the
 * engine restarts, and costs neither an inspection nor a place.
 */
export interface Admission {
  /** Whose queries are run at the moment, by the penalties. */
  openTo(): OpenTo;
  /** Lets a caller have a text judged. Rejects with `SandboxBusy`, or `EngineError` while the guest has not passed its check. */
  inspect<Result>(caller: string, work: (facts: GuestFacts) => Promise<Result>): Promise<Result>;
  /**
   * Does `work` in a place for it; `work` gives the place back. Rejects with `SandboxBusy`, `QueryFailed` for a text in quarantine,
   * `QueryAbandoned` when the caller leaves while it waits, or `EngineError` while the guest has not passed its check.
   */
  admit<Result>(
    query: Admissible,
    signal: AbortSignal,
    work: (place: Place) => Promise<Result>,
  ): Promise<Result>;
  /** The engine could not be stopped from running this text of this caller. */
  punish(query: { readonly text: string; readonly caller: string }): void;
}

export interface Admissible extends Pick<SandboxQuery, 'caller'> {
  readonly text: string;
  /** A heavy or light run, which makes a result; or a plan, which makes none. */
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
      // 1. The service runs queries of such callers, and this one waits for no penalty to end.
      penalties.check(caller);
      // 2. The engine could always be stopped from running the text.
      quarantine.check(text);
      // 3. The caller reads the results that it asks for.
      if (load !== 'plan') unread.check(caller);
      // 4. The engine answers, and its guest user has no more rights than it should.
      return guest.pass(async () => {
        // 5. A place is free, or becomes free in time.
        const places = load === 'plan' ? planPlaces : runPlaces;
        const place = await places.take({ caller, heavy: load === 'heavy' }, signal);
        try {
          // 6. As 1: the caller may have got a penalty while it waited.
          penalties.check(caller);
        } catch (error) {
          place.leave();
          throw error;
        }
        return work(place);
      });
    },
    punish({ text, caller }) {
      quarantine.add(text);
      penalties.add(caller);
    },
  };
}

/**
 * Results that wait in the engine until they are read. They hold no place, so they are counted here: a caller who asks for more than
 * it reads has to come again later, and a result that is not read in time is destroyed.
 */
export interface UnreadResults {
  /** Throws `SandboxBusy` where there are too many, of all callers or of this one. */
  check(caller: string): void;
  /** Until its end, its destruction, or the time that reading may take. */
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
 * Which results the engine keeps in memory until they are read, and which in a file. Writing and reading the file is a fifth of the
 * work on a large result; the memory counts as the query's own, so few results may use it at once.
 */
export interface HeldResults {
  /** Null when all slots are taken: the result goes to a file. */
  take(): HeldResult | null;
}

export interface HeldResult {
  /** At the result's end or destruction. */
  freeWith(body: Readable): void;
  /** There is no result. */
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
