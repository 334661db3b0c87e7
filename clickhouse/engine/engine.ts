import type { Readable } from 'node:stream';
import type { Snapshot } from '../../core/domain/snapshot.ts';
import type { Sql } from './sql.ts';

/**
 * The port to ClickHouse, embedded or remote: always the real HTTP interface. Three users by purpose, kept apart by type:
 * reads are given a `Reader`, ingest a `Writer`; the sandbox will be given neither.
 */

/** The fencing token of a write: the engine refuses the write if table `fences` holds a higher one for the scope (guard.ts). */
export interface Guard {
  /** The guarded subject: a chain, or one of a few fixed words. */
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
  /** A larger result fails the statement; the engine never cuts it silently. */
  readonly maxRows: number;
  /** Further engine settings, from the closed list of those that we use. */
  readonly settings?: Readonly<Record<string, string | number>>;
  /** False for health checks: they fail during a restart instead of waiting for its end. */
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
  /** Closes idle connections; later calls fail. */
  close(): Promise<void>;
}

export interface Writer extends Reader {
  /** Runs a statement without a result. Not retried: the caller knows whether it is idempotent. */
  run(statement: RunStatement): Promise<void>;
  /**
   * Inserts a RowBinary body; resolves only when the engine has acknowledged (and, embedded, fsynced) all of it.
   * Columns are named so that a new column does not break an older worker. Refused when a guard is overtaken (guard.ts).
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
  /** Drops one partition of a table on every node that has it; `partition` is the rows' value of the partition key. */
  dropPartition(statement: {
    readonly name: string;
    readonly table: string;
    readonly partition: bigint;
    readonly maxSeconds: number;
    readonly scopes?: readonly string[];
  }): Promise<void>;
  /** Runs a SELECT without FORMAT and returns RowBinary: for bulk reads, where parsing JSON costs more than the work on the rows. */
  rowBinary(statement: Statement, signal?: AbortSignal): Promise<Buffer>;
}

/**
 * For statements that contain callers' text: runs them with only the guest's rights. The engine enforces what and how much the
 * guest may read (embedded/users.ts); this port enforces nothing itself.
 */
export interface Guest {
  /**
   * Yields the result line by line, each line a JSON row: for the engine's output about a text (EXPLAIN, formatting). Throws
   * `EngineError`; `engine_refused` has the engine's message as its cause.
   */
  explain(statement: GuestStatement, signal?: AbortSignal): Promise<readonly Row[]>;
  /**
   * Runs an accepted text. The engine buffers the result until the query has ended, so this resolves with all figures known before a
   * byte is read, and a late failure rejects instead of truncating the answer. An `EngineError` carries the figures too.
   */
  query(query: GuestQuery, signal: AbortSignal): Promise<GuestResult>;
  close(): Promise<void>;
}

/** Kills queries of the guest, each with every statement whose id begins with its own. For the watchdog only. */
export interface QueryKiller {
  /** Resolves when the engine has accepted the KILL; the query may end later or not at all. Unknown ids are fine. */
  kill(queryId: string): Promise<void>;
  isRunning(queryId: string): Promise<boolean>;
  /** How far a query is, over all nodes; null once it has ended. */
  progress(queryId: string): Promise<QueryProgress | null>;
  close(): Promise<void>;
}

/** What a running query has done so far. */
export interface QueryProgress {
  readonly readRows: number;
  /** Uncompressed. */
  readonly readBytes: number;
  /** As far as the engine knows: a join or a subquery may add more. */
  readonly totalRows: number;
  readonly elapsedMs: number;
  /** Of all threads, on the node where they worked most; 0 where the engine does not count it. */
  readonly cpuMs: number;
  readonly memoryBytes: number;
}

export interface GuestQuery extends GuestStatement {
  /** Our random id, by which `QueryKiller` finds the query. */
  readonly queryId: string;
  /** The engine's name for the format. */
  readonly format: string;
  /** The exact row limit of the result. */
  readonly maxRows: number;
  /** Rows per block; default: as in the guest's profile. */
  readonly blockRows?: number;
  /** Default: as in the guest's profile. */
  readonly threads?: number;
  /** Memory limit of the query in bytes, near which it goes on disk; default: as in the guest's profile. */
  readonly memoryBytes?: number;
  /** Whether its groups have long keys, so that it goes on disk later. Default: no. */
  readonly hasLongKeys?: boolean;
  /** What it may write to disk then; default: as in the guest's profile. */
  readonly diskBytes?: number;
  /** Whether the engine may buffer a large result in memory instead of in a file. Default: no. */
  readonly heldInMemory?: boolean;
  /** How the result is written; default: as in the guest's profile, uncompressed. */
  readonly written?: WrittenAs;
  /** The public tables as a snapshot has them; not on a cluster. */
  readonly asOf?: Snapshot;
}

