import { EngineError, type Reader, type Rows, type Statement } from '../../../clickhouse/engine/engine.ts';
import type { Resource } from '../../../core/domain/resources.ts';
import { fail } from '../../../core/errors.ts';

/** For a statement that reads much and is asked rarely, because its answer is kept: it may use two of the engine's cores. */
export const TWO_THREADS = { max_threads: 2 } as const;

/** Seconds a caller should wait after a 503: the embedded engine restarts in under one, a remote one fails over in a few. */
export const ENGINE_RETRY_AFTER_SECONDS = 2;

const PROBLEM_TEXT: Readonly<Record<EngineError['problem'], string>> = {
  unreachable: 'did not answer',
  timeout: 'did not answer in time',
  memory: 'refused the query for lack of memory',
  overloaded: 'is busy',
  aborted: 'was interrupted',
  too_many_rows: 'would have to read too many rows',
  engine_refused: 'refused the query',
};

/**
 * Runs a statement; an engine that fails becomes 503 `upstream_unavailable` naming `resource`. A failure never becomes an empty answer (read-api.md 1.3).
 */
export async function ask(reader: Reader, resource: Resource, statement: Statement): Promise<Rows> {
  try {
    return await reader.rows(statement);
  } catch (cause) {
    throw asUnavailable(resource, cause);
  }
}

/** Anything that is not an engine failure is a bug and passes through unchanged. */
export function asUnavailable(resource: Resource, cause: unknown): unknown {
  if (!(cause instanceof EngineError)) return cause;
  return fail('upstream_unavailable', {
    detail: `The index ${PROBLEM_TEXT[cause.problem]} when asked for: ${resource}.`,
    resource,
    retryAfterSeconds: ENGINE_RETRY_AFTER_SECONDS,
    cause,
  });
}
