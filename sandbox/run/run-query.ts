import { randomUUID } from 'node:crypto';
import {
  EngineError,
  type Guest,
  type GuestQuery,
  type QueryFigures,
  type QueryKiller,
  type TableConstants,
} from '../../clickhouse/engine/engine.ts';
import { MEMORY_SHARES, threadsWithin } from '../../clickhouse/guest/memory.ts';
import { GUEST_QUARTER_BLOCK_ROWS } from '../../clickhouse/guest/settings.ts';
import { SQL_DISK_BYTES, type SqlTierId } from '../../core/domain/plan.ts';
import type { Log } from '../../core/log.ts';
import type { Place } from '../../core/process/places.ts';
import { sha256Of } from '../../core/text.ts';
import { parametersAsSent } from '../judge/literals/parameters.ts';
import { WATCHDOG_GRACE_MS } from '../limits.ts';
import { repeatedName } from '../results/column-names.ts';
import type { ResultColumn } from '../results/column-type.ts';
import { keptForm } from '../results/kept-form.ts';
import {
  QueryAbandoned,
  QueryFailed,
  type ResultFormat,
  type RunFigures,
  type SandboxQuery,
  type SandboxResult,
  type SqlSandbox,
} from '../sandbox.ts';
import type { Admission, HeldResults, UnreadResults } from './admission.ts';
import { attachedTables } from './attached.ts';
import { explainFailure } from './explain-failure.ts';
import { exportText, type TooWide, tooWideOf } from './export-text.ts';
import type { SpareMemory } from './memory.ts';
import { type FileResult, withMore } from './more-rows.ts';
import { describedColumns, openPlanning, type Resolve } from './planning.ts';
import { type Constants, needsConstants } from './table-constants.ts';
import { CallerLeft, StoppedLate, type Watchdog } from './watchdog.ts';

/** From an accepted text to its result: admission, the second judgement, a watched query of the guest, and how it ended. */

export interface RunDeps {
  readonly guest: Pick<Guest, 'query' | 'explain'>;
  readonly admission: Pick<Admission, 'admit' | 'punish'>;
  readonly unread: UnreadResults;
  readonly memory: {
    /** For results in the engine's memory. */
    readonly held: HeldResults;
    /** For queries of larger tiers. */
    readonly spare: SpareMemory;
  };
  readonly watchdog: Watchdog;
  readonly killer: Pick<QueryKiller, 'isRunning'>;
  readonly resolve: Resolve;
  readonly secondsOf: (tier: SqlTierId) => number;
  readonly log: Pick<Log, 'error'>;
  /** Absent on a cluster. */
  readonly constants?: Constants;
}

/** The engine's names for the formats. */
export const ENGINE_FORMATS: Readonly<Record<ResultFormat, string>> = {
  rows: 'JSONCompactEachRowWithNamesAndTypes',
  ndjson: 'JSONEachRow',
  csv: 'CSVWithNames',
  parquet: 'Parquet',
  arrow: 'ArrowStream',
};

export function createRun(deps: RunDeps): SqlSandbox['run'] {
  return (query, signal) => {
    const { caller, tier, accepted } = query;
    const load = tier === 'standard' && query.job === undefined ? 'light' : 'heavy';
    return deps.admission.admit(
      { caller, text: accepted.text, load },
      signal,
      async (place, { memoryBytes }) => {
        // Read meanwhile; never rejects.
        const constants = needsConstants(query) ? deps.constants?.() : undefined;
        const prepared = await prepareIn(place, query, signal, deps);
        const given = { place, shareBytes: memoryBytes, constants: (await constants) ?? null };
        return runIn(given, prepared, signal, deps);
      },
    );
  };
}

interface GivenToRun {
  readonly place: Place;
  readonly shareBytes: number;
  readonly constants: TableConstants | null;
}

interface PreparedQuery {
  readonly query: SandboxQuery;
  /** What runs: the accepted text, or for Parquet and Arrow a SELECT around it. */
  readonly text: string;
  /** Of the result, where they had to be known. */
  readonly columns: readonly ResultColumn[];
}

/** The second judgement, before any part of the query runs. Keeps the place only if the query passes. */
async function prepareIn(
  place: Place,
  query: SandboxQuery,
  signal: AbortSignal,
  deps: RunDeps,
): Promise<PreparedQuery> {
  const { format, numbers = 'native', accepted } = query;
  const planning = openPlanning(deps, query, signal);
  try {
    await deps.resolve(query, planning);
    if (format !== 'parquet' && format !== 'arrow' && format !== 'kept')
      return { query, text: accepted.text, columns: [] };
    const columns = await describedColumns(deps.guest, planning);
    if (format === 'kept') {
      refuseSameNames(columns);
      return { query, text: accepted.text, columns };
    }
    return { query, text: exportText(accepted.text, columns, { format, numbers }), columns };
  } catch (error) {
    planning.leave(place);
    reportSecondWall(error, query, deps.log);
    throw planFailureOf(error, query);
  }
}

