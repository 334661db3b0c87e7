import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import type { AttachedReader } from '../../clickhouse/engine/attached-reader.ts';
import { EngineError } from '../../clickhouse/engine/engine.ts';
import type { Clock } from '../../core/clock.ts';
import { RESULT_KEPT_MS } from '../../core/domain/job.ts';
import { fail } from '../../core/errors.ts';
import { sha256Of } from '../../core/text.ts';
import type { ResultColumn } from '../../sandbox/results/column-type.ts';
import { type KeptForm, keptForm, structureOf } from '../../sandbox/results/kept-form.ts';
import { readAhead } from '../../sandbox/results/read-ahead.ts';
import { exportText, tooWideOf } from '../../sandbox/run/export-text.ts';
import { csvSettings, ENGINE_FORMATS, wideFailure } from '../../sandbox/run/run-query.ts';
import {
  type NumberForm,
  QueryFailed,
  type ResultFormat,
  type RunFigures,
  type SandboxResult,
} from '../../sandbox/sandbox.ts';
import type { ResultRecord } from '../accounts/result-store.ts';
import type { ControlStore } from '../accounts/store.ts';
import { askStore } from '../accounts/store-failure.ts';
import { inPieces, type Piece, partOf, TABLE } from './pieces.ts';
import { askFiles, type FilePart, type ResultFiles, ResultFilesUnavailable } from './result-files.ts';
import { createRoom, ownerIdOf, type Room, type RoomLimits, type RoomOwner, storageOf } from './room.ts';

/** Results that are kept: stored once, and written in any format as often as they are asked for. */
export interface Results {
  /**
   * Stores a result of the sandbox (format `kept`), then lists it: it is whole, or absent. Where there is no room for it, it can be read
   * from the value given back and from nowhere else (`isKept` false). Rejects with a `Failure` or `QueryFailed`.
   */
  keep(result: SandboxResult, run: KeptRun): Promise<KeptResult>;
  find(id: string): Promise<KeptResult | null>;
  /** Whether the organization paid for it or was answered with it before. */
  mayRead(result: KeptResult, organizationId: string): Promise<boolean>;
  /** Lets an organization read it; false where it may already. */
  allow(result: KeptResult, organizationId: string): Promise<boolean>;
  /** The newest of a query that has all the rows that are asked for and is at most so old, cut at these; null without one. */
  recent(question: {
    readonly queryKey: string;
    readonly maxRows: number;
    readonly maxAgeMs: number;
  }): Promise<KeptResult | null>;
  /** Writes it again as a run of its query would have given it. Rejects with a `Failure` or `QueryFailed`. */
  read(result: KeptResult, form: ReadForm, signal?: AbortSignal): Promise<SandboxResult>;
  /** Removes what has expired, and files that no result names. Says how many. */
  sweep(): Promise<number>;
}

/** A run whose result is kept. */
export interface KeptRun {
  readonly queryKey: string;
  /** What the query read: the result of another version has another name. */
  readonly dataVersion: string;
  readonly owner: RoomOwner;
  /** It is read later, by its id alone: without room for it `keep` rejects. */
  readonly mustKeep: boolean;
  readonly startedAtMs: number;
  /** Rows that the result may have; the engine gave one more where there are more. */
  readonly maxRows: number;
  /** For answers, which repeat it. */
  readonly facts: RunFacts;
}

export interface RunFacts {
  readonly tier: string;
  readonly sql: string;
  readonly warnings: readonly unknown[];
  readonly meta: unknown;
}

export interface KeptResult extends RunFigures {
  readonly id: string;
  readonly isKept: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly bytes: number;
  readonly form: KeptForm;
  /** Where its rows lie in the file; absent of one that is read whole. */
  readonly pieces?: readonly Piece[];
  readonly columns: readonly ResultColumn[];
  readonly rows: number;
  /** Hash of the stored bytes, SHA-256 in hex. Absent of a result that a release before this one kept. */
  readonly sha256?: string;
  readonly maxRows: number;
  /** There were more rows than `maxRows`; one of them is stored. */
  readonly hasMore: boolean;
  readonly run: RunFacts;
}

export interface ReadForm {
  readonly format: ResultFormat;
  readonly maxRows: number;
  readonly numbers: NumberForm;
  /** Of CSV: how NULL is written. */
  readonly csvNull?: string;
  /** Rows that are left out at the beginning. */
  readonly offset?: number;
}

export interface ResultsDeps {
  readonly store: Pick<ControlStore, 'results'>;
  readonly files: ResultFiles;
  readonly reader: AttachedReader;
  readonly clock: Clock;
  readonly limits: RoomLimits;
}

