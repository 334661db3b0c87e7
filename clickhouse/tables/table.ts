import type { Row, Writer } from '../engine/engine.ts';
import { RowBinary } from '../engine/row-binary.ts';
import { type Sql, trustedText } from '../engine/sql.ts';
import type { ColumnType, Del } from './columns.ts';

/**
 * A table in one place: what it holds, where, and what happens to its rows. The DDL of a cluster, new versions, retractions, backups,
 * encoders, decoders and tests follow these declarations; `all-tables.ts` lists them. The first migration is written from them
 * (clickhouse/migrate/baseline.ts), and a test compares them with what all migrations make.
 *
 *   await insertRows(writer, { name: 'save-blocks', table: BLOCKS, rows, fixed: { ver: versions.next() } });
 */
export interface Table<Columns extends ColumnMap = ColumnMap> {
  readonly name: string;
  /**
   * The columns that this program writes or reads row by row, in the order in which they are written. Empty where the engine alone
   * fills the table, from a view or an INSERT … SELECT.
   */
  readonly columns: Columns;
  /** The columns behind those, which the engine alone fills. */
  readonly filled?: Definitions;
  readonly storage: Storage | View;
  /** The views that fill the table, by name: each inserts what its query makes of the rows that are inserted into the table it reads. */
  readonly filledBy?: Readonly<Record<string, string>>;
  readonly placement: Placement;
  /** Columns by whose highest value a row replaces an older one. */
  readonly versions?: readonly ('ver' | 'gen')[];
  readonly retraction?: Retraction;
  /** Absent: `rows`. */
  readonly backup?: BackupGroup;
}

/** Columns by name: the type as the engine names it, with a default or codec. */
export type Definitions = Readonly<Record<string, string>>;

/** How the engine keeps the rows of a table, in its own words. */
export interface Storage {
  /** A MergeTree, with its parameter. On a cluster with a Keeper it is a replica of its shard. */
  readonly engine: string;
  readonly partition?: string;
  readonly order: string;
  readonly ttl?: string;
  /** By name: expression, type and granularity. */
  readonly indexes?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, number>>;
}

/** It has no rows of its own. */
export interface View {
  readonly query: string;
}

/**
 * Where the rows of a table or view are on a cluster (docs/decisions/0008-cluster.md).
 *
 * `key`: the shard of a row, as the engine's sharding expression. A slice of the rollups (a day, or an hour of it) has all of
 * its rows on one shard, and so has everything that is computed from it: a shard rolls up what it holds, and no reader has to
 * know that there are several.
 */
export interface Placement {
  /** Null: rows are where the view that makes them runs; nothing is ever inserted through the table of the whole cluster. */
  readonly key: string | null;
  /** Why there. */
  readonly why: string;
}

/** Days in turn, so that a month is on all shards alike and a day on one. */
export const dayOf = (column: string, why: string): Placement => ({
  key: `toUInt32(toDate(${column}))`,
  why,
});

/** The first shard, whose weight must not be 0. */
export const onFirst = (why: string): Placement => ({ key: '0', why });

export const STATE = onFirst('a few rows that claims and comparisons need in one place');

/**
 * When a table is copied while the index is written to; src/operate/backup/engine.ts says why in this order. `derived`: not at all,
 * because a worker makes it again from the others.
 */
export type BackupGroup = 'checkpoints' | 'done' | 'rows' | 'marks' | 'derived';

/** Conditions on the rows of a chain above a block. Where the time is in the sort key, it finds them; a number alone is a scan. */
export interface RowsAbove {
  readonly byTime: Sql;
  readonly byNumber: Sql;
}

/** What a reorg does to a table. Each statement may be repeated: the second time it finds nothing, or says the same again. */
export type Retraction =
  /** Live rows get tombstones: the same rows with a newer version and `del = 1`. */
  | { readonly tombstones: keyof RowsAbove }
  /** Rows are added that say what was taken back. */
  | { readonly notes: (above: RowsAbove) => readonly Sql[] };

export type ColumnMap = Readonly<Record<string, ColumnType<unknown> & { readonly property?: string }>>;

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;
type PropertyOf<Name extends string, Column> = Column extends {
  readonly property: infer Property extends string;
}
  ? Property
  : CamelCase<Name>;
type ValueOf<Column> = Column extends { read(field: unknown): infer Value } ? Value : never;

/** A row of these columns as a value: its fields have the columns' names in camel case, or those given by `named`. */
export type RowOf<Columns extends ColumnMap> = {
  readonly [Name in keyof Columns & string as PropertyOf<Name, Columns[Name]>]: ValueOf<Columns[Name]>;
};

/** A row of a table. */
export type TableRow<Of> = Of extends { readonly columns: infer Columns extends ColumnMap }
  ? RowOf<Columns>
  : never;
/** A row of a table of events, before it is given a version. */
export type EventRow<Of> = Omit<TableRow<Of>, 'ver' | 'del'>;

/** The columns of a table in the order in which they are written. */
export function columnNames({ columns }: Table): string[] {
  return Object.keys(columns);
}

/** Columns as another table has them that the engine fills from this one. */
export function definitionsOf(columns: ColumnMap): Definitions {
  return Object.fromEntries(
    Object.entries(columns).map(([name, { type, ddl }]) => [
      name,
      ddl === undefined ? type : `${type} ${ddl}`,
    ]),
  );
}

