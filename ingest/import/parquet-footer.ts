import { type FileHandle, open } from 'node:fs/promises';
import { importProblems } from './problem.ts';
import { readThriftStruct, type ThriftStruct, type ThriftValue } from './thrift-compact.ts';

/**
 * What a Parquet file says about itself at its end: columns, rows, the range of block numbers. Reading it in JavaScript lets an
 * import plan, refuse and tell its ranges before a byte of data is sent anywhere. Source: parquet.thrift of apache/parquet-format.
 */

/** `timestamp` is an instant with a unit of its own; an `integer` column of times holds Unix seconds. */
export type ColumnKind = 'integer' | 'bytes' | 'timestamp' | 'list' | 'other';

export interface ParquetFooter {
  readonly rows: number;
  /** Top-level columns by name. */
  readonly columns: ReadonlyMap<string, ColumnKind>;
  /** Smallest and largest value of an integer column, by its name; absent where the writer kept no statistics. */
  readonly ranges: ReadonlyMap<string, { readonly min: number; readonly max: number }>;
}

const MAGIC = 'PAR1';
/** Length of the footer and the magic. */
const TAIL_BYTES = 8;
const FOOTER_MAX_BYTES = 256 * 1024 * 1024;

/** Field ids of parquet.thrift. */
const FILE = { schema: 2, rows: 3, rowGroups: 4 } as const;
const ELEMENT = { type: 1, repetition: 3, name: 4, children: 5, converted: 6, logical: 10 } as const;
const GROUP = { columns: 1 } as const;
const CHUNK = { meta: 3 } as const;
const META = { type: 1, path: 3, statistics: 12 } as const;
const STATISTICS = { maxOld: 1, minOld: 2, max: 5, min: 6 } as const;
const PHYSICAL = { int32: 1, int64: 2, int96: 3, bytes: 6, fixedBytes: 7 } as const;
const LOGICAL_TIMESTAMP = 8;
const CONVERTED_TIMESTAMPS = [9, 10];
/** Decimals, dates and times of day are integers of another meaning. */
const CONVERTED_OTHER = [5, 6, 7, 8];
const REPEATED = 2;

/** Throws `UserError` where the file is not Parquet. */
export async function readParquetFooter(path: string): Promise<ParquetFooter> {
  const file = await open(path).catch((error: unknown) => {
    throw importProblems([`${path} cannot be opened: ${messageOf(error)}`]);
  });
  try {
    return footerOf(readThriftStruct(await footerBytes(file)));
  } catch (error) {
    throw importProblems([`${path} is not a Parquet file that can be read: ${messageOf(error)}`]);
  } finally {
    await file.close();
  }
}

async function footerBytes(file: FileHandle): Promise<Buffer> {
  const { size } = await file.stat();
  if (size < TAIL_BYTES) throw new RangeError('it is too short');
  const tail = await readAt(file, size - TAIL_BYTES, TAIL_BYTES);
  if (tail.toString('latin1', 4) !== MAGIC) throw new RangeError('it does not end as one');
  const length = tail.readUInt32LE(0);
  if (length > Math.min(FOOTER_MAX_BYTES, size - TAIL_BYTES)) throw new RangeError('its footer is cut');
  return readAt(file, size - TAIL_BYTES - length, length);
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead !== length) throw new RangeError('it changed while it was read');
  return buffer;
}

function footerOf(footer: ThriftStruct): ParquetFooter {
  const columns = columnsOf(structs(footer.get(FILE.schema)));
  const ranges = new Map<string, { min: number; max: number }>();
  const unknown = new Set<string>();
  for (const group of structs(footer.get(FILE.rowGroups))) {
    for (const chunk of structs(group.get(GROUP.columns))) {
      const meta = struct(chunk.get(CHUNK.meta));
      const [name, ...deeper] = list(meta.get(META.path)).map(text);
      if (name === undefined || deeper.length > 0 || columns.get(name) !== 'integer') continue;
      const found = rangeOf(meta);
      if (found === null) unknown.add(name);
      else widen(ranges, name, found);
    }
  }
  for (const name of unknown) ranges.delete(name);
  return { rows: Number(footer.get(FILE.rows) ?? 0), columns, ranges };
}