/** Parts of files that were read last. As much again of answers that were written from them. docs/scale.md states both. */
export const RESULTS_REMEMBERED_BYTES = 64 * 1024 * 1024;
/** Of one result as the engine wrote it: larger ones are written for each reader. */
export const RESULT_ANSWER_REMEMBERED_BYTES = 1024 * 1024;
/** Of one result as it is stored: it is held in memory while it is stored and while it is read. */
const KEPT_MAX_BYTES = 64 * 1024 * 1024;
/** Of its columns in the engine's memory: equal values take next to nothing in the file, and all of their bytes in each answer from it. */
const KEPT_COLUMNS_MAX_BYTES = 1024 * 1024 * 1024;
/** Of an entry besides its bytes, roughly. */
const ENTRY_BYTES = 500;
/** Records that were read last. They never change. */
const REMEMBERED_RECORDS = 1_000;
const SWEPT_MAX = 200;
/** Space comes back when results expire or are removed, once a minute. */
const NO_ROOM_RETRY_AFTER_SECONDS = 60;
/** A file is listed within seconds of its writing; one that is not listed by then was left behind. */
const UNLISTED_MAX_MS = RESULT_KEPT_MS + 86_400_000;

/** Names the query of an accepted text: the same name for every caller. `asOf`: the snapshot that it was asked for. */
export function queryKeyOf(
  text: string,
  parameters: Readonly<Record<string, string>>,
  asOf: string | null = null,
): string {
  const sorted = Object.entries(parameters).sort(([a], [b]) => Number(a > b) - Number(a < b));
  return sha256Of(JSON.stringify(asOf === null ? [text, sorted] : [text, sorted, asOf]));
}

export function createResults(deps: ResultsDeps): Results {
  const { store, clock } = deps;
  const room = createRoom(deps.files, deps.limits);
  /** Of results that are not kept, as long as anything refers to them. */
  const unkept = new WeakMap<KeptResult, Buffer>();
  const remembered = rememberedFiles(deps.files);
  const bytesOf: BytesOf = async (kept, part) => {
    const bytes = unkept.get(kept);
    if (bytes === undefined) return remembered(kept.id, part);
    return part === undefined ? bytes : bytes.subarray(part.from, part.to);
  };
  const written = rememberedAnswers();
  const records = new LRUCache<string, KeptResult>({ max: REMEMBERED_RECORDS });
  const remember = (record: ResultRecord): KeptResult => {
    const known = records.get(record.id) ?? keptOf(record);
    records.set(record.id, known);
    return known;
  };
  return {
    keep: async (result, run) => {
      const { record, bytes } = await recordOf(deps, result, run);
      if (await stored(deps, room, { record, bytes }, run)) {
        await removeBeyond(deps, run.owner);
        return remember(record);
      }
      const kept = { ...keptOf(record), isKept: false };
      unkept.set(kept, bytes);
      return kept;
    },
    find: async (id) => {
      const record = await askStore(store.results.find({ id, nowMs: clock.nowMs() }));
      return record === null ? null : remember(record);
    },
    mayRead: ({ id }, organizationId) => askStore(store.results.mayRead({ id, organizationId })),
    allow: ({ id }, organizationId) => askStore(store.results.allow({ id, organizationId })),
    recent: async ({ queryKey, maxRows, maxAgeMs }) => {
      const nowMs = clock.nowMs();
      const record = await askStore(
        store.results.newest({ queryKey, createdFromMs: nowMs - maxAgeMs, nowMs }),
      );
      if (record === null) return null;
      const kept = remember(record);
      return !kept.hasMore || kept.maxRows >= maxRows ? cutAt(kept, maxRows) : null;
    },
    read: (kept, form, signal) => readKept({ reader: deps.reader, bytesOf, written }, { kept, form, signal }),
    sweep: async () => {
      const removed = await sweep(deps);
      room.forget();
      return removed;
    },
  };
}

interface Recorded {
  readonly record: ResultRecord;
  readonly bytes: Buffer;
}