/** Nothing has run, so nothing is charged. */
function planFailureOf(error: unknown, query: SandboxQuery): Error {
  if (error instanceof CallerLeft) return new QueryAbandoned(null);
  if (error instanceof StoppedLate) return new EngineError('unreachable', 'sql-resolve', null, error);
  if (error instanceof EngineError) return explainFailure(error, query.accepted, null);
  return error instanceof Error ? error : new Error(String(error));
}

async function runIn(
  { place, shareBytes, constants }: GivenToRun,
  prepared: PreparedQuery,
  signal: AbortSignal,
  { guest, admission, watchdog, killer, unread, memory, secondsOf, log }: RunDeps,
): Promise<SandboxResult> {
  const { query, text, columns } = prepared;
  const ofTier = query.job?.seconds ?? secondsOf(query.tier);
  const maxSeconds = Math.min(ofTier, query.maxSeconds ?? ofTier);
  const queryId = query.runId === undefined ? randomUUID() : `${query.runId}-${randomUUID()}`;
  // Even if its caller has left by then.
  const onUnstoppable = (): void => admission.punish({ text: query.accepted.text, caller: query.caller });
  const inMemory = memory.held.take();
  const { shares, giveBack } = memory.spare.take(MEMORY_SHARES[query.tier]);
  const memoryBytes = Math.min(
    shareBytes * shares,
    query.accepted.memoryMaxBytes ?? Number.POSITIVE_INFINITY,
  );
  // One thread is stopped sooner than several, and holds one block in memory.
  const isQuick = query.accepted.blockRows >= GUEST_QUARTER_BLOCK_ROWS;
  const threads = isQuick ? threadsWithin(memoryBytes, place.threads) : 1;
  const began = performance.now();
  const { outcome, gone, free, idleMs } = watchdog.watch(
    { queryId, maxMs: maxSeconds * 1_000 + WATCHDOG_GRACE_MS, threads, caller: signal, onUnstoppable },
    async (until) => {
      const asked: GuestQuery = {
        name: 'sql-run',
        text,
        attached: await attachedTables(query.accepted.own),
        parameters: parametersAsSent(query.accepted.parameters, query.parameters),
        maxSeconds,
        queryId,
        ...(query.asOf === undefined ? {} : { asOf: query.asOf }),
        ...(constants === null ? {} : { constants }),
        ...formatOf(query, columns),
        maxRows: query.maxRows,
        heldInMemory: inMemory !== null,
        blockRows: query.accepted.blockRows,
        threads,
        memoryBytes,
        hasLongKeys: query.accepted.hasLongKeys ?? false,
        diskBytes: SQL_DISK_BYTES[query.tier],
      };
      const answer = await guest.query(asked, until);
      const isFile = query.format === 'parquet' || query.format === 'arrow';
      if (!isFile || query.mustBeWhole === true) return { ...answer, hasMore: false };
      return withMore(answer, { guest, asked: { ...asked, text: query.accepted.text }, until });
    },
  );
  // Not when the caller leaves: the place becomes free when the engine has ended the query, or when the wait for that ends.
  void free.then(() => {
    giveBack();
    place.leaveBehind(gone);
  });
  try {
    const result = resultOf(await outcome, place, idleMs());
    unread.watch(query.caller, result.body);
    inMemory?.freeWith(result.body);
    if (query.mustBeWhole === true && result.resultRows >= query.maxRows) {
      result.body.destroy();
      throw tooManyRows(query.maxRows - 1, result);
    }
    return query.format === 'kept' ? { ...result, columns } : result;
  } catch (error) {
    void free.then(inMemory?.free);
    reportSecondWall(error, query, log);
    const spent = { sinceMs: performance.now() - began, idleMs: idleMs() };
    if (await wasCancelled(error, queryId, killer)) throw stopped('cancelled', error, spent);
    throw failureOf(error, prepared, spent);
  }
}

function formatOf(
  { format, csvNull }: SandboxQuery,
  columns: readonly ResultColumn[],
): Pick<GuestQuery, 'format' | 'written'> {
  if (format === 'kept') return { format: keptForm(columns) };
  if (typeof format === 'string') {
    if (csvNull === undefined) return { format: ENGINE_FORMATS[format] };
    return { format: ENGINE_FORMATS[format], written: { settings: csvSettings(csvNull), compression: null } };
  }
  const { name, settings, compression } = format;
  return { format: name, written: { settings, compression } };
}

/** A table has a name once, and a kept result is read as a table. */
function refuseSameNames(columns: readonly ResultColumn[]): void {
  const twice = repeatedName(columns.map(({ name }) => name));
  if (twice === undefined) return;
  throw new QueryFailed({
    reason: 'duplicate_columns',
    detail: `Two columns of the result are named ${twice.slice(0, 100)}, and a result that is kept has a name once.`,
    hint: 'Name them apart with AS.',
    figures: null,
  });
}

