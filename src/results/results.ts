import { LRUCache } from 'lru-cache';
import type { AttachedReader } from '../../clickhouse/engine/attached-reader.ts';
import type { Clock } from '../../core/clock.ts';
import { RESULT_KEPT_MS } from '../../core/domain/job.ts';
import { fail } from '../../core/errors.ts';
import { sha256Of } from '../../core/text.ts';
import { keptForm } from '../../sandbox/results/kept-form.ts';
import { QueryFailed, type SandboxResult } from '../../sandbox/sandbox.ts';
import type { ResultRecord } from '../accounts/result-store.ts';
import type { ControlStore } from '../accounts/store.ts';
import { askStore } from '../accounts/store-failure.ts';
import { createFileReader, type KeptFile, type ReadForm } from './kept-file.ts';
import { inPieces } from './pieces.ts';
import { askFiles, type ResultFiles, ResultFilesUnavailable } from './result-files.ts';
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

export interface KeptResult extends KeptFile {
  readonly isKept: boolean;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  readonly bytes: number;
  /** Hash of the stored bytes, SHA-256 in hex. Absent of a result that a release before this one kept. */
  readonly sha256?: string;
  readonly maxRows: number;
  readonly run: RunFacts;
}

export interface ResultsDeps {
  readonly store: Pick<ControlStore, 'results'>;
  readonly files: ResultFiles;
  readonly reader: AttachedReader;
  readonly clock: Clock;
  readonly limits: RoomLimits;
}

/** Of one result as it is stored: it is held in memory while it is stored and while it is read. */
const KEPT_MAX_BYTES = 64 * 1024 * 1024;
/** Of its columns in the engine's memory: equal values take next to nothing in the file, and all of their bytes in each answer from it. */
const KEPT_COLUMNS_MAX_BYTES = 1024 * 1024 * 1024;
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
  const unkept = new WeakMap<KeptFile, Buffer>();
  const read = createFileReader({ ...deps, unkept });
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
    read,
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