async function recordOf({ reader }: ResultsDeps, result: SandboxResult, run: KeptRun): Promise<Recorded> {
  const { columns } = result;
  if (columns === undefined) throw new Error('a result that is to be kept without its columns');
  const written = {
    form: keptForm(columns),
    columns,
    rows: result.resultRows,
    bytes: await storableBytes(result),
  };
  const { form, bytes, pieces } = await inPieces(written, reader);
  const sha256 = sha256Of(bytes);
  const facts: StoredFacts = {
    form,
    ...(pieces === undefined ? {} : { pieces }),
    columns,
    rows: Math.min(result.resultRows, run.maxRows),
    sha256,
    maxRows: run.maxRows,
    hasMore: result.resultRows > run.maxRows,
    engineMs: result.engineMs,
    chargedMs: result.chargedMs,
    rowsRead: result.rowsRead,
    bytesRead: result.bytesRead,
    memoryBytes: result.memoryBytes,
    run: run.facts,
  };
  const record: ResultRecord = {
    // Equal bytes of other bounds are another result: one of ten rows that are all is not the first ten of more.
    id: sha256Of(JSON.stringify([run.queryKey, run.dataVersion, run.maxRows, sha256])),
    queryKey: run.queryKey,
    organizationId: ownerIdOf(run.owner),
    createdAtMs: run.startedAtMs,
    expiresAtMs: run.startedAtMs + RESULT_KEPT_MS,
    bytes: bytes.length,
    facts: JSON.stringify(facts),
  };
  return { record, bytes };
}

/** False where there is no room. The file first: a listed result is whole. */
async function stored(
  { store, files }: ResultsDeps,
  room: Room,
  { record, bytes }: Recorded,
  { owner, mustKeep }: KeptRun,
): Promise<boolean> {
  const written = (await room.has(bytes.length, owner)) && (await writtenWhole(files, record.id, bytes));
  if (written) await askStore(store.results.add(record));
  else if (mustKeep)
    throw fail('upstream_unavailable', {
      detail: 'There is no room for the result of this query. Nothing was charged.',
      resource: 'results',
      retryAfterSeconds: NO_ROOM_RETRY_AFTER_SECONDS,
    });
  return written;
}

async function storableBytes(result: SandboxResult): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  if ((result.resultBytes ?? 0) > KEPT_COLUMNS_MAX_BYTES) throw tooLargeToKeep(result);
  for await (const chunk of result.body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > KEPT_MAX_BYTES) throw tooLargeToKeep(result);
  }
  return Buffer.concat(chunks);
}

function tooLargeToKeep({ body, ...figures }: SandboxResult): QueryFailed {
  body.destroy();
  return new QueryFailed({
    reason: 'result_size',
    detail: `The result is larger than the ${KEPT_MAX_BYTES / 1024 / 1024} MiB that are kept of one.`,
    hint: 'Select fewer columns or rows, or run it without `max_age` and `wait_seconds` for a file of up to 1 GiB.',
    figures,
  });
}

/** A result with more rows than are asked for, as a run for these would have given it. */
function cutAt(kept: KeptResult, maxRows: number): KeptResult {
  return kept.rows <= maxRows ? kept : { ...kept, rows: maxRows, maxRows, hasMore: true };
}

/** The disk may fill up between the look at it and the write. */
async function writtenWhole(files: ResultFiles, id: string, bytes: Buffer): Promise<boolean> {
  try {
    await files.write(id, bytes);
    return true;
  } catch (error) {
    if (error instanceof ResultFilesUnavailable && error.isFull) return false;
    return askFiles(Promise.reject(error));
  }
}

type StoredFacts = Omit<KeptResult, 'id' | 'isKept' | 'createdAtMs' | 'expiresAtMs' | 'bytes'>;

function keptOf({ id, createdAtMs, expiresAtMs, bytes, facts }: ResultRecord): KeptResult {
  // Written by `recordOf`.
  const told = JSON.parse(facts) as StoredFacts;
  // A result that a release before this one kept was charged for all of its time.
  return {
    ...told,
    chargedMs: told.chargedMs ?? told.engineMs,
    id,
    isKept: true,
    createdAtMs,
    expiresAtMs,
    bytes,
  };
}

/** The oldest results of an owner make room for its new ones. */
async function removeBeyond(deps: ResultsDeps, owner: RoomOwner): Promise<void> {
  const { results, resultBytes } = storageOf(owner);
  const listed = await askStore(
    deps.store.results.paidBy({ organizationId: ownerIdOf(owner), limit: results + SWEPT_MAX }),
  );
  let bytes = 0;
  for (const [at, record] of listed.entries()) {
    bytes += record.bytes;
    // The newest one stays, whatever its size.
    if (at > 0 && (at >= results || bytes > resultBytes)) await removeResult(deps, record.id);
  }
}

/** The record first: a listed result has its file. */
async function removeResult({ store, files }: ResultsDeps, id: string): Promise<void> {
  await askStore(store.results.remove(id));
  await askFiles(files.remove(id));
}

async function sweep(deps: ResultsDeps): Promise<number> {
  const nowMs = deps.clock.nowMs();
  const expired = await deps.store.results.expired({ nowMs, limit: SWEPT_MAX });
  for (const { id } of expired) await removeResult(deps, id);
  const left = await deps.files.writtenUntil({ atMs: nowMs - UNLISTED_MAX_MS, limit: SWEPT_MAX });
  for (const name of left) await deps.files.remove(name);
  return expired.length + left.length;
}

