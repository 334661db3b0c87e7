import type { Readable } from 'node:stream';
import type { QueryProgress, WrittenAs } from '../clickhouse/engine/engine.ts';
import type { OwnTableFacts, UploadFormat } from '../core/domain/own-table.ts';
import type { SqlCallers, SqlTierId } from '../core/domain/plan.ts';
import type { Snapshot } from '../core/domain/snapshot.ts';
import { sha256Of } from '../core/text.ts';
import type { TextEdit } from '../core/text-edits.ts';
import type { Accepted, Judgement, Placeholders } from './judge/inspect.ts';
import type { QueryParameters } from './judge/parser.ts';
import type { OwnTable } from './policy/own-tables.ts';
import type { SqlSetting } from './policy/settings.ts';
import type { ResultColumn } from './results/column-type.ts';

/**
 * The sandbox's interface for operations: judge a text, run it once accepted, or estimate its cost. Nothing runs unjudged: `run` and
 * `estimate` take the verdict, not the text (docs/design/sandbox.md).
 */
export interface SqlSandbox {
  /** Whose SQL this deployment runs; the gate checks it before it admits a call. */
  openTo(): SqlCallers;
  /** Whose queries run right now, given `openTo` and the penalties for unstoppable queries. */
  openNow(): OpenTo;
  /**
   * Rejects only with `SandboxBusy`, if the caller's queries currently do not run, or `EngineError`, if the engine does not answer.
   * Verdicts are cached by the full digest of engine, policy, text and parameters.
   */
  inspect(text: SandboxText): Promise<Judgement>;
  /** The placeholders of a text, before there are values for them. Rejects like `inspect`. */
  placeholders(text: Pick<SandboxText, 'text' | 'caller'>): Promise<Placeholders>;
  /**
   * Waits for its turn, then resolves when the engine has finished: all figures are known, nothing has been sent, and a slow reader of
   * `body` delays no other query. Rejects with `SandboxBusy`, `Refused`, `QueryFailed`, `QueryAbandoned`, or `EngineError` if the
   * engine, not the query, is at fault.
   */
  run(query: SandboxQuery, signal: AbortSignal): Promise<SandboxResult>;
  /** How far the queries of a `runId` are, in whichever process they began; null while they wait and once they have ended. Rejects with `EngineError`. */
  progress(runId: string): Promise<QueryProgress | null>;
  /** Stops them: each fails with the reason `cancelled`. One that waits for its turn is not stopped. Rejects with `EngineError`. */
  cancel(runId: string): Promise<void>;
  /** What the engine expects to read. Only plans the query, within a time limit. Rejects like `run`. */
  estimate(
    query: Pick<SandboxQuery, 'accepted' | 'parameters' | 'caller'>,
    signal: AbortSignal,
  ): Promise<Estimate>;
  /** A file of rows as a table that is kept. Rejects with `UploadRefused`, or like `estimate`. */
  readUpload(upload: Upload, signal: AbortSignal): Promise<ReadTable>;
  /**
   * Answers what tools ask a ClickHouse server about itself. Null if the text is no such question: it is then metered like any other.
   * Rejects with `Refused`, `QueryFailed`, `QueryAbandoned`, `SandboxBusy`, or `EngineError` if the engine is at fault.
   */
  introspect(request: IntrospectionRequest): Promise<Introspected | null>;
  /**
   * The text in ClickHouse's words, if it is of another dialect and the result is accepted; null otherwise. Never runs anything and never
   * rejects.
   */
  suggest(text: SandboxText): Promise<string | null>;
}

export interface IntrospectionRequest {
  readonly text: string;
  /** As clients of ClickHouse send them (`valuesAsRead`). */
  readonly parameters: QueryParameters;
  /** The engine's name of the format, unless the text ends with FORMAT. */
  readonly format: string;
  /** The database that the client chose; null if it chose none. */
  readonly database: string | null;
  /** How the engine writes the answer; its own settings by default. */
  readonly written?: WrittenAs | undefined;
  /** Identifies the caller for fair queueing and penalties, as `caller` of a query (sandbox/sandbox.ts). Holds no secret. */
  readonly callerName: string;
  /** What `currentUser()` answers. Default: the id of the caller's organization, or `anonymous`. */
  readonly userName?: string | undefined;
  readonly signal: AbortSignal;
}

