import { setTimeout as delay } from 'node:timers/promises';
import { EngineError } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { Meter, Reading } from '../../core/meter.ts';

/**
 * Passes: what a worker computes anew as a whole (rings, verdicts, rankings, the largest pairs), again and again. A pass publishes all of its rows
 * at once. If the engine fails, the pass is lost and what the previous one published stays; every other error ends the worker.
 */

/** `done`: published. `current`: nothing was written since the last one. `waiting`: its input is not there yet. */
export type PassOutcome = 'done' | 'current' | 'waiting';

export interface Pass {
  /** As metrics and logs name it. */
  readonly name: string;
  /** The consequence of a failure, for the log. */
  readonly failureText: string;
  run(signal: AbortSignal): Promise<PassOutcome>;
  /** From the end of a pass to the start of the next, unless it is `waiting`. */
  restMs(tookMs: number): number;
  /** While it is `waiting`. */
  readonly pollMs?: number;
}

export interface PassDeps {
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Null or absent where no metrics are served. */
  readonly meter?: Meter | null;
}

/** A rest that is a multiple of what the pass took, so that it costs a known share of one thread. */
export function restOf(limits: {
  readonly perPass: number;
  readonly minMs: number;
  readonly maxMs?: number;
}) {
  const { perPass, minMs, maxMs = Number.POSITIVE_INFINITY } = limits;
  return (tookMs: number): number => Math.min(Math.max(perPass * tookMs, minMs), maxMs);
}

/** Runs the passes of each lane one at a time, the one that is due first, and the lanes side by side, until the signal aborts. */
export async function repeatPasses(deps: PassDeps, lanes: readonly (readonly Pass[])[]): Promise<void> {
  const figures = createFigures(deps);
  await Promise.all(lanes.map((passes) => repeatLane(deps, passes, figures)));
}

async function repeatLane(
  deps: PassDeps,
  passes: readonly Pass[],
  figures: ReturnType<typeof createFigures>,
): Promise<void> {
  const { signal } = deps;
  const dueMs = new Map<Pass, number>(passes.map((pass) => [pass, 0]));
  try {
    while (!signal.aborted) {
      const [pass, atMs] = soonest(dueMs);
      await delay(Math.max(0, atMs - performance.now()), undefined, { signal });
      const startedMs = performance.now();
      const outcome = await attempt(deps, pass);
      const endedMs = performance.now();
      figures.ended(pass, outcome, endedMs - startedMs);
      const restMs = pass.restMs(endedMs - startedMs);
      dueMs.set(pass, endedMs + (outcome === 'waiting' ? (pass.pollMs ?? restMs) : restMs));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function soonest(dueMs: ReadonlyMap<Pass, number>): readonly [Pass, number] {
  const [first, ...rest] = [...dueMs];
  if (first === undefined) throw new TypeError('no passes');
  return rest.reduce((best, next) => (next[1] < best[1] ? next : best), first);
}

async function attempt({ log, signal }: PassDeps, pass: Pass): Promise<PassOutcome | 'failed'> {
  try {
    return await pass.run(signal);
  } catch (error) {
    signal.throwIfAborted(); // a statement that ends with the worker did not fail
    if (!(error instanceof EngineError)) throw error;
    const facts = { err: error, pass: pass.name };
    // Even a refusal (a right that a remote engine does not grant) must not stop indexing; it only logs at a higher level.
    if (error.problem === 'engine_refused') log.error(facts, pass.failureText);
    else log.warn(facts, pass.failureText);
    return 'failed';
  }
}

interface Last {
  readonly tookMs: number;
  /** Unix milliseconds; null before the first one that did not fail. */
  readonly succeededMs: number | null;
}

/** Counts the passes, and shows when each last succeeded and what it took. */
function createFigures({ meter, clock }: PassDeps) {
  const lasts = new Map<string, Last>();
  meter?.read('passes', async () =>
    [...lasts].flatMap(([pass, { tookMs, succeededMs }]): Reading[] => [
      { name: 'pass_last_seconds', labels: { pass }, value: tookMs / 1_000 },
      ...(succeededMs === null
        ? []
        : [
            {
              name: 'pass_succeeded_timestamp_seconds',
              labels: { pass },
              value: Math.floor(succeededMs / 1_000),
            } as const,
          ]),
    ]),
  );
  return {
    ended({ name }: Pass, outcome: PassOutcome | 'failed', tookMs: number): void {
      meter?.count('passes_total', { pass: name, outcome });
      const before = lasts.get(name);
      // A look that found nothing new says that the published rows are right, not how long a pass takes.
      const lastTookMs = outcome === 'done' || before === undefined ? tookMs : before.tookMs;
      const isFresh = outcome === 'done' || outcome === 'current';
      lasts.set(name, {
        tookMs: lastTookMs,
        succeededMs: isFresh ? clock.nowMs() : (before?.succeededMs ?? null),
      });
    },
  };
}