/** The schema is a tree written out in order; only the children of its root matter. */
function columnsOf(schema: readonly ThriftStruct[]): Map<string, ColumnKind> {
  const columns = new Map<string, ColumnKind>();
  let at = 1;
  const skip = (): void => {
    const children = Number(schema[at++]?.get(ELEMENT.children) ?? 0);
    for (let child = 0; child < children; child++) skip();
  };
  for (let child = Number(schema[0]?.get(ELEMENT.children) ?? 0); child > 0; child--) {
    const element = schema[at];
    if (element === undefined) throw new RangeError('its schema is cut');
    columns.set(text(element.get(ELEMENT.name)), kindOf(element));
    skip();
  }
  return columns;
}

function kindOf(element: ThriftStruct): ColumnKind {
  const converted = Number(element.get(ELEMENT.converted) ?? -1);
  const logical = element.get(ELEMENT.logical);
  if (element.get(ELEMENT.children) !== undefined)
    return converted === LIST || (logical instanceof Map && logical.has(LIST)) ? 'list' : 'other';
  if (element.get(ELEMENT.repetition) === REPEATED) return 'list';
  switch (element.get(ELEMENT.type)) {
    case PHYSICAL.int96:
      return 'timestamp';
    case PHYSICAL.int32:
    case PHYSICAL.int64:
      if (
        CONVERTED_TIMESTAMPS.includes(converted) ||
        (logical instanceof Map && logical.has(LOGICAL_TIMESTAMP))
      )
        return 'timestamp';
      return CONVERTED_OTHER.includes(converted) ? 'other' : 'integer';
    case PHYSICAL.bytes:
    case PHYSICAL.fixedBytes:
      return 'bytes';
    default:
      return 'other';
  }
}

/** Both the converted and the logical type of a list have this number. */
const LIST = 3;

function rangeOf(meta: ThriftStruct): { min: number; max: number } | null {
  const statistics = meta.get(META.statistics);
  if (!(statistics instanceof Map)) return null;
  const min = integer(statistics.get(STATISTICS.min) ?? statistics.get(STATISTICS.minOld), meta);
  const max = integer(statistics.get(STATISTICS.max) ?? statistics.get(STATISTICS.maxOld), meta);
  return min === null || max === null ? null : { min, max };
}

function integer(bytes: ThriftValue | undefined, meta: ThriftStruct): number | null {
  if (!Buffer.isBuffer(bytes)) return null;
  if (meta.get(META.type) === PHYSICAL.int32 && bytes.length === 4) return bytes.readUInt32LE(0);
  return meta.get(META.type) === PHYSICAL.int64 && bytes.length === 8
    ? Number(bytes.readBigUInt64LE(0))
    : null;
}

function widen(
  ranges: Map<string, { min: number; max: number }>,
  name: string,
  found: { readonly min: number; readonly max: number },
): void {
  const known = ranges.get(name) ?? found;
  ranges.set(name, {
    min: Math.min(found.min, known.min),
    max: Math.max(found.max, known.max),
  });
}

function struct(value: ThriftValue | undefined): ThriftStruct {
  if (!(value instanceof Map)) throw new RangeError('its footer is not as Parquet defines it');
  return value;
}

function list(value: ThriftValue | undefined): readonly ThriftValue[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new RangeError('its footer is not as Parquet defines it');
  return value;
}

function structs(value: ThriftValue | undefined): ThriftStruct[] {
  return list(value).map(struct);
}

function text(value: ThriftValue | undefined): string {
  if (!Buffer.isBuffer(value)) throw new RangeError('its footer is not as Parquet defines it');
  return value.toString('utf8');
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
