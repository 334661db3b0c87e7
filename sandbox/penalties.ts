import { SandboxBusy } from './sql-sandbox.ts';

/**
 * Callers whose query the engine could not be stopped from running: everybody's queries end with the engine, so that one caller
 * may not do this again and again. Refused texts are remembered elsewhere; this is for the next text of the same kind.
 */
export interface Penalties {
  /** Throws `SandboxBusy` (`penalty`) while the caller has one. */
  check(caller: string): void;
  /** From now on, also where there is one already. */
  add(caller: string): void;
}

export interface PenaltyLimits {
  readonly lastsMs: number;
  /** Callers that are remembered; beyond it the oldest is forgotten. */
  readonly callersMax: number;
}

export function createPenalties(
  { lastsMs, callersMax }: PenaltyLimits,
  now: () => number = () => performance.now(),
): Penalties {
  const endsAt = new Map<string, number>(); // in the order in which they end
  return {
    check(caller) {
      const leftMs = (endsAt.get(caller) ?? 0) - now();
      if (leftMs > 0) throw new SandboxBusy(Math.ceil(leftMs / 1_000), 'penalty');
      endsAt.delete(caller);
    },
    add(caller) {
      endsAt.delete(caller);
      endsAt.set(caller, now() + lastsMs);
      const [oldest] = endsAt.keys();
      if (endsAt.size > callersMax && oldest !== undefined) endsAt.delete(oldest);
    },
  };
}
