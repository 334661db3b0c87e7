import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PUBLIC_TABLE_NAMES, PUBLIC_TABLES } from '../../core/domain/public-tables.ts';
import {
  CATALOGUE_SCHEMAS,
  CATALOGUE_TABLES,
  type CatalogueTable,
  PUBLISHED_DATABASE,
  PUBLISHED_VERSION,
} from './tables.ts';

/**
 * The rows of the published catalogue, from the declaration of the public tables, the reviewed functions and the catalogue itself.
 * Nothing here is read from the engine.
 */

export type CatalogueValue = string | number | null | readonly string[];
/** Values by column; a missing one is the default of its type. */
export type CatalogueRow = Readonly<Record<string, CatalogueValue>>;

/** A table as the catalogue lists it. */
interface ListedTable {
  readonly database: string;
  readonly name: string;
  readonly engine: string;
  readonly comment: string;
  readonly columns: readonly { readonly name: string; readonly type: string; readonly comment: string }[];
  /** Columns by which a condition narrows the read. */
  readonly sortedBy: readonly string[];
}

const PUBLIC: readonly ListedTable[] = PUBLIC_TABLE_NAMES.map((name) => {
  const { meaning, columns, cheapBy } = PUBLIC_TABLES[name];
  return {
    database: PUBLISHED_DATABASE,
    name,
    engine: 'View',
    comment: meaning,
    columns: columns.map((column) => ({ ...column, comment: column.meaning })),
    sortedBy: cheapBy,
  };
});

/** `System…` is what clients recognize as a system table; the JDBC driver lists it apart from tables and views. */
const OF_CATALOGUE: readonly ListedTable[] = CATALOGUE_TABLES.map(({ schema, name, columns }) => ({
  database: schema,
  name,
  engine: schema === 'system' ? 'SystemView' : 'View',
  comment: '',
  columns: columns.map((column) => ({ ...column, comment: '' })),
  sortedBy: [],
}));

const LISTED = [...PUBLIC, ...OF_CATALOGUE];

/** The same on every start, so that clients which cache by it keep their cache. */
function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map(([from, to]) => hex.slice(from, to))
    .join('-');
}

/** The statement that SHOW CREATE TABLE gives: names, types and comments, without how the table is stored. */
export function createStatementOf({ database, name, engine, comment, columns }: ListedTable): string {
  const lines = columns.map(
    (column) =>
      `    \`${column.name}\` ${column.type}${column.comment === '' ? '' : ` COMMENT ${quoted(column.comment)}`}`,
  );
  const end = comment === '' ? '' : `\nCOMMENT ${quoted(comment)}`;
  return `CREATE TABLE ${database}.${name}\n(\n${lines.join(',\n')}\n)\nENGINE = ${engine}${end}`;
}

