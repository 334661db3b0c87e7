import { ClickHouseError } from '@clickhouse/client';
import { withDeadline } from '../../core/process/deadline.ts';
import { EngineError, type EngineProblem } from './engine.ts';

/**
 * ClickHouse's numeric codes that do not simply mean that the statement is at fault, as all others do. Names as in ClickHouse's
 * ErrorCodes.cpp.
 */
const PROBLEM_OF_CODE: ReadonlyMap<number, EngineProblem> = new Map<number, EngineProblem>([
  [158, 'too_many_rows'], // TOO_MANY_ROWS: raised before anything is read
  [159, 'timeout'], // TIMEOUT_EXCEEDED
  [160, 'timeout'], // TOO_SLOW
  [209, 'timeout'], // SOCKET_TIMEOUT
  [241, 'memory'], // MEMORY_LIMIT_EXCEEDED
  [173, 'memory'], // CANNOT_ALLOCATE_MEMORY
  [202, 'overloaded'], // TOO_MANY_SIMULTANEOUS_QUERIES
  [203, 'overloaded'], // NO_FREE_CONNECTION
  [201, 'overloaded'], // QUOTA_EXCEEDED
  [243, 'overloaded'], // NOT_ENOUGH_SPACE: inserts fail until the disk has room again
  [252, 'overloaded'], // TOO_MANY_PARTS
  [439, 'overloaded'], // CANNOT_SCHEDULE_TASK
  [394, 'aborted'], // QUERY_WAS_CANCELLED
  [734, 'aborted'], // QUERY_WAS_CANCELLED_BY_CLIENT
  [735, 'aborted'],
  [198, 'unreachable'], // DNS_ERROR: for another node
  [210, 'unreachable'], // NETWORK_ERROR
  [236, 'unreachable'], // ABORTED: the engine is going down
  [242, 'unreachable'], // TABLE_IS_READ_ONLY: a replica that lost its Keeper
  [279, 'unreachable'], // ALL_CONNECTION_TRIES_FAILED
  [999, 'unreachable'], // KEEPER_EXCEPTION
]);

/**
 * The code for a text that ends too early, a fault of the statement, and also for another node that was killed while answering. Only
 * the message distinguishes the two.
 */
const ATTEMPT_TO_READ_AFTER_EOF = 32;
const OF_ANOTHER_NODE = /while receiving packet from /;

/** Ends a call: the caller's signal or the deadline. */
export interface CallSignals {
  /** Aborts with the caller's signal or at the deadline, whichever comes first. */
  readonly either: AbortSignal;
  readonly caller: AbortSignal | undefined;
}

/** Margin over the engine's own limit, for an engine that does not answer at all. */
const CLIENT_GRACE_MS = 3_000;

/** Runs `work` until the caller leaves or the statement's time is over. */
export function withinSeconds<Answer>(
  maxSeconds: number,
  caller: AbortSignal | undefined,
  work: (signals: CallSignals) => Promise<Answer>,
): Promise<Answer> {
  return withDeadline(maxSeconds * 1_000 + CLIENT_GRACE_MS, caller, ({ signal }) =>
    work({ either: signal, caller }),
  );
}

/** Maps an error of the client. The cause is for the log; it never holds parameters or passwords. */
export function engineErrorOf(error: unknown, statement: string, signals: CallSignals): EngineError {
  if (error instanceof EngineError) return error;
  if (error instanceof ClickHouseError) {
    const code = Number(error.code);
    return new EngineError(problemOf(code, error.message), statement, code, error);
  }
  if (signals.caller?.aborted === true) return new EngineError('aborted', statement, null, error);
  if (signals.either.aborted) return new EngineError('timeout', statement, null, error);
  return new EngineError('unreachable', statement, null, error);
}

export function problemOf(code: number, message: string): EngineProblem {
  if (code === ATTEMPT_TO_READ_AFTER_EOF && OF_ANOTHER_NODE.test(message)) return 'unreachable';
  return PROBLEM_OF_CODE.get(code) ?? 'engine_refused';
}

const BROKEN_CONNECTION = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ENOTCONN', 'UND_ERR_SOCKET']);

/** Whether the connection broke before an answer: the embedded engine may be restarting. */
export function isBrokenConnection(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof ClickHouseError) return false;
  const code = 'code' in error ? String(error.code) : '';
  return BROKEN_CONNECTION.has(code) || /socket hang up|aborted|terminated/i.test(error.message);
}

/** Errors after which the engine cannot have seen the statement. */
export function isConnectionRefused(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED';
}

/** How long reads wait for a restarting engine. A restart takes half a second, and several on a busy machine. */
export const ENGINE_OUTAGE_MAX_MS = 10_000;

/**
 * Bounds how long reads wait for a restarting engine. Once the engine has been away for longer, every read fails at once, so that
 * none waits for an engine that does not come back.
 */
export interface EngineOutage {
  /** Milliseconds that a read may still wait, or 0. Called by a read that found no engine. */
  patienceMs(): number;
  /** The engine answered. */
  over(): void;
}

/** `maxMs`: 0 for an engine that this program does not restart. */
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
