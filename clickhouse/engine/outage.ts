/** How long reads wait for an engine that is being started anew: it takes half a second, and several on a busy machine. */
export const ENGINE_OUTAGE_MAX_MS = 10_000;

/**
 * How long reads wait for an engine that is being started anew. Reads that meet a restart wait it out; once the engine has been away
 * for longer, every read fails at once, so that none of them holds a place for an engine that does not come back.
 */
export interface EngineOutage {
  /** Milliseconds that a read may still wait, 0 when it may not. Called by a read that found no engine. */
  patienceMs(): number;
  /** The engine answered. */
  over(): void;
}

/** `maxMs`: 0 for an engine that is not started anew by this program. */
export function createEngineOutage(maxMs: number, now: () => number = () => performance.now()): EngineOutage {
  let since: number | undefined;
  return {
    patienceMs() {
      since ??= now();
      return Math.max(0, since + maxMs - now());
    },
    over() {
      since = undefined;
    },
  };
}
