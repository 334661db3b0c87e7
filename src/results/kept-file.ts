import { Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import type { AttachedReader } from '../../clickhouse/engine/attached-reader.ts';
import { EngineError } from '../../clickhouse/engine/engine.ts';
import { fail } from '../../core/errors.ts';
import type { ResultColumn } from '../../sandbox/results/column-type.ts';
import { type KeptForm, structureOf } from '../../sandbox/results/kept-form.ts';
import { readAhead } from '../../sandbox/results/read-ahead.ts';
import { exportText, tooWideOf } from '../../sandbox/run/export-text.ts';
import { csvSettings, ENGINE_FORMATS, wideFailure } from '../../sandbox/run/run-query.ts';
import type { NumberForm, ResultFormat, RunFigures, SandboxResult } from '../../sandbox/sandbox.ts';
import { type Piece, partOf, TABLE } from './pieces.ts';
import { askFiles, type FilePart, type ResultFiles } from './result-files.ts';

/** The file of a kept result: what is known of it, and how it is written again in any format. */
export interface KeptFile extends RunFigures {
  readonly id: string;
  readonly form: KeptForm;
  /** Where its rows lie in the file; absent of one that is read whole. */
  readonly pieces?: readonly Piece[];
  readonly columns: readonly ResultColumn[];
  readonly rows: number;
  /** There were more rows than the result may have; one of them is stored. */
  readonly hasMore: boolean;
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

/** Parts of files that were read last. As much again of answers that were written from them. docs/scale.md states both. */
export const RESULTS_REMEMBERED_BYTES = 64 * 1024 * 1024;
/** Of one result as the engine wrote it: larger ones are written for each reader. */
export const RESULT_ANSWER_REMEMBERED_BYTES = 1024 * 1024;
/** Of an entry besides its bytes, roughly. */
const ENTRY_BYTES = 500;

interface FileReaderDeps {
  readonly files: ResultFiles;
  readonly reader: AttachedReader;
  /** The bytes of results without a file. */
  readonly unkept: WeakMap<KeptFile, Buffer>;
}

/** Writes a result again as a run of its query would have given it. Rejects with a `Failure` or `QueryFailed`. */
export function createFileReader({
  files,
  reader,
  unkept,
}: FileReaderDeps): (kept: KeptFile, form: ReadForm, signal?: AbortSignal) => Promise<SandboxResult> {
  const remembered = rememberedFiles(files);
  const bytesOf: BytesOf = async (kept, part) => {
    const bytes = unkept.get(kept);
    if (bytes === undefined) return remembered(kept.id, part);
    return part === undefined ? bytes : bytes.subarray(part.from, part.to);
  };
  const written = rememberedAnswers();
  return (kept, form, signal) => readKept({ reader, bytesOf, written }, kept, form, signal);
}

type BytesOf = (kept: KeptFile, part: FilePart | undefined) => Promise<Buffer>;

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
  kept: KeptFile,
  form: ReadForm,
  signal: AbortSignal | undefined,
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
  kept: KeptFile,
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
