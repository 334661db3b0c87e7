import type { Readable } from 'node:stream';
import type { AttachedQuestion, AttachedReader } from '../../clickhouse/engine/attached-reader.ts';
import { EngineError } from '../../clickhouse/engine/engine.ts';
import { GUEST_STEP_MEMORY_BYTES } from '../../clickhouse/guest/memory.ts';
import {
  isOwnType,
  OWN_COLUMN_MAX_CHARS,
  OWN_TABLE_BYTES_MAX,
  OWN_TABLE_COLUMNS_MAX,
  OWN_TABLE_ROWS_MAX,
  OWN_TEXT_MAX_BYTES,
  OWN_TYPES_TEXT,
  type OwnColumn,
  plainType,
  type UploadFormat,
} from '../../core/domain/own-table.ts';
import { textBetween } from '../../core/text.ts';
import { cleanWords } from '../judge/engine-words.ts';
import { structureOf } from '../results/kept-form.ts';
import { type ReadTable, type Upload, UploadRefused } from '../sandbox.ts';
import type { Admission } from './admission.ts';

/**
 * Reads a file of rows that a caller sends. The engine gets it as one text of a query's own data and opens it within the query, so that
 * limits of memory, rows and time hold for what a small file unpacks to: data that is sent in its own format is read before they apply.
 * What is kept is what the engine wrote again. As the reader: `format()` with rows needs a right that the guest must not have.
 */

export interface ReadUploadDeps {
  readonly reader: AttachedReader;
  readonly admission: Pick<Admission, 'admit'>;
}

const ENGINE_FORMATS: Readonly<Record<UploadFormat, string>> = {
  csv: 'CSVWithNames',
  ndjson: 'JSONEachRow',
  parquet: 'Parquet',
};
const FILE = '(SELECT body FROM upload)';
/** A file of this size is read in a second; one that takes longer on an idle machine is made to. */
const READ_MAX_SECONDS = 30;
/** Of names and types of as many columns as a table may have. */
const COLUMNS_MAX_BYTES = 64 * 1024;
const READING = {
  max_memory_usage: GUEST_STEP_MEMORY_BYTES,
  max_execution_time: READ_MAX_SECONDS,
  // The file is a row too.
  max_rows_to_read: OWN_TABLE_ROWS_MAX + 1,
  max_result_bytes: 8 * OWN_TABLE_BYTES_MAX,
  result_overflow_mode: 'throw',
  // All rows decide a type, and a NULL in a column without NULL is a fault of its type.
  input_format_max_rows_to_read_for_schema_inference: OWN_TABLE_ROWS_MAX + 1,
  schema_inference_make_columns_nullable: 'auto',
  input_format_null_as_default: 0,
  date_time_input_format: 'best_effort',
  // Otherwise each column of an object is a tuple of its fields.
  input_format_json_try_infer_named_tuples_from_objects: 0,
  input_format_json_read_objects_as_strings: 1,
} as const;

/** Rejects with `UploadRefused`, like `admit` of the admission, or with `EngineError` where the engine is at fault. */
export function createReadUpload({ reader, admission }: ReadUploadDeps) {
  const ask = async (
    question: Pick<AttachedQuestion, 'name' | 'text' | 'table' | 'format'>,
    bytesMax: number,
    signal: AbortSignal,
  ): Promise<Buffer | null> => {
    try {
      const { body } = await reader.read({ ...question, reading: READING }, signal);
      return await bytesUpTo(bytesMax, body);
    } catch (error) {
      throw refusalOf(error);
    }
  };
  const read = async ({ bytes, format, types }: Upload, signal: AbortSignal): Promise<ReadTable> => {
    const table = { name: 'upload', format: 'RawBLOB', structure: 'body String', bytes };
    const name = ENGINE_FORMATS[format];
    const described = { name: 'upload-columns', text: `DESCRIBE TABLE format(${name}, ${FILE})`, table };
    const lines = await ask({ ...described, format: 'JSONCompactEachRow' }, COLUMNS_MAX_BYTES, signal);
    const columns = columnsOf(lines, types);
    const structure = structureOf(columns);
    const text = `SELECT * FROM format(${name}, '${structure.replace(/[\\']/g, '\\$&')}', ${FILE})`;
    const rows = { name: 'upload-rows', text, table, format: 'Native' };
    const native = await ask(rows, OWN_TABLE_BYTES_MAX, signal);
    if (native === null) throw tooLarge();
    return { columns, native, ...(await figures(columns, native, signal)) };
  };
  const figures = async (columns: readonly OwnColumn[], bytes: Buffer, signal: AbortSignal) => {
    const table = { name: 'upload', format: 'Native', structure: structureOf(columns), bytes };
    const texts = columns.filter(({ type }) => plainType(type) === 'String');
    const longest = texts.map(({ name }) => `ifNull(max(length(\`${name}\`)), 0)`);
    const text = `SELECT count(), greatest(0, ${['0', ...longest].join(', ')}) FROM upload`;
    const line = await ask(
      { name: 'upload-figures', text, table, format: 'JSONCompactEachRow' },
      100,
      signal,
    );
    const [rows, textBytes] = (JSON.parse(String(line)) as unknown[]).map(Number); // the engine's own line
    if (rows === undefined || textBytes === undefined) throw new Error('a table without figures');
    if (rows > OWN_TABLE_ROWS_MAX) throw tooManyRows();
    if (textBytes > OWN_TEXT_MAX_BYTES)
      throw new UploadRefused(
        `A text in it has ${textBytes} bytes; the longest may have ${OWN_TEXT_MAX_BYTES}.`,
      );
    return { rows, textBytes };
  };
  return (upload: Upload, signal: AbortSignal): Promise<ReadTable> =>
    // In the place of estimates, which are free as well.
    admission.admit({ caller: upload.caller, text: '', load: 'plan' }, signal, async (place) => {
      try {
        return await read(upload, signal);
      } finally {
        place.leave();
      }
    });
}