/** A text as a literal of ClickHouse. */
export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n').replaceAll('\t', '\\t')}'`;
}

const databases = [PUBLISHED_DATABASE, ...CATALOGUE_SCHEMAS].map((name) => ({
  name,
  engine: name === PUBLISHED_DATABASE ? 'Atomic' : 'Memory',
  engine_full: name === PUBLISHED_DATABASE ? 'Atomic' : 'Memory',
  uuid: uuidOf(name),
  comment: name === PUBLISHED_DATABASE ? 'Settlement Index: x402 settlements and ERC-8004 agents' : '',
}));

function tableRow(table: ListedTable): CatalogueRow {
  const { database, name, engine, comment, sortedBy } = table;
  return {
    database,
    name,
    table: name,
    uuid: uuidOf(`${database}.${name}`),
    engine,
    engine_full: engine,
    create_table_query: createStatementOf(table),
    sorting_key: sortedBy.join(', '),
    comment,
  };
}

interface Sizes {
  readonly numeric_precision: number | null;
  readonly numeric_precision_radix: number | null;
  readonly numeric_scale: number | null;
  readonly datetime_precision: number | null;
}

/** What clients compute sizes from: digits of numbers, length of fixed texts, as ClickHouse reports them: of a float it says nothing. */
function sizesOf(type: string): Sizes {
  const plain = type.replace(/^LowCardinality\((.*)\)$/, '$1').replace(/^Nullable\((.*)\)$/, '$1');
  const bits = Number(/^U?Int(\d+)$/.exec(plain)?.[1] ?? (plain === 'Bool' ? 8 : 0));
  const [, digits, scale] = /^Decimal\((\d+), (\d+)\)$/.exec(plain) ?? [];
  const [precision, radix] = digits === undefined ? [bits, 2] : [Number(digits), 10];
  const hasPrecision = precision > 0;
  return {
    numeric_precision: hasPrecision ? precision : null,
    numeric_precision_radix: hasPrecision ? radix : null,
    numeric_scale: hasPrecision ? Number(scale ?? 0) : null,
    datetime_precision: /^Date(32|Time)?(\(|$)/.test(plain) ? 0 : null,
  };
}

const columns = LISTED.flatMap(({ database, name: table, columns, sortedBy }) =>
  columns.map(({ name, type, comment }, at) => ({
    database,
    table,
    name,
    type,
    position: at + 1,
    comment,
    is_in_sorting_key: sortedBy.includes(name) ? 1 : 0,
    ...sizesOf(type),
  })),
);

interface ReviewedFunctions {
  readonly allowed: readonly { readonly name: string; readonly aggregate?: true; readonly anyCase?: true }[];
}

/** The sandbox's list of reviewed functions: a data file, because the engine's code knows nothing of the sandbox. */
const { allowed } = JSON.parse(
  readFileSync(new URL('../../sandbox/policy/functions.json', import.meta.url), 'utf8'),
) as ReviewedFunctions; // our own file, written by the generator

const functions = allowed.map(({ name, aggregate, anyCase }) => ({
  name,
  is_aggregate: aggregate === true ? 1 : 0,
  case_insensitive: anyCase === true ? 1 : 0,
  origin: 'System',
}));

/** Table functions that the sandbox runs (sandbox/policy/policy.ts). */
const TABLE_FUNCTIONS = ['generateSeries', 'generate_series', 'numbers', 'values'];

/** Types that a public column or the result of an expression can have; a second name is an alias. */
const TYPES =
  `Array Bool Date Date32 DateTime DateTime64 Decimal Enum16 Enum8 FixedString Float32 Float64 Int128 Int16 Int256 Int32 Int64 Int8
IPv4 IPv6 LowCardinality Map Nothing Nullable String Tuple UInt128 UInt16 UInt256 UInt32 UInt64 UInt8 UUID`.split(
    /\s+/,
  );
const TYPE_ALIASES: Readonly<Record<string, string>> = {
  BIGINT: 'Int64',
  BOOLEAN: 'Bool',
  CHAR: 'String',
  DOUBLE: 'Float64',
  FLOAT: 'Float32',
  INT: 'Int32',
  INTEGER: 'Int32',
  NUMERIC: 'Decimal',
  SMALLINT: 'Int16',
  TEXT: 'String',
  TIMESTAMP: 'DateTime',
  TINYINT: 'Int8',
  VARCHAR: 'String',
};

const OUTPUT_FORMATS =
  `Arrow ArrowStream CSV CSVWithNames CSVWithNamesAndTypes JSON JSONColumns JSONCompact JSONCompactEachRow JSONCompactEachRowWithNames
