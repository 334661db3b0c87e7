import type { Readable } from 'node:stream';
import type { Sql } from './sql.ts';

/**
 * The port to ClickHouse, embedded or remote: always the real HTTP interface. Three users by purpose, kept apart by type:
 * reads are given a `Reader`, ingest a `Writer`; the sandbox will be given neither.
 */

/** What a write stands under: the engine refuses it when table `fences` holds a higher token for the scope (guard.ts). */
export interface Guard {
  /** What is guarded: a chain, or one of a few words. */
  readonly scope: string;
  readonly token: bigint;
}

/** Every statement has a name (log, query_log), a time bound and a row bound. */
export interface Statement {
  /** kebab-case, for example `flows-page`. For people: logs, traces and the engine's own log show it. */
  readonly name: string;
  /** What a write belongs to (guard.ts): a process that waits for all running writes of a scope finds it by this. */
  readonly scopes?: readonly string[];
  readonly sql: Sql;
  readonly maxSeconds: number;
  /** The engine fails the statement (never cuts it silently) when it would answer more rows. */
  readonly maxRows: number;
  /** Further engine settings, from a closed list that this program uses. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** False for a question whether the engine answers now: a restart is then the answer and not something to wait for. */
  readonly waitsForRestart?: boolean;
}

/** A statement without a result. */
export interface RunStatement extends Omit<Statement, 'maxRows'> {
  readonly guards?: readonly Guard[];
  /** Absent: an `INSERT INTO … SELECT …`. Other statements have no place for a guard: the fence is read before them. */
  readonly kind?: 'insert' | 'other';
}

/** What a write stands under and belongs to. */
export interface WriteMarks {
  readonly guards?: readonly Guard[];
  readonly scopes?: readonly string[];
}

/** One row, columns in the order of the SELECT. 64-bit integers and decimals arrive as strings. */
export type Row = readonly unknown[];

export interface Rows {
  readonly rows: readonly Row[];
  readonly readRows: number;
  readonly readBytes: number;
  /** Wall clock at the client, milliseconds. */
  readonly elapsedMs: number;
}

/**
 * Contract of both ports:
 * - an engine that refuses, times out or cannot be reached throws `EngineError`; never an empty result;
 * - idempotent reads are retried once on a broken connection (the embedded engine may have restarted);
 * - a caller's abort signal stops the query in the engine.
 */
export interface Reader {
  rows(statement: Statement, signal?: AbortSignal): Promise<Rows>;
  /** Resolves when the engine answers a trivial query, throws `EngineError` otherwise. */
  ping(): Promise<void>;
  /** Ends idle connections; calls after it fail. */
  close(): Promise<void>;
}

export interface Writer extends Reader {
  /** Runs a statement without a result. Not retried: the caller knows whether it is idempotent. */
  run(statement: RunStatement): Promise<void>;
  /**
   * Inserts a RowBinary body; resolves only when the engine has acknowledged (and, embedded, fsynced) all of it.
   * Columns are named so that a table may grow without breaking an older worker. Refused when a guard is overtaken.
   */
  insert(
    name: string,
    table: string,
    columns: readonly string[],
    rowBinary: Readable | readonly Uint8Array[],
    marks?: WriteMarks,
  ): Promise<void>;
  /** Runs an `INSERT … SELECT … FROM input(…) FORMAT …` over the bytes of `body`; resolves when it is acknowledged. */
  load(statement: Omit<Statement, 'maxRows'>, body: Readable): Promise<void>;
  /** Drops one partition of a table on every node that has it; `partition` is the number that its rows have. */
  dropPartition(statement: {
    readonly name: string;
    readonly table: string;
    readonly partition: bigint;
    readonly maxSeconds: number;
    readonly scopes?: readonly string[];
  }): Promise<void>;
  /** Answers a SELECT, written without a FORMAT, as RowBinary: for bulk reads, where rows of JSON cost more than their use. */
  rowBinary(statement: Statement, signal?: AbortSignal): Promise<Buffer>;
}

/**
 * For texts that callers had a part in: the guest's rights and nothing else. What it may read, and how much, is pinned in the
 * engine (embedded/users.ts); this port adds nothing to that.
 */
export interface Guest {
  /**
   * Answers a statement line by line, each line a row of JSON: for the engine's words about a text (EXPLAIN, formatting).
   * Throws `EngineError`; `engine_refused` carries what the engine said as its cause.
   */
  explain(statement: GuestStatement, signal?: AbortSignal): Promise<readonly Row[]>;
  /**
   * Runs an accepted text. The engine keeps the result until the query has ended, so that this resolves with every figure known
   * and no byte read, and a failure is a failure instead of a broken answer. An `EngineError` carries the figures too.
   */
  query(query: GuestQuery, signal: AbortSignal): Promise<GuestResult>;
  close(): Promise<void>;
}