/** Null where there are more. */
async function bytesUpTo(max: number, body: Readable): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > max) return null; // ends the stream
  }
  return Buffer.concat(chunks);
}

/** The columns as they are kept. `lines`: of DESCRIBE; null where they are too many. */
function columnsOf(lines: Buffer | null, types: ReadonlyMap<string, string>): OwnColumn[] {
  const found = lines === null ? [] : String(lines).trimEnd().split('\n').map(readColumn);
  if (lines === null || found.length > OWN_TABLE_COLUMNS_MAX)
    throw new UploadRefused(`It has more than ${OWN_TABLE_COLUMNS_MAX} columns.`);
  const unknown = [...types.keys()].find((name) => !found.some((column) => column.name === name));
  if (unknown !== undefined)
    throw new UploadRefused(`types names ${unknown}, and there is no such column: ${listed(found)}.`);
  return found.map(({ name, type }) => {
    if (!COLUMN_NAME.test(name) || [...name].length > OWN_COLUMN_MAX_CHARS)
      throw new UploadRefused(
        `A column cannot be named ${JSON.stringify(name.slice(0, 80))}: names have up to ${OWN_COLUMN_MAX_CHARS} letters and digits of any script, _, - and spaces, and begin with a letter or a digit.`,
      );
    const own = types.get(name) ?? type;
    if (isOwnType(own)) return { name, type: own };
    throw new UploadRefused(
      `The column ${name} is of the type ${own.slice(0, 80)}. Give it another one in types, such as ${name}:String; there are ${OWN_TYPES_TEXT}.`,
    );
  });
}

const COLUMN_NAME = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}_ -]*$/u;

function readColumn(line: string): OwnColumn {
  const [name, type] = JSON.parse(line) as readonly unknown[]; // a row of DESCRIBE
  const plain = String(type)
    .replace(/^LowCardinality\(([\s\S]*)\)$/, '$1')
    .replace(/DateTime\('[^']*'\)/, 'DateTime')
    .replace(/(DateTime64\(\d), ?'[^']*'\)/, '$1)');
  return { name: String(name), type: plain };
}

function listed(columns: readonly OwnColumn[]): string {
  return columns
    .map(({ name }) => name)
    .join(', ')
    .slice(0, 500);
}

/** TOO_MANY_ROWS_OR_BYTES: of the result. */
const RESULT_TOO_LARGE = 396;
/** ACCESS_DENIED and READONLY: no file needs more rights than another. */
const OUR_FAULT: ReadonlySet<number | null> = new Set([164, 497]);

function refusalOf(error: unknown): unknown {
  if (!(error instanceof EngineError)) return error;
  const said = error.cause instanceof Error ? error.cause.message : '';
  if (error.problem === 'too_many_rows') return tooManyRows();
  if (error.engineCode === RESULT_TOO_LARGE) return tooLarge();
  if (error.problem === 'timeout' && error.engineCode !== null)
    return new UploadRefused(`It takes longer than ${READ_MAX_SECONDS} seconds to read.`, error);
  if (error.problem === 'memory' && /query memory limit|for query/i.test(said))
    return new UploadRefused(`It takes more memory to read than ${GUEST_STEP_MEMORY_BYTES / 1e6} MB.`, error);
  if (error.problem !== 'engine_refused') return error;
  if (OUR_FAULT.has(error.engineCode)) return new EngineError('unreachable', error.statement, null, error);
  return new UploadRefused(`It cannot be read: ${faultIn(said)}`, error);
}

/** The engine's words about a value and its row, or about the whole. */
function faultIn(said: string): string {
  const line = said.split('\n').find((one) => one.includes(FAULT)) ?? '';
  const column = textBetween(line, 'name: ', ',');
  if (column !== undefined) {
    const row = /\(at row (\d{1,9})\)/.exec(said)?.[1];
    const fault = line.slice(line.indexOf(FAULT) + FAULT.length, FAULT_MAX_CHARS);
    return `${row === undefined ? '' : `row ${row}, `}column ${column}: ${fault}. Another type can be given in types.`;
  }
  // What the engine says of the file stands in what it says of the question about it.
  const words = cleanWords(said.split('DB::Exception: ').at(-1) ?? said);
  return words ?? 'it is not a file of its format, or a value does not fit the type of its column.';
}

const FAULT = 'ERROR: ';
/** Of a line, which quotes a value. */
const FAULT_MAX_CHARS = 300;

function tooManyRows(): UploadRefused {
  return new UploadRefused(`It has more than ${OWN_TABLE_ROWS_MAX} rows.`);
}

function tooLarge(): UploadRefused {
  return new UploadRefused(`Its rows are more than ${OWN_TABLE_BYTES_MAX / 1e6} MB as they are kept.`);
}