export function csvSettings(csvNull: string): { readonly format_csv_null_representation: string } {
  return { format_csv_null_representation: csvNull };
}

/** The work that was done is charged, as for every failure after rows were read. */
function tooManyRows(
  rowsMax: number,
  { engineMs, chargedMs, rowsRead, bytesRead, memoryBytes }: RunFigures,
): QueryFailed {
  return new QueryFailed({
    reason: 'result_size',
    detail: `Limit for result exceeded: it has more than ${rowsMax} rows, and the request does not say that it may be cut.`,
    hint: 'Send `max_rows` (over the ClickHouse interface the setting `limit`, or `result_overflow_mode=break`) where a part suffices, add a LIMIT, aggregate, or choose a `format` with more rows.',
    figures: { engineMs, chargedMs, rowsRead, bytesRead, memoryBytes },
  });
}

function resultOf({ figures, ...answer }: FileResult, place: Place, idleMs: number): SandboxResult {
  return {
    ...answer,
    ...runFigures(figures, idleMs),
    resultRows: figures.resultRows,
    resultBytes: figures.resultBytes,
    queuedMs: place.waitedMs,
  };
}

function runFigures(
  { elapsedMs, readRows, readBytes, memoryBytes }: Omit<QueryFigures, 'resultRows' | 'resultBytes'>,
  idleMs: number,
): RunFigures {
  const chargedMs = Math.max(0, elapsedMs - idleMs);
  return { engineMs: elapsedMs, chargedMs, rowsRead: readRows, bytesRead: readBytes, memoryBytes };
}

/** Of a query that did not end by itself. */
interface Spent {
  readonly sinceMs: number;
  readonly idleMs: number;
}

function failureOf(error: unknown, { query, columns }: PreparedQuery, spent: Spent): Error {
  if (error instanceof CallerLeft) return new QueryAbandoned(Math.max(0, spent.sinceMs - spent.idleMs));
  if (error instanceof StoppedLate) return stoppedFailure(error, spent);
  if (!(error instanceof EngineError)) return error instanceof Error ? error : new Error(String(error));
  const figures = error.figures === null ? null : runFigures(error.figures, spent.idleMs);
  const wide = columns.length === 0 || query.format === 'kept' ? null : tooWideOf(saidBy(error));
  return wide === null
    ? explainFailure(error, query.accepted, figures)
    : wideFailure(wide, columns, { figures, cause: error });
}

function saidBy({ cause }: EngineError): string {
  return cause instanceof Error ? cause.message : '';
}

export function wideFailure(
  { row, column, value }: TooWide,
  columns: readonly ResultColumn[],
  ran: Pick<QueryFailed, 'figures' | 'cause'>,
): QueryFailed {
  const name = columns[column - 1]?.name ?? String(column);
  return new QueryFailed({
    reason: 'value_error',
    detail: `Row ${row} of the result has ${value} in ${name}, which does not fit into the 38 digits of a decimal in Parquet and Arrow.`,
    hint: 'Send `numbers: "text"`, which writes such columns with every digit as texts.',
    ...ran,
  });
}

/** If the engine had to be restarted, the fault is ours, regardless of the query. */
function stoppedFailure({ obeyed, cause }: StoppedLate, spent: Spent): Error {
  return obeyed ? stopped('timeout', cause, spent) : new EngineError('unreachable', 'sql-run', null, cause);
}

const STOPPED = {
  timeout: 'The query did not end in its time and was stopped.',
  cancelled: 'The query was cancelled; the time that it used until then is charged.',
} as const;

function stopped(reason: keyof typeof STOPPED, cause: unknown, { sinceMs, idleMs }: Spent): QueryFailed {
  const unknown = { elapsedMs: sinceMs, readRows: 0, readBytes: 0, memoryBytes: 0 };
  const told = cause instanceof EngineError ? cause.figures : null;
  const figures = runFigures(told ?? unknown, idleMs);
  return new QueryFailed({ reason, detail: STOPPED[reason], figures, cause });
}

const QUERY_WAS_CANCELLED = 394;

/** Ended by a KILL that was not the watchdog's. An engine that goes down ends its queries with the same code, and then does not answer. */
async function wasCancelled(
  error: unknown,
  queryId: string,
  killer: Pick<QueryKiller, 'isRunning'>,
): Promise<boolean> {
  if (!(error instanceof EngineError) || error.engineCode !== QUERY_WAS_CANCELLED) return false;
  return (await killer.isRunning(queryId).catch(() => null)) !== null;
}

/** ACCESS_DENIED and READONLY: an accepted text must never need rights that the guest lacks. An operator must investigate. */
const DENIED: ReadonlySet<number | null> = new Set([497, 164]);

function reportSecondWall(error: unknown, { accepted }: SandboxQuery, log: RunDeps['log']): void {
  if (!(error instanceof EngineError) || !DENIED.has(error.engineCode)) return;
  log.error(
    { err: error, digest: sha256Of(accepted.text) },
    'an accepted text was refused by the engine’s grants',
  );
}
