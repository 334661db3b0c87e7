import { EngineError } from '../../clickhouse/engine/engine.ts';
import type { Log } from '../../core/log.ts';
import { backOffMs, retry } from '../../core/process/retry.ts';

/** A restarting engine is back within a second. */
const PAUSES = { firstMs: 100, maxMs: 5_000 } as const;
/** ClickHouse refusals that end by themselves or by an operator's hand: disk full, read-only table, too many parts, memory. */
const PASSING_ENGINE_CODES: ReadonlySet<number> = new Set([243, 242, 252, 241, 202]);

/**
 * Repeats a write until the engine acknowledges it. Only idempotent writes may be given: each attempt must take a fresh `ver`
 * or write the same keys. A refusal that no waiting can mend (a broken statement) is thrown: it must crash the worker.
 */
export function untilAcknowledged<T>(log: Log, signal: AbortSignal, attempt: () => Promise<T>): Promise<T> {
  const pauseMs = (error: unknown, failures: number): number | null => {
    if (!(error instanceof EngineError) || !isPassing(error)) return null;
    const nextMs = backOffMs(failures, PAUSES);
    log.warn(
      {
        statement: error.statement,
        problem: error.problem,
        code: error.engineCode,
        pauseMs: Math.round(nextMs),
      },
      'write not acknowledged, trying again',
    );
    return nextMs;
  };
  return retry(attempt, { signal, pauseMs });
}

function isPassing(error: EngineError): boolean {
  return (
    error.problem !== 'engine_refused' ||
    (error.engineCode !== null && PASSING_ENGINE_CODES.has(error.engineCode))
  );
}