export interface Introspected {
  readonly format: string;
  /** The whole answer. Must be read to its end or destroyed. */
  readonly body: Readable;
  readonly resultRows: number;
  readonly resultBytes: number;
  /** Of `body`, as the engine names it. */
  readonly mediaType?: string;
  /** Absent without one. */
  readonly contentCoding?: string;
}

/** Whose SQL runs, from the most callers to none. */
export const OPEN_TO = ['everyone', 'organizations', 'no_caller'] as const;
export type OpenTo = (typeof OPEN_TO)[number];

/** Formats that the engine writes. `rows` is JSONCompactEachRowWithNamesAndTypes: a line of names, a line of types, a line per row. */
export const RESULT_FORMATS = ['rows', 'ndjson', 'csv', 'parquet', 'arrow'] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];

/**
 * How numbers are written that a reader may not hold: as texts with every digit, or as numbers of the format. In Parquet and Arrow
 * `native` is a decimal of 38 digits.
 */
export const NUMBER_FORMS = ['text', 'native'] as const;
export type NumberForm = (typeof NUMBER_FORMS)[number];

/** A format of the engine by its own name, with the settings that shape it. */
export interface EngineFormat extends WrittenAs {
  readonly name: string;
}

export interface SandboxText {
  readonly text: string;
  readonly parameters: QueryParameters;
  /** As in `SandboxQuery`. */
  readonly caller: string;
  /**
   * Whether it comes from a client of a ClickHouse server: a FORMAT at its end is the caller's choice (`Accepted.format`), tables may be
   * named with the published database, and `parameters` are written as such clients write them (`valuesAsRead`).
   */
  readonly readsLikeServer?: boolean;
  /** Settings that came apart from the text and change what it means (`meaningSettings`). */
  readonly settings?: readonly SqlSetting[];
  /** The tables of the caller's organization; asked only where the text can name one. Absent: it has none. */
  readonly ownTables?: () => Promise<readonly OwnTable[]>;
}

export interface SandboxQuery {
  readonly accepted: Accepted;
  readonly parameters: QueryParameters;
  readonly tier: SqlTierId;
  /** Time limit in seconds, if lower than that of its tier. */
  readonly maxSeconds?: number;
  /** `kept`: the form in which a result is stored, with its columns (`keptForm`). */
  readonly format: ResultFormat | 'kept' | EngineFormat;
  /** Of Parquet and Arrow, whose types are converted in the engine. Default: native. */
  readonly numbers?: NumberForm;
  /** Of CSV: how NULL is written. Default: nothing. */
  readonly csvNull?: string;
  /**
   * The engine's row limit. One above the caller's limit, to detect further rows; for formats that cannot be cut afterwards (parquet,
   * arrow, formats of the engine) exactly the caller's limit, unless the result must be whole.
   */
  readonly maxRows: number;
  /** The caller named no number of rows: a result that reaches `maxRows` fails (`result_size`) and is not cut. */
  readonly mustBeWhole?: boolean;
  /** Identifies the caller for fair queueing and penalties. Holds no secret. */
  readonly caller: string;
  /** The public tables as a snapshot has them. Only those that can be asked so may be in the text (AS_OF_TABLES). */
  readonly asOf?: Snapshot;
  /** Of a job: its time limit in place of that of its tier. It waits among the long queries. */
  readonly job?: { readonly seconds: number };
  /** `runIdOf`: by it `progress` and `cancel` find the query. */
  readonly runId?: string;
}

/** Of a query that its caller gave an id: ids of other callers never lead to it. */
export function runIdOf(caller: string, id: string): string {
  return sha256Of(JSON.stringify([caller, id]));
}

/** What a run took, as the engine counted it. */
export interface RunFigures {
  /** Engine time; excludes the wait for a turn. */
  readonly engineMs: number;
  /** What is charged of it: without the time in which the query's threads waited for cores or for the disk. */
  readonly chargedMs: number;
  readonly rowsRead: number;
  readonly bytesRead: number;
  readonly memoryBytes: number;
}

export interface SandboxResult extends RunFigures {
  /** Rows in `body`. */
  readonly resultRows: number;
  /** Of Parquet and Arrow: there are more rows than `body` has. In the other formats more rows than the caller may have show it. */
  readonly hasMore: boolean;
  readonly queuedMs: number;
  /** Size of the result's columns in the engine's memory. */
  readonly resultBytes?: number;
  /** The whole result. Must be read to its end or destroyed. */
  readonly body: Readable;
  /** Of `body`, as the engine names it. */
  readonly mediaType?: string;
  /** The content coding of `body`; absent without one. */
  readonly contentCoding?: string;
  /** Names and types of the result in the format `kept`. */
  readonly columns?: readonly ResultColumn[];
}