JSONCompactEachRowWithNamesAndTypes JSONEachRow JSONStrings Native Null Parquet Pretty PrettyCompact RowBinary RowBinaryWithNames
RowBinaryWithNamesAndTypes TSV TSVWithNames TSVWithNamesAndTypes TabSeparated TabSeparatedWithNames TabSeparatedWithNamesAndTypes`.split(
    /\s+/,
  );

/** Settings that a client may send. `readonly` 1 makes clickhouse-connect leave a setting out instead of sending it. */
const SETTINGS: readonly (readonly [name: string, value: string, type: string, readonly: 0 | 1])[] = [
  ['cast_string_to_dynamic_use_inference', '0', 'Bool', 1],
  ['date_time_input_format', 'basic', 'DateTimeInputFormat', 1],
  ['date_time_output_format', 'simple', 'DateTimeOutputFormat', 0],
  ['http_headers_progress_interval_ms', '100', 'UInt64', 0],
  ['max_block_size', '65409', 'UInt64', 1],
  ['max_execution_time', '0', 'Seconds', 0],
  ['max_result_rows', '0', 'UInt64', 0],
  ['max_threads', '0', 'MaxThreads', 0],
  ['output_format_json_quote_64bit_integers', '0', 'Bool', 0],
  ['output_format_json_quote_decimals', '0', 'Bool', 0],
  ['output_format_json_quote_denormals', '0', 'Bool', 0],
  ['readonly', '1', 'UInt64', 1],
  ['result_overflow_mode', 'throw', 'OverflowMode', 0],
  ['send_progress_in_http_headers', '0', 'Bool', 0],
  ['session_timezone', '', 'Timezone', 1],
  ['wait_end_of_query', '0', 'Bool', 0],
];

const both = (row: CatalogueRow): CatalogueRow => ({
  ...row,
  ...Object.fromEntries(Object.entries(row).map(([name, value]) => [name.toUpperCase(), value])),
});

const ROWS: Readonly<Record<string, readonly CatalogueRow[]>> = {
  system_databases: databases,
  system_tables: LISTED.map(tableRow),
  system_columns: columns,
  system_functions: functions,
  system_table_functions: TABLE_FUNCTIONS.map((name) => ({ name, allow_readonly: 1 })),
  system_settings: SETTINGS.map(([name, value, type, readonly]) => ({
    name,
    value,
    type,
    readonly,
    default: value,
    tier: 'Production',
  })),
  system_data_type_families: [
    ...TYPES.map((name) => ({ name })),
    ...Object.entries(TYPE_ALIASES).map(([name, alias_to]) => ({ name, alias_to, case_insensitive: 1 })),
  ],
  system_build_options: [{ name: 'VERSION_DESCRIBE', value: `v${PUBLISHED_VERSION}-stable` }],
  system_table_engines: [{ name: 'View' }],
  system_formats: OUTPUT_FORMATS.map((name) => ({ name, is_output: 1 })),
  system_one: [{ dummy: 0 }],
  information_schema_schemata: databases.map(({ name }) =>
    both({ catalog_name: name, schema_name: name, schema_owner: PUBLISHED_DATABASE }),
  ),
  information_schema_tables: LISTED.map(({ database, name, engine, comment }) =>
    both({
      table_catalog: database,
      table_schema: database,
      table_name: name,
      table_type: engine === 'View' ? 'VIEW' : 'SYSTEM VIEW',
      // As a server says of every table, for clients of MySQL.
      table_collation: 'utf8mb4_0900_ai_ci',
      table_comment: comment,
    }),
  ),
  information_schema_columns: columns.map(({ database, table, name, type, position, comment, ...sizes }) =>
    both({
      table_catalog: database,
      table_schema: database,
      table_name: table,
      column_name: name,
      ordinal_position: position,
      is_nullable: type.startsWith('Nullable(') ? 1 : 0,
      extra: '',
      data_type: type,
      column_type: type,
      column_comment: comment,
      numeric_precision: sizes.numeric_precision,
      numeric_precision_radix: sizes.numeric_precision_radix,
      numeric_scale: sizes.numeric_scale,
      datetime_precision: sizes.datetime_precision,
    }),
  ),
  information_schema_views: PUBLIC.map((table) =>
    both({
      table_catalog: table.database,
      table_schema: table.database,
      table_name: table.name,
      view_definition: createStatementOf(table),
      check_option: 'NONE',
      is_updatable: 'NO',
      is_insertable_into: 'NO',
    }),
  ),
};

/** The rows of a table; none for those that exist only so that clients find them empty. */
export function rowsOf({ view }: Pick<CatalogueTable, 'view'>): readonly CatalogueRow[] {
  return ROWS[view] ?? [];
}