/** The definition of every column, in the order of the table. */
export function allDefinitions({ columns, filled = {} }: Table): Definitions {
  return { ...definitionsOf(columns), ...filled };
}

function propertyOf(column: string, { property }: ColumnMap[string]): string {
  return property ?? column.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** RowBinary of rows; `fixed` holds the fields that are the same in all of them. */
export function encodeRows<Columns extends ColumnMap, Fixed extends Partial<RowOf<Columns>>>(
  { columns }: Table<Columns>,
  rows: Iterable<Omit<RowOf<Columns>, keyof Fixed>>,
  fixed: Fixed,
): Uint8Array {
  const same: Readonly<Record<string, unknown>> = fixed;
  const fields = Object.entries(columns).map(([column, type]) => {
    const property = propertyOf(column, type);
    return { type, property, isFixed: Object.hasOwn(same, property) };
  });
  const out = new RowBinary();
  for (const row of rows) {
    const own = row as Readonly<Record<string, unknown>>; // read by the names that its type has
    for (const { type, property, isFixed } of fields) type.write(out, (isFixed ? same : own)[property]);
  }
  return out.finish();
}

/** Rows for one insert. */
export interface Insert<Columns extends ColumnMap, Fixed extends Partial<RowOf<Columns>>> {
  /** Of the statement. */
  readonly name: string;
  readonly table: Table<Columns>;
  readonly rows: readonly Omit<RowOf<Columns>, keyof Fixed>[];
  readonly fixed: Fixed;
  readonly scopes?: readonly string[];
}

/** Resolves when they are acknowledged. No rows, no insert. */
export async function insertRows<Columns extends ColumnMap, Fixed extends Partial<RowOf<Columns>>>(
  writer: Pick<Writer, 'insert'>,
  { name, table, rows, fixed, scopes = [] }: Insert<Columns, Fixed>,
): Promise<void> {
  if (rows.length === 0) return;
  await writer.insert(name, table.name, columnNames(table), [encodeRows(table, rows, fixed)], { scopes });
}

/** Some columns of a table: what a SELECT lists, and what its rows are. */
export interface Reading<Result> {
  readonly columns: Sql;
  /** The fields of a result, in the order of the columns. */
  readonly properties: readonly (keyof Result & string)[];
  read(row: Row): Result;
}

/** `prefix`: of the table in the statement, for example `c.`. */
export function reading<Columns extends ColumnMap, Name extends keyof Columns & string>(
  { columns }: Table<Columns>,
  names: readonly Name[],
  prefix = '',
): Reading<RowOf<Pick<Columns, Name>>> {
  const fields = names.map((column) => ({ column, type: columns[column] as ColumnMap[string] })); // a key of it
  const properties = fields.map(({ column, type }) => propertyOf(column, type));
  return {
    columns: trustedText(fields.map(({ column, type }) => type.select(`${prefix}${column}`)).join(', ')),
    properties: properties as (keyof RowOf<Pick<Columns, Name>> & string)[], // by the columns that were named
    read: (row) =>
      Object.fromEntries(fields.map(({ type }, at) => [properties[at], type.read(row[at])])) as RowOf<
        Pick<Columns, Name>
      >, // each field by the type of its column
  };
}

/** Writes the columns of one row up to the last two, which are `ver` and `del` in every table of events. */
export type EventWriter<Row> = (out: RowBinary, row: Row) => void;

/** The encoder of a table of events that follows from its columns. */
export function eventWriter<Columns extends ColumnMap>({
  name,
  columns,
}: Table<Columns>): EventWriter<Omit<RowOf<Columns>, 'ver' | 'del'>> {
  const entries = Object.entries(columns);
  const tail = entries.splice(-2).map(([column]) => column);
  if (tail.join() !== 'ver,del') throw new TypeError(`${name} ends in ${tail.join()}: not a table of events`);
  const fields = entries.map(([column, type]) => ({ type, property: propertyOf(column, type) }));
  return (out, row) => {
    const values = row as Readonly<Record<string, unknown>>; // read by the names that its type has
    for (const { type, property } of fields) type.write(out, values[property]);
  };
}

/**
 * Rows encoded while their version is open: an attempt to write them takes a fresh one. A tenth of the rows they were made from,
 * and in one piece outside the heap: what waits to be written is nothing that a garbage collector has to move.
 */
export interface EncodedEvents {
  readonly count: number;
  /** The bytes with this version in every row; the same memory each time, so one attempt must have ended before the next. */
  at(ver: bigint): Uint8Array;
}

/** Throws `RangeError` for a value that its column cannot hold. */
export function encodeEvents<Row>(rows: readonly Row[], write: EventWriter<Row>, del: Del): EncodedEvents {
  const out = new RowBinary();
  const versionsAt = new Uint32Array(rows.length);
  for (const [index, row] of rows.entries()) {
    write(out, row);
    versionsAt[index] = out.size();
    out.u64(0).u8(del);
  }
  const bytes = Buffer.from(out.finish()); // as large as it is, not as the writer has grown
  return {
    count: rows.length,
    at(ver) {
      for (const at of versionsAt) bytes.writeBigUInt64LE(ver, at);
      return bytes;
    },
  };
}
