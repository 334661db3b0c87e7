import { setTimeout as delay } from 'node:timers/promises';
import { EngineError, type Writer } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import { PASS_LIMITS, type PassLimits } from './pass-limits.ts';
import { ringPass } from './ring-pass.ts';

/** From the end of one pass to the start of the next: a hundred times what it took, so that passes cost one per cent. */
const PAUSE_PER_PASS = 100;
/** Soon again while a first backfill is filling the window. */
const PAUSE_MIN_MS = 5 * 60_000;
const PAUSE_MAX_MS = 60 * 60_000;

/**
 * Looks for payment rings after the start and then every hour, more often while a pass is quick, until the signal aborts.
 * An engine that fails costs one pass: the rings of the one before stay published.
 */
export async function runRings(deps: {
  readonly writer: Writer;
  readonly log: Log;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly limits?: Partial<PassLimits>;
}): Promise<void> {
  const { writer, log, signal, clock } = deps;
  const limits: PassLimits = { ...PASS_LIMITS, ...deps.limits };
  try {
    while (!signal.aborted) {
      const startedMs = performance.now();
      const pass = await ringPass(writer, { nowMs: clock.nowMs(), limits, signal }).catch(expectEngineError);
      signal.throwIfAborted(); // a statement that ends with the worker did not fail
      if (pass instanceof EngineError) reportFailure(log, pass);
      else report(log, pass);
      const pauseMs = PAUSE_PER_PASS * (performance.now() - startedMs);
      await delay(Math.min(Math.max(pauseMs, PAUSE_MIN_MS), PAUSE_MAX_MS), undefined, { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function expectEngineError(error: unknown): EngineError {
  if (error instanceof EngineError) return error;
  throw error;
}

/** Also a refusal (a right that a remote engine does not grant) is no reason to stop indexing; it is a louder line. */
function reportFailure(log: Log, error: EngineError): void {
  const text = 'payment rings not looked for; those of the last pass stay';
  if (error.problem === 'engine_refused') log.error({ err: error }, text);
  else log.warn({ err: error }, text);
}

function report(log: Log, { gen, window, capped, ...figures }: Awaited<ReturnType<typeof ringPass>>): void {
  const fields = { ...figures, until: new Date(window.to * 1_000).toISOString().slice(0, 10), capped };
  if (capped.length === 0) log.info(fields, 'payment rings found');
  else log.warn(fields, 'payment rings found; weaker ones may be missing');
}
