import { type FileMetaData, parquetMetadataAsync, parquetRead, type SchemaElement } from 'hyparquet';
import { plainDecimal, type RowColumn, type RowValues } from './rows.ts';
import { type BundleTable, bundleColumns, fileType, valueKind } from './tables.ts';

/** Reads the rows of a bundle's file, one group of rows in memory at a time. */

/** A file that is read in pieces, wherever it lies. */
export interface PieceSource {
  readonly byteLength: number;
  slice(start: number, end?: number): Promise<ArrayBuffer>;
}

export interface ParquetRows {
  readonly columns: readonly RowColumn[];
  rows(): AsyncGenerator<RowValues>;
}

/** A file that is not what a bundle of the table is. The message says how. */
export class NotABundleFile extends Error {}

export async function openParquet(file: PieceSource, table: BundleTable): Promise<ParquetRows> {
  const metadata = await parquetMetadataAsync(file, { geoparquet: false });
  const scales = withoutDecimals(metadata);
  const columns = columnsOf(metadata, table);
  return { columns, rows: () => readRows(file, metadata, { columns, scales }) };
}

/** hyparquet makes floating-point numbers of decimals. Without the mark it gives their bytes, and the scale is kept here. */
function withoutDecimals({ schema }: FileMetaData): ReadonlyMap<string, number> {
  const scales = new Map<string, number>();
  for (const element of schema) {
    if (element.converted_type !== 'DECIMAL' && element.logical_type?.type !== 'DECIMAL') continue;
    scales.set(element.name, element.scale ?? 0);
    delete element.converted_type;
    delete element.logical_type;
  }
  return scales;
}

/** The columns of the file, which may have been made when the table had fewer. */
function columnsOf({ schema }: FileMetaData, table: BundleTable): RowColumn[] {
  const known = new Map(bundleColumns(table).map((column) => [column.name, valueKind(fileType(column))]));
  return topLevel(schema).map((name) => {
    const kind = known.get(name);
    if (kind === undefined) throw new NotABundleFile(`it has a column ${name}, which ${table} does not have`);
    return { name, kind };
  });
}

/** The schema is a tree in one list: each element is followed by its children. */
function topLevel(schema: readonly SchemaElement[]): string[] {
  const names: string[] = [];
  let at = 1;
  while (at < schema.length) {
    names.push(schema[at]?.name ?? '');
    at = endOf(schema, at);
  }
  return names;
}

function endOf(schema: readonly SchemaElement[], at: number): number {
  let next = at + 1;
  for (let child = 0; child < (schema[at]?.num_children ?? 0); child++) next = endOf(schema, next);
  return next;
}

async function* readRows(
  file: PieceSource,
  metadata: FileMetaData,
  {
    columns,
    scales,
  }: { readonly columns: readonly RowColumn[]; readonly scales: ReadonlyMap<string, number> },
): AsyncGenerator<RowValues> {
  let rowStart = 0;
  for (const group of metadata.row_groups) {
    const rowEnd = rowStart + Number(group.num_rows);
    let rows: readonly (readonly unknown[])[] = [];
    await parquetRead({
      file,
      metadata,
      rowStart,
      rowEnd,
      rowFormat: 'array',
      onComplete: (found: unknown) => {
        rows = found as typeof rows; // arrays, by `rowFormat`
      },
    });
    for (const row of rows)
      yield columns.map(({ name, kind }, at) => fromParquet(row[at], { kind, scale: scales.get(name) }));
    rowStart = rowEnd;
  }
}

function fromParquet(
  value: unknown,
  { kind, scale }: { readonly kind: RowColumn['kind']; readonly scale: number | undefined },
): RowValues[number] {
  if (value === null || value === undefined) return null;
  switch (kind) {
    case 'integer':
    case 'decimal':
      return scale === undefined ? String(value) : decimalText(integerOf(value), scale);
    case 'small_integer':
      return Number(value);
    case 'float':
      return floatOf(Number(value));
    case 'bool':
      return Boolean(value);
    case 'time':
      return `${timeOf(value).toISOString().slice(0, 19)}Z`;
    case 'date':
      return timeOf(value).toISOString().slice(0, 10);
    case 'text':
      return String(value);
    case 'texts':
      return Array.isArray(value) ? value.map(String) : [];
  }
}

function timeOf(value: unknown): Date {
  if (value instanceof Date) return value;
  // A writer may store seconds as a bare integer.
  return new Date(Number(value) * 1_000);
}

/** JSON has no such numbers; the API prints these words. */
function floatOf(value: number): number | string {
  if (Number.isNaN(value)) return 'nan';
  if (Number.isFinite(value)) return value;
  return value > 0 ? 'inf' : '-inf';
}

const BITS_IN_BYTE = 8;

/** Two's complement, the highest byte first. */
function integerOf(value: unknown): bigint {
  if (!(value instanceof Uint8Array)) return BigInt(String(value));
  const unsigned = BigInt(`0x${Buffer.from(value).toString('hex') || '0'}`);
  return BigInt.asIntN(value.length * BITS_IN_BYTE, unsigned);
}

function decimalText(value: bigint, scale: number): string {
  if (scale === 0) return String(value);
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const text = `${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
  return plainDecimal(value < 0n ? `-${text}` : text);
}
