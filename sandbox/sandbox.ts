import type { Readable } from 'node:stream';
import type { SqlCallers, SqlTierId } from '../core/domain/plan.ts';
import type { Accepted, Verdict } from './judge/inspect.ts';
import type { QueryParameters } from './judge/parser.ts';

/**
 * The sandbox as operations see it: judge a text, run what was accepted, or say what running it would cost. Nothing runs that
 * was not judged: `run` and `estimate` take the verdict, not the text (docs/design/sandbox.md).
 */
export interface SqlSandbox {
  /** Whose SQL is run by this deployment; the gate asks before it lets a call in. */
  openTo(): SqlCallers;
  /** Whose queries are run at this moment: by `openTo`, and by the penalties for queries that could not be stopped. */
  openNow(): OpenTo;
  /**
   * Rejects with `SandboxBusy` where the caller's queries are not run at the moment, with `EngineError` when the engine cannot be asked,
   * and for no other reason. Verdicts are remembered by the full digest of engine, policy, text and parameters.
   */
  inspect(text: SandboxText): Promise<Verdict>;
  /**
   * Waits for its turn, then resolves when the engine has finished: everything about the run is known, no byte has left, and a slow
   * reader of `body` holds up no other query. Rejects with `SandboxBusy`, `Refused`, `QueryFailed`, `QueryAbandoned`, or `EngineError`
   * where the engine and not the query is at fault.
   */
  run(query: SandboxQuery, signal: AbortSignal): Promise<SandboxResult>;
  /** What the engine expects to read. Runs no query, but plans one: bounded in time. Rejects like `run`. */
  estimate(
    query: Pick<SandboxQuery, 'accepted' | 'parameters' | 'caller'>,
    signal: AbortSignal,
  ): Promise<Estimate>;
}

/** Whose SQL is run, from the most callers to none. */
export const OPEN_TO = ['everyone', 'organizations', 'no_caller'] as const;
export type OpenTo = (typeof OPEN_TO)[number];

/** What the engine writes. `rows` is JSONCompactEachRowWithNamesAndTypes: a line of names, a line of types, a line for each row. */
export const RESULT_FORMATS = ['rows', 'ndjson', 'csv', 'parquet', 'arrow'] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];

export interface SandboxText {
  readonly text: string;
  readonly parameters: QueryParameters;
  /** As in `SandboxQuery`. */
  readonly caller: string;
}

export interface SandboxQuery {
  readonly accepted: Accepted;
  readonly parameters: QueryParameters;
  readonly tier: SqlTierId;
  /** Seconds that it may run, where that is less than its tier allows. */
  readonly maxSeconds?: number;
  readonly format: ResultFormat;
  /**
   * Rows that the engine gives at most. One more than the caller may have tells that there are more; a format that cannot be
   * cut afterwards (parquet, arrow) is asked for the caller's own number.
   */
  readonly maxRows: number;
  /** Names the caller, whose queries take turns with those of others and share its penalties. Holds no secret. */
  readonly caller: string;
}

/** What a run took, as the engine counted it. */
export interface RunFigures {
  /** Engine time, which is what is charged; waiting for a turn is not in it. */
  readonly engineMs: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly memoryBytes: number;
}

export interface SandboxResult extends RunFigures {
  /** Rows in `body`. */
  readonly resultRows: number;
  /** The engine stopped at its cap of bytes: there may be more rows. */
  readonly cutByBytes: boolean;
  readonly queuedMs: number;
  /** The whole result; to be read to its end or destroyed. */
  readonly body: Readable;
}

export interface Estimate {
  /** Rows and uncompressed bytes, by the engine's index analysis: an estimate. Null when the engine did not say in time. */
  readonly rows: number | null;
  readonly bytes: number | null;
  /** Public tables that are read without help of their keys, and those that no condition on time narrows. */
  readonly withoutKey: readonly string[];
  readonly withoutTime: readonly string[];
}