/** Ends queries of the guest. For the watchdog only. */
export interface QueryKiller {
  /** Resolves when the engine has the request; the query may end a moment later, or go on. Unknown ids are fine. */
  kill(queryId: string): Promise<void>;
  isRunning(queryId: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface GuestQuery extends GuestStatement {
  /** Ours, random: the id that `QueryKiller` takes. */
  readonly queryId: string;
  /** The engine's name of the format. */
  readonly format: string;
  /** Rows that the engine gives at most, exactly. */
  readonly maxRows: number;
  /** Rows that work goes on with at a time; those of the guest's profile where it is not given. */
  readonly blockRows?: number;
  /** Bytes that the query may hold; those of the guest's profile where it is not given. */
  readonly memoryBytes?: number;
  /** Whether the engine may hold a large result in its memory until it is read, instead of in a file. Default: no. */
  readonly heldInMemory?: boolean;
}

export interface GuestResult {
  readonly figures: QueryFigures;
  readonly body: Readable;
}

/** Of `X-ClickHouse-Summary`, once a query has ended, well or not. */
export interface QueryFigures {
  readonly readRows: number;
  readonly readBytes: number;
  readonly resultRows: number;
  /** Of the result's columns in memory, uncompressed. */
  readonly resultBytes: number;
  readonly elapsedMs: number;
  readonly memoryBytes: number;
}

export interface GuestStatement {
  /** kebab-case, for the log. */
  readonly name: string;
  /** Text whose only foreign part is hex digits, or the canonical text that the engine itself gave. */
  readonly text: string;
  /** Values of `{name:Type}` placeholders, as the engine reads them off the wire (sandbox/judge/parameter-texts.ts). */
  readonly parameters?: Readonly<Record<string, string>>;
  readonly maxSeconds: number;
  /** The id that `QueryKiller` takes, for a statement that is watched. */
  readonly queryId?: string;
  /** Whether the public tables look empty to it: for a question that types alone answer. */
  readonly withoutRows?: boolean;
  /** Whether EXPLAIN shows the subqueries that give a single value, instead of the key under which the engine keeps the value. */
  readonly showScalars?: boolean;
}

/**
 * How an engine call failed. `engine_refused`: the statement is at fault; `too_many_rows`: it would read more than it was allowed to;
 * the others: the engine is.
 */
export type EngineProblem =
  | 'unreachable'
  | 'timeout'
  | 'memory'
  | 'overloaded'
  | 'aborted'
  | 'too_many_rows'
  | 'engine_refused';

export class EngineError extends Error {
  readonly problem: EngineProblem;
  /** ClickHouse's numeric error code, when it gave one. */
  readonly engineCode: number | null;
  readonly statement: string;
  /** What a query of the guest took until it failed; null for other statements and where the engine did not say. */
  readonly figures: QueryFigures | null;

  constructor(
    problem: EngineProblem,
    statement: string,
    engineCode: number | null,
    cause: unknown,
    figures: QueryFigures | null = null,
  ) {
    super(`${statement}: ${problem}${engineCode === null ? '' : ` (code ${engineCode})`}`, { cause });
    this.name = 'EngineError';
    this.problem = problem;
    this.engineCode = engineCode;
    this.statement = statement;
    this.figures = figures;
  }
}

/** Where an engine is and who may do what there. Passwords never enter a log or a command line. */
export interface EngineAccess {
  /** Sent with every request, and called for each: the trace that it belongs to. Absent without tracing. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** Where queries are sent. Its path is kept; the embedded engine's is a secret, so a URL never enters a log either. */
  readonly url: string;
  readonly database: string;
  readonly writer: EngineUser;
  readonly reader: EngineUser;
  readonly guest: EngineUser;
  /** Absent for one engine. */
  readonly cluster?: EngineCluster;
}

/** Several engines as one: `url` is where questions go, and every node can answer them (docs/decisions/0008-cluster.md). */
export interface EngineCluster {
  /** Its name in `remote_servers`. */
  readonly name: string;
  /** HTTP URLs of the replicas of each shard, in the order of `remote_servers`. Not for logs either. */
  readonly shards: readonly (readonly [string, ...string[]])[];
  /** Whether a Keeper keeps the replicas of a shard the same. */
  readonly isReplicated: boolean;
}

export interface EngineUser {
  readonly user: string;
  readonly password: string;
}
