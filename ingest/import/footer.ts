import { type FileHandle, open } from 'node:fs/promises';
import { type ColumnMetaData, parquetMetadata, parquetSchema, type SchemaTree } from 'hyparquet';
import { ImportProblem } from './problem.ts';

/**
 * What a Parquet file says about itself at its end: columns, rows, the range of block numbers. Reading it in JavaScript lets an
 * import plan, refuse and report its ranges before any data is sent to the engine.
 */

/** `timestamp` is an instant with a unit of its own; an `integer` column of times holds Unix seconds. */
export type ColumnKind = 'integer' | 'bytes' | 'timestamp' | 'list' | 'other';

export interface ParquetFooter {
  readonly rows: number;
  /** Top-level columns by name. */
  readonly columns: ReadonlyMap<string, ColumnKind>;
  /** Smallest and largest value of an integer column, by its name; absent where the writer kept no statistics. */
  readonly ranges: ReadonlyMap<string, ValueRange>;
}

interface ValueRange {
  readonly min: number;
  readonly max: number;
}

const MAGIC = 'PAR1';
/** Length of the footer and the magic. */
const TAIL_BYTES = 8;
const FOOTER_MAX_BYTES = 256 * 1024 * 1024;
/**
 * hyparquet reads a variable-length number for as long as its bytes say that more follow, in time that grows with the square of
 * their count. Real numbers take ten bytes; writers cut the statistics of binary columns at 4,096.
 */
const CONTINUATIONS_MAX = 8_192;
const CONTINUATION_BIT = 0x80;

const TIMESTAMPS: readonly unknown[] = ['TIMESTAMP_MILLIS', 'TIMESTAMP_MICROS'];
/** Integers of another meaning. */
const OTHER_INTEGERS: readonly unknown[] = ['DECIMAL', 'DATE', 'TIME_MILLIS', 'TIME_MICROS'];

/** Throws `ImportProblem` where the file is not Parquet. */
export async function readParquetFooter(path: string): Promise<ParquetFooter> {
  const file = await open(path).catch((error: unknown) => {
    throw new ImportProblem([`${path} cannot be opened: ${messageOf(error)}`]);
  });
  try {
    return readFooter(await footerBytes(file));
  } catch (error) {
    throw new ImportProblem([`${path} is not a Parquet file that can be read: ${messageOf(error)}`]);
  } finally {
    await file.close();
  }
}

/** The footer with the eight bytes behind it. */
async function footerBytes(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat();
  if (size < TAIL_BYTES) throw new RangeError('it is too short');
  const tail = await readAt(file, size - TAIL_BYTES, TAIL_BYTES);
  if (tail.toString('latin1', 4) !== MAGIC) throw new RangeError('it does not end as one');
  const length = tail.readUInt32LE(0);
  if (length > Math.min(FOOTER_MAX_BYTES, size - TAIL_BYTES)) throw new RangeError('its footer is cut');
  const bytes = await readAt(file, size - TAIL_BYTES - length, length + TAIL_BYTES);
  refuseEndlessNumbers(bytes);
  return bytes;
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead !== length) throw new RangeError('it changed while it was read');
  return buffer;
}

function refuseEndlessNumbers(bytes: Buffer): void {
  let run = 0;
  for (const byte of bytes) {
    run = byte >= CONTINUATION_BIT ? run + 1 : 0;
    if (run > CONTINUATIONS_MAX) throw new RangeError('a number in its footer does not end');
  }
}

function readFooter(bytes: Buffer): ParquetFooter {
  const metadata = parquetMetadata(bytes, { geoparquet: false });
  const columns = new Map(
    parquetSchema(metadata).children.map((column) => [column.element.name, kindOf(column)] as const),
  );
  const ranges = new Map<string, ValueRange>();
  const unknown = new Set<string>();
  for (const { meta_data: chunk } of metadata.row_groups.flatMap((group) => group.columns)) {
    if (chunk === undefined) throw new RangeError('its footer does not describe every column');
    const [name, ...deeper] = chunk.path_in_schema;
    if (name === undefined || deeper.length > 0 || columns.get(name) !== 'integer') continue;
    const found = rangeOf(chunk);
    if (found === null) unknown.add(name);
    else ranges.set(name, widened(ranges.get(name), found));
  }
  for (const name of unknown) ranges.delete(name);
  return { rows: Number(metadata.num_rows), columns, ranges };
}

function kindOf({ element, children }: SchemaTree): ColumnKind {
  const { type, converted_type, logical_type } = element;
  if (children.length > 0)
    return converted_type === 'LIST' || logical_type?.type === 'LIST' ? 'list' : 'other';
  if (element.repetition_type === 'REPEATED') return 'list';
  switch (type) {
    case 'INT96':
      return 'timestamp';
    case 'INT32':
    case 'INT64':
      if (TIMESTAMPS.includes(converted_type) || logical_type?.type === 'TIMESTAMP') return 'timestamp';
      return OTHER_INTEGERS.includes(converted_type) ? 'other' : 'integer';
    case 'BYTE_ARRAY':
    case 'FIXED_LEN_BYTE_ARRAY':
      return 'bytes';
    default:
      return 'other';
  }
}

function rangeOf({ statistics }: ColumnMetaData): ValueRange | null {
  const min = integerOf(statistics?.min_value ?? statistics?.min);
  const max = integerOf(statistics?.max_value ?? statistics?.max);
  return min === null || max === null ? null : { min, max };
}

function integerOf(value: unknown): number | null {
  return typeof value === 'number' || typeof value === 'bigint' ? Number(value) : null;
}

function widened(known: ValueRange | undefined, found: ValueRange): ValueRange {
  if (known === undefined) return found;
  return { min: Math.min(found.min, known.min), max: Math.max(found.max, known.max) };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