/** Why a query that was accepted did not come to its end. Closed list: documented, and in OpenAPI. */
export const QUERY_FAILURES = {
  timeout: 'It ran longer than its tier, or its `max_qu`, allows.',
  memory: 'It needed more memory than a query may use.',
  rows_read: 'It read more rows than a query may read.',
  result_size: 'Its result is larger than a query may give.',
  too_complex: 'It is too large or too deeply nested for the engine.',
  unknown_column: 'It names a column that is not there.',
  unknown_table: 'It names a table that is not there.',
  unknown_function: 'It names a function that is not there.',
  not_grouped: 'It mixes columns and aggregates in a way that GROUP BY does not allow.',
  type_error: 'It uses a value or a function with a type that does not fit.',
  value_error: 'It met a value that cannot be read or computed.',
  duplicate_columns: 'Two columns of its result have the same name.',
  unsupported: 'It uses something that does not work on these tables.',
  other: 'The engine refused it while it ran.',
} as const;
export type QueryFailure = keyof typeof QUERY_FAILURES;

/** The query's own fault, or the end of its limits. */
export class QueryFailed extends Error {
  readonly reason: QueryFailure;
  /** For the caller: the engine's words without physical names, paths, hosts, versions and settings. */
  readonly detail: string;
  /** For a caller without a key: our words only. What the engine says of a constant may hold what it computed. */
  readonly ownDetail: string;
  readonly hint: string | undefined;
  /** The word of the query that is wrong, and the one that was meant, where both are known. */
  readonly near: string | undefined;
  readonly meant: string | undefined;
  /** Null when it never reached the engine. */
  readonly figures: RunFigures | null;

  constructor(facts: {
    readonly reason: QueryFailure;
    readonly detail: string;
    readonly ownDetail?: string;
    readonly hint?: string | undefined;
    readonly near?: string | undefined;
    readonly meant?: string | undefined;
    readonly figures: RunFigures | null;
    readonly cause?: unknown;
  }) {
    super(facts.detail, { cause: facts.cause });
    this.name = 'QueryFailed';
    this.reason = facts.reason;
    this.detail = facts.detail;
    this.ownDetail = facts.ownDetail ?? QUERY_FAILURES[facts.reason];
    this.hint = facts.hint;
    this.near = facts.near;
    this.meant = facts.meant;
    this.figures = facts.figures;
  }
}

/** Why a query has to come again later. */
export const BUSY_REASONS = {
  places: 'Every place for queries is taken at the moment, and the line is long. Nothing was charged.',
  penalty:
    'A query of yours could not be stopped when its time was over, and ended the queries of others with it. For ten minutes none of yours is run, nor of others of your range of addresses; nothing was charged.',
  organizations_only:
    'Several queries of callers without an organization could not be stopped in the last minutes. For an hour SQL is run for organizations only; every other read goes on. Nothing was charged.',
  closed:
    'Queries could not be stopped again and again. SQL is not run for any caller until the operator of this service has looked; every other read goes on. Nothing was charged.',
} as const;
export type BusyReason = keyof typeof BUSY_REASONS;

/** `places`: no place is free, and the queue is full or the wait was too long. The others: penalties.ts. */
export class SandboxBusy extends Error {
  readonly retryAfterSeconds: number;
  readonly reason: BusyReason;

  constructor(retryAfterSeconds: number, reason: BusyReason = 'places') {
    super(BUSY_REASONS[reason]);
    this.name = 'SandboxBusy';
    this.retryAfterSeconds = retryAfterSeconds;
    this.reason = reason;
  }
}

/** The caller left. The engine was told to stop. */
export class QueryAbandoned extends Error {
  /** What it used until then; null when it had not begun. */
  readonly engineMs: number | null;

  constructor(engineMs: number | null) {
    super('the caller left while the query ran');
    this.name = 'QueryAbandoned';
    this.engineMs = engineMs;
  }
}
