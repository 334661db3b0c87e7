import { EngineError, type Reader, type Rows, type Statement } from '../../clickhouse/engine/engine.ts';
import { WRITTEN_AGAIN } from '../../clickhouse/tables/history.ts';
import type { Clock } from '../../core/clock.ts';
import type { Resource } from '../../core/domain/resources.ts';
import { type Failure, fail } from '../../core/errors.ts';

/** For a statement that reads much and is asked rarely, because its answer is kept: it may use two of the engine's cores. */
export const TWO_THREADS = { max_threads: 2 } as const;

/** Seconds a caller should wait after a 503: the embedded engine restarts in under one, a remote one fails over in a few. */
const ENGINE_RETRY_AFTER_SECONDS = 2;

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
 * Runs a statement; an engine that fails becomes 503 `upstream_unavailable` naming `resource`. A failure never becomes an empty answer.
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
  const rewritten = writtenAgain(cause);
  if (rewritten !== undefined) return rewritten;
  return fail('upstream_unavailable', {
    detail: `The index ${PROBLEM_TEXT[cause.problem]} when asked for: ${resource}.`,
    resource,
    retryAfterSeconds: ENGINE_RETRY_AFTER_SECONDS,
    cause,
  });
}

const THROWN = 395; // FUNCTION_THROW_IF_VALUE_IS_NON_ZERO

/** The failure of a read that met a row of a snapshot that was written again (clickhouse/tables/history.ts); undefined for other errors. */
export function writtenAgain(error: EngineError): Failure | undefined {
  const said = error.cause instanceof Error ? error.cause.message : '';
  if (error.engineCode !== THROWN || !said.includes(WRITTEN_AGAIN)) return undefined;
  return fail('snapshot_gone', {
    detail:
      'The snapshot cannot be answered: blocks of it were indexed anew since, so it is not known whether their rows are the same. Use the newest one.',
    cause: error,
  });
}

/**
 * One value, loaded at most once per `maxAgeMs` and never twice at the same time: a thousand requests in a second cost one
 * query. A failed load is not kept: all callers that wait for it get the error, the next one loads again. With `staleMs` callers of a
 * busy service do not wait for a load: the one that finds the value too old starts it, and all get the old value until it has ended.
 */
export function cached<Value>(options: {
  readonly clock: Clock;
  readonly maxAgeMs: number;
  /** How far beyond `maxAgeMs` the old value is answered while a new one is loaded; by default not at all. */
  readonly staleMs?: number;
  /** False for a value that must not be kept, for example "nothing yet". */
  readonly keep?: (value: Value) => boolean;
  /** `old`: callers get it until then; undefined where they wait. */
  readonly load: (old: Value | undefined) => Promise<Value>;
}): () => Promise<Value> {
  const { clock, maxAgeMs, load, staleMs = 0, keep = () => true } = options;
  let kept: { readonly value: Value; readonly atMs: number } | undefined;
  let underWay: Promise<Value> | undefined;

  const loadOnce = async (old: Value | undefined): Promise<Value> => {
    const atMs = clock.nowMs();
    try {
      const value = await load(old);
      kept = keep(value) ? { value, atMs } : undefined;
      return value;
    } finally {
      underWay = undefined;
    }
  };

  return () => {
    const ageMs = kept === undefined ? Number.POSITIVE_INFINITY : Math.abs(clock.nowMs() - kept.atMs);
    if (kept !== undefined && ageMs < maxAgeMs) return Promise.resolve(kept.value);
    const old = ageMs < maxAgeMs + staleMs ? kept : undefined;
    underWay ??= loadOnce(old?.value);
    if (old === undefined) return underWay;
    // The next caller loads again; once the value is older than `staleMs` allows, callers get the error.
    underWay.catch(() => undefined);
    return Promise.resolve(old.value);
  };
}