/** What is known of the stored settlements, so that a statement over them need not look it up; at most a second old. */
export interface TableConstants {
  /** Months whose copy is current. */
  readonly copies: readonly {
    /** Unix seconds: its rows from here, and until there. */
    readonly from: number;
    readonly until: number;
    readonly generation: string;
  }[];
  /** The newest final block of each chain that has one. */
  readonly finalBlocks: readonly { readonly chain: string; readonly block: string }[];
}

/** How the engine writes a result: nothing in it changes what the result holds. */
export interface WrittenAs {
  /** Of `OUTPUT_SETTINGS` (clickhouse/guest/settings.ts). */
  readonly settings: Readonly<Record<string, string | number>>;
  /** `blocks`: the engine's own compressed blocks. Otherwise a content coding of HTTP; null for none. */
  readonly compression: 'blocks' | ContentCoding | null;
}

/** Content codings that the engine writes, the fastest first. */
export const CONTENT_CODINGS = ['lz4', 'zstd', 'gzip', 'deflate', 'br'] as const;
export type ContentCoding = (typeof CONTENT_CODINGS)[number];

export interface GuestResult {
  readonly figures: QueryFigures;
  readonly body: Readable;
  /** Of `body`, as the engine names it. */
  readonly mediaType?: string;
  /** The content coding of `body`; absent without one. */
  readonly contentCoding?: string;
}

/** Bytes in a format of the engine, sent with a statement that reads them under the name. */
export interface AttachedTable {
  readonly name: string;
  readonly format: string;
  /** Names and types of its columns, as a table is declared. */
  readonly structure: string;
  readonly bytes: Buffer;
}

/** Figures from `X-ClickHouse-Summary`, sent once a query has ended or failed. */
export interface QueryFigures {
  readonly readRows: number;
  readonly readBytes: number;
  readonly resultRows: number;
  /** Size of the result's columns in memory, uncompressed. */
  readonly resultBytes: number;
  readonly elapsedMs: number;
  readonly memoryBytes: number;
}

export interface GuestStatement {
  /** kebab-case, for the log. */
  readonly name: string;
  /** SQL in which a caller's text occurs only as hex digits, or the canonical text that the engine returned. */
  readonly text: string;
  /** Values of `{name:Type}` placeholders in the engine's wire format (sandbox/judge/literals/parameters.ts). */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Tables that are sent with the statement, for it alone. */
  readonly attached?: readonly AttachedTable[];
  readonly maxSeconds: number;
  /** Of a statement over `settlements` alone: what its view would have to look up. Not on a cluster, nor with `withoutRows`. */
  readonly constants?: TableConstants;
  /** The id by which `QueryKiller` finds a watched statement. */
  readonly queryId?: string;
  /** Whether the public tables appear empty to it: for questions that depend on types alone. */
  readonly withoutRows?: boolean;
  /** Whether EXPLAIN shows scalar subqueries, instead of the key under which the engine caches their value. */
  readonly showScalars?: boolean;
}

/**
 * How an engine call failed. `engine_refused`: the statement is at fault; `too_many_rows`: it would read more rows than allowed; all
 * others: the engine is at fault.
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
  /** ClickHouse's numeric error code, if it sent one. */
  readonly engineCode: number | null;
  readonly statement: string;
  /** Usage of a guest's query until it failed; null for other statements and if the engine sent none. */
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

/** Address and users of an engine. Passwords never enter a log or a command line. */
export interface EngineAccess {
  /** Called for each request, returns the trace headers to send with it. Absent without tracing. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** The URL for queries, path included. The embedded engine's path is a secret, so URLs never enter a log either. */
  readonly url: string;
  readonly database: string;
  readonly writer: EngineUser;
  readonly reader: EngineUser;
  readonly guest: EngineUser;
  /** Absent for a single engine. */
  readonly cluster?: EngineCluster;
}

/** A cluster: `url` receives the queries, and every node can answer them (docs/decisions/0008-cluster.md). */
export interface EngineCluster {
  /** Its name in `remote_servers`. */
  readonly name: string;
  /** HTTP URLs of each shard's replicas, in the order of `remote_servers`. Never logged either. */
  readonly shards: readonly (readonly [string, ...string[]])[];
  /** Whether tables are replicated within a shard, through Keeper. */
  readonly isReplicated: boolean;
}

export interface EngineUser {
  readonly user: string;
  readonly password: string;
}
