import { setTimeout as delay } from 'node:timers/promises';
import { EngineError } from '../../clickhouse/engine/engine.ts';
import type { Log } from '../../core/log.ts';

/** First pause after a failed write, doubled up to the maximum: a restarting engine is back within a second. */
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;
/** ClickHouse refusals that end by themselves or by an operator's hand: disk full, read-only table, too many parts, memory. */
const PASSING_ENGINE_CODES: ReadonlySet<number> = new Set([243, 242, 252, 241, 202]);

/**
 * Repeats a write until the engine acknowledges it. Only idempotent writes may be given: each attempt must take a fresh `ver`
 * or write the same keys. A refusal that no waiting can mend (a broken statement) is thrown: it must crash the worker.
 */
export async function untilAcknowledged<T>(
  log: Log,
  signal: AbortSignal,
  attempt: () => Promise<T>,
): Promise<T> {
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof EngineError) || !isPassing(error)) throw error;
      log.warn(
        { statement: error.statement, problem: error.problem, code: error.engineCode, pauseMs },
        'write not acknowledged, trying again',
      );
      await delay(pauseMs * (0.5 + Math.random() / 2), undefined, { signal });
    }
  }
}

function isPassing(error: EngineError): boolean {
  return (
    error.problem !== 'engine_refused' ||
    (error.engineCode !== null && PASSING_ENGINE_CODES.has(error.engineCode))
  );
}