type BytesOf = (kept: KeptResult, part: FilePart | undefined) => Promise<Buffer>;

function rememberedFiles(files: ResultFiles): (id: string, part: FilePart | undefined) => Promise<Buffer> {
  const remembered = new LRUCache<string, Buffer>({
    maxSize: RESULTS_REMEMBERED_BYTES,
    sizeCalculation: (bytes) => bytes.length + 1,
  });
  return async (id, part) => {
    const name = part === undefined ? id : `${id} ${part.from} ${part.to}`;
    const known = remembered.get(name);
    if (known !== undefined) return known;
    const bytes: Buffer | null = await askFiles(files.read(id, part));
    if (bytes === null)
      throw fail('result_not_found', { detail: 'The file of this result is gone: run the query again.' });
    remembered.set(name, bytes);
    return bytes;
  };
}

/** Small results as the engine wrote them, by result and form: those that are asked for often are not written anew. */
function rememberedAnswers(): LRUCache<string, Buffer> {
  return new LRUCache<string, Buffer>({
    maxSize: RESULTS_REMEMBERED_BYTES,
    sizeCalculation: (bytes) => bytes.length + ENTRY_BYTES,
  });
}

interface ReadTools {
  readonly reader: AttachedReader;
  readonly bytesOf: BytesOf;
  readonly written: LRUCache<string, Buffer>;
}

async function readKept(
  tools: ReadTools,
  {
    kept,
    form,
    signal,
  }: { readonly kept: KeptResult; readonly form: ReadForm; readonly signal: AbortSignal | undefined },
): Promise<SandboxResult> {
  const { offset = 0 } = form;
  const stored = kept.rows + (kept.hasMore ? 1 : 0);
  const rows = Math.max(0, Math.min(form.maxRows, stored - offset));
  const { engineMs, chargedMs, rowsRead, bytesRead, memoryBytes } = kept;
  return {
    engineMs,
    chargedMs,
    rowsRead,
    bytesRead,
    memoryBytes,
    resultRows: rows,
    hasMore: offset + rows < stored,
    queuedMs: 0,
    body: await bodyOf(tools, kept, { ...form, offset, rows }, signal),
  };
}

interface WrittenForm extends Pick<ReadForm, 'format' | 'numbers' | 'csvNull'> {
  readonly offset: number;
  readonly rows: number;
}

/** From memory where it is there; otherwise written by the engine, and remembered where it is small. */
async function bodyOf(
  { reader, bytesOf, written }: ReadTools,
  kept: KeptResult,
  { format, numbers, csvNull, offset, rows }: WrittenForm,
  signal: AbortSignal | undefined,
): Promise<Readable> {
  const { id, columns, form, pieces } = kept;
  const name = JSON.stringify([id, format, numbers, csvNull ?? null, offset, rows]);
  const known = written.get(name);
  if (known !== undefined) return Readable.from([known], { objectMode: false });
  const { part, offset: skipped } =
    pieces === undefined ? { part: undefined, offset } : partOf(pieces, { offset, rows });
  const text = `SELECT * FROM ${TABLE} LIMIT ${rows} OFFSET ${skipped}`;
  const isFile = format === 'parquet' || format === 'arrow';
  const bytes = await bytesOf(kept, part);
  try {
    const { body } = await reader.read(
      {
        name: 'kept-result',
        text: isFile ? exportText(text, columns, { format, numbers }) : text,
        table: { name: TABLE, format: form, structure: structureOf(columns), bytes },
        format: ENGINE_FORMATS[format],
        ...(csvNull === undefined ? {} : { written: csvSettings(csvNull) }),
      },
      signal,
    );
    const ahead = await readAhead(body, RESULT_ANSWER_REMEMBERED_BYTES);
    if (!ahead.isWhole) {
      const rest = Readable.from(ahead.all(), { objectMode: false });
      // A caller that leaves before it reads must not keep the engine's answer open.
      return rest.once('close', () => body.destroy());
    }
    const whole = Buffer.concat(ahead.begun);
    written.set(name, whole);
    return Readable.from([whole], { objectMode: false });
  } catch (error) {
    throw readFailure(error, columns);
  }
}

function readFailure(error: unknown, columns: readonly ResultColumn[]): unknown {
  if (!(error instanceof EngineError)) return error;
  const wide = error.cause instanceof Error ? tooWideOf(error.cause.message) : null;
  return wide === null ? error : wideFailure(wide, columns, { figures: null, cause: error });
}