export interface Estimate {
  /** Estimated rows and uncompressed bytes, from the engine's index analysis. Null if the engine did not answer in time. */
  readonly rows: number | null;
  readonly bytes: number | null;
  /** Rows that its joins make, as far as the plan tells, and at most; infinite where the plan bounds none. */
  readonly rowsJoined: number;
  readonly rowsJoinedMax: number;
  /** Rows that its joins without equal columns make of what is read. */
  readonly rowsCrossed: number;
  /** What an operator that cannot go on disk may hold, in shares of memory (clickhouse/guest/memory.ts). */
  readonly heldShares: number;
  /** Public tables that are read without using their keys, and those without a condition on time. */
  readonly withoutKey: readonly string[];
  readonly withoutTime: readonly string[];
}

/** A file of rows that a caller sends. */
export interface Upload {
  readonly bytes: Buffer;
  readonly format: UploadFormat;
  /** In place of the types that the engine finds, by column. */
  readonly types: ReadonlyMap<string, string>;
  /** As in `SandboxQuery`. */
  readonly caller: string;
}

/** A table as the engine wrote it, in its Native form. */
export interface ReadTable extends OwnTableFacts {
  readonly native: Buffer;
}

/** The file is at fault: the message is for its sender. */
export class UploadRefused extends Error {
  constructor(detail: string, cause?: unknown) {
    super(detail, { cause });
    this.name = 'UploadRefused';
  }
}

/** Why an accepted query failed. A closed list: documented, and in OpenAPI. */
export const QUERY_FAILURES = {
  timeout: 'It ran longer than its tier, or its `max_qu`, allows.',
  cancelled: 'It was cancelled.',
  memory: 'It needed more memory than a query may use.',
  disk: 'What did not fit into its memory needed more disk than a query of its tier may use.',
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

/** The query is at fault or exceeded its limits. */
export class QueryFailed extends Error {
  readonly reason: QueryFailure;
  /** For the caller: the engine's message without physical names, paths, hosts, versions and settings. */
  readonly detail: string;
  /** For a caller without a key: our wording only, because the engine's message may contain a computed value. */
  readonly ownDetail: string;
  readonly hint: string | undefined;
  /** The wrong word of the query and the probable correct one, if known. */
  readonly near: string | undefined;
  readonly meant: string | undefined;
  /** The whole query as it was probably meant, if known. */
  readonly suggestedSql: string | undefined;
  /** The changes of the caller's text that make it so. */
  readonly edits: TextEdit[] | undefined;
  /** Null if the query never reached the engine. */
  readonly figures: RunFigures | null;

  constructor(facts: {
    readonly reason: QueryFailure;
    readonly detail: string;
    readonly ownDetail?: string;
    readonly hint?: string | undefined;
    readonly near?: string | undefined;
    readonly meant?: string | undefined;
    readonly suggestedSql?: string | undefined;
    readonly edits?: TextEdit[] | undefined;
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
    this.suggestedSql = facts.suggestedSql;
    this.edits = facts.edits;
    this.figures = facts.figures;
  }
}

/** Why a query must be retried later. */
export const BUSY_REASONS = {
  places: 'Every place for queries is taken at the moment, and the line is long. Nothing was charged.',
  free_time:
    'Your questions to the catalogue, which are free, used the engine time of this minute. Ask again when it is over.',
  penalty:
    'A query of yours could not be stopped when its time was over, and ended the queries of others with it. For ten minutes none of yours is run, nor of others of your range of addresses; nothing was charged.',
  organizations_only:
    'Several queries of callers without an organization could not be stopped in the last minutes. For an hour SQL is run for organizations only; every other read goes on. Nothing was charged.',
  closed:
    'Queries could not be stopped again and again. SQL is not run for any caller until the operator of this service has looked; every other read goes on. Nothing was charged.',
} as const;
export type BusyReason = keyof typeof BUSY_REASONS;

/** `places`: no place is free, and the queue is full or the wait was too long. `free_time`: free-time.ts. The others: penalties.ts. */
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

/** The caller left, and the engine has been sent a KILL. */
export class QueryAbandoned extends Error {
  /** What is charged of its time until then; null if it had not begun. */
  readonly chargedMs: number | null;

  constructor(chargedMs: number | null) {
    super('the caller left while the query ran');
    this.name = 'QueryAbandoned';
    this.chargedMs = chargedMs;
  }
}
