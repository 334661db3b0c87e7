/**
 * The tables of the published catalogue: what callers see as `system` and `information_schema`. Only columns that clients ask for and
 * that say something about the public tables are here; an engine's own catalogue has more. The rows are in rows.ts.
 */

/** The database that holds the public tables, for callers. `default` because most clients assume it when none is entered. */
export const PUBLISHED_DATABASE = 'default';
/**
 * The version that `version()` answers. Clients choose features by it: Metabase asks for 24.4 or newer, the JDBC driver for 21.6. A long-term
 * release of ClickHouse with the SQL that runs here; not the version of the engine behind it.
 */
export const PUBLISHED_VERSION = '25.8.1.1';
export const PUBLISHED_TIME_ZONE = 'UTC';

export const CATALOGUE_SCHEMAS = ['system', 'information_schema'] as const;
export type CatalogueSchema = (typeof CATALOGUE_SCHEMAS)[number];

/** Name and type of a column; empty where the table has no rows of ours to show. */
type Columns = Readonly<Record<string, string>>;

const TEXT = 'String';
const TEXTS = 'Array(String)';
const FLAG = 'UInt8';
const COUNT = 'UInt64';
const COUNT_OR_NULL = 'Nullable(UInt64)';
const TEXT_OR_NULL = 'Nullable(String)';
const TIME = "DateTime('UTC')";
const ID = 'UUID';

export const CATALOGUE = {
  system: {
    databases: {
      name: TEXT,
      engine: TEXT,
      data_path: TEXT,
      metadata_path: TEXT,
      uuid: ID,
      engine_full: TEXT,
      comment: TEXT,
    },
    tables: {
      database: TEXT,
      name: TEXT,
      table: TEXT,
      uuid: ID,
      engine: TEXT,
      is_temporary: FLAG,
      data_paths: TEXTS,
      metadata_path: TEXT,
      metadata_modification_time: TIME,
      dependencies_database: TEXTS,
      dependencies_table: TEXTS,
      create_table_query: TEXT,
      engine_full: TEXT,
      as_select: TEXT,
      partition_key: TEXT,
      sorting_key: TEXT,
      primary_key: TEXT,
      sampling_key: TEXT,
      storage_policy: TEXT,
      total_rows: COUNT_OR_NULL,
      total_bytes: COUNT_OR_NULL,
      parts: COUNT_OR_NULL,
      active_parts: COUNT_OR_NULL,
      comment: TEXT,
      has_own_data: FLAG,
    },
    columns: {
      database: TEXT,
      table: TEXT,
      name: TEXT,
      type: TEXT,
      position: COUNT,
      default_kind: TEXT,
      default_expression: TEXT,
      data_compressed_bytes: COUNT,
      data_uncompressed_bytes: COUNT,
      marks_bytes: COUNT,
      comment: TEXT,
      is_in_partition_key: FLAG,
      is_in_sorting_key: FLAG,
      is_in_primary_key: FLAG,
      is_in_sampling_key: FLAG,
      compression_codec: TEXT,
      character_octet_length: COUNT_OR_NULL,
      numeric_precision: COUNT_OR_NULL,
      numeric_precision_radix: COUNT_OR_NULL,
      numeric_scale: COUNT_OR_NULL,
      datetime_precision: COUNT_OR_NULL,
    },
    functions: {
      name: TEXT,
      is_aggregate: FLAG,
      is_deterministic: 'Nullable(UInt8)',
      case_insensitive: FLAG,
      alias_to: TEXT,
      create_query: TEXT,
      origin: TEXT,
      description: TEXT,
      syntax: TEXT,
      arguments: TEXT,
      returned_value: TEXT,
      examples: TEXT,
      introduced_in: TEXT,
      categories: TEXT,
    },
    table_functions: { name: TEXT, description: TEXT, allow_readonly: FLAG },
    settings: {
      name: TEXT,
      value: TEXT,
      changed: FLAG,
      description: TEXT,
      min: TEXT_OR_NULL,
      max: TEXT_OR_NULL,
      readonly: FLAG,
      type: TEXT,
      default: TEXT,
      alias_for: TEXT,
      is_obsolete: FLAG,
      tier: TEXT,
    },
    data_type_families: { name: TEXT, case_insensitive: FLAG, alias_to: TEXT },
    build_options: { name: TEXT, value: TEXT },
    table_engines: {
      name: TEXT,
      supports_settings: FLAG,
      supports_skipping_indices: FLAG,
      supports_projections: FLAG,
      supports_sort_order: FLAG,
      supports_ttl: FLAG,
      supports_replication: FLAG,
      supports_deduplication: FLAG,
      supports_parallel_insert: FLAG,
    },
    formats: { name: TEXT, is_input: FLAG, is_output: FLAG },
    clusters: {
      cluster: TEXT,
      shard_num: 'UInt32',
      shard_weight: 'UInt32',
      replica_num: 'UInt32',
      host_name: TEXT,
      host_address: TEXT,
      port: 'UInt16',
      is_local: FLAG,
      user: TEXT,
      default_database: TEXT,
      errors_count: 'UInt32',
      slowdowns_count: 'UInt32',
    },
    dictionaries: {
      database: TEXT,
      name: TEXT,
      uuid: ID,
      status: TEXT,
      origin: TEXT,
      type: TEXT,
      comment: TEXT,
    },
    parts: {
      database: TEXT,
      table: TEXT,
      name: TEXT,
      partition: TEXT,
      active: FLAG,
      rows: COUNT,
      bytes_on_disk: COUNT,
      data_compressed_bytes: COUNT,
      data_uncompressed_bytes: COUNT,
    },
    data_skipping_indices: {
      database: TEXT,
      table: TEXT,
      name: TEXT,
      type: TEXT,
      expr: TEXT,
      granularity: COUNT,
    },
    one: { dummy: FLAG },
  },
  information_schema: {
    schemata: {
      catalog_name: TEXT,
      schema_name: TEXT,
      schema_owner: TEXT,
      default_character_set_catalog: TEXT_OR_NULL,
      default_character_set_schema: TEXT_OR_NULL,
      default_character_set_name: TEXT_OR_NULL,
      sql_path: TEXT_OR_NULL,
    },
    tables: {
      table_catalog: TEXT,
      table_schema: TEXT,
      table_name: TEXT,
      table_type: TEXT,
      table_rows: COUNT_OR_NULL,
      data_length: COUNT_OR_NULL,
      table_collation: TEXT_OR_NULL,
      table_comment: TEXT_OR_NULL,
    },
    columns: {
      table_catalog: TEXT,
      table_schema: TEXT,
      table_name: TEXT,
      column_name: TEXT,
      ordinal_position: COUNT,
      column_default: TEXT,
      is_nullable: FLAG,
      data_type: TEXT,
      character_maximum_length: COUNT_OR_NULL,
      character_octet_length: COUNT_OR_NULL,
      numeric_precision: COUNT_OR_NULL,
      numeric_precision_radix: COUNT_OR_NULL,
      numeric_scale: COUNT_OR_NULL,
      datetime_precision: COUNT_OR_NULL,
      column_comment: TEXT,
      column_type: TEXT,
      column_key: TEXT,
      extra: TEXT_OR_NULL,
    },
    views: {
      table_catalog: TEXT,
      table_schema: TEXT,
      table_name: TEXT,
      view_definition: TEXT,
      check_option: TEXT,
      is_updatable: TEXT,
      is_insertable_into: TEXT,
    },
    key_column_usage: {
      constraint_schema: TEXT,
      constraint_name: TEXT,
      table_schema: TEXT,
      table_name: TEXT,
      column_name: TEXT_OR_NULL,
      ordinal_position: 'UInt32',
    },
    referential_constraints: {
      constraint_schema: TEXT,
      constraint_name: TEXT_OR_NULL,
      table_name: TEXT,
      referenced_table_name: TEXT,
    },
  },
} as const satisfies Record<CatalogueSchema, Record<string, Columns>>;

export interface CatalogueTable {
  readonly schema: CatalogueSchema;
  readonly name: string;
  readonly columns: readonly CatalogueColumn[];
  /** Its view in the database of the public tables (views.ts). */
  readonly view: string;
}

export interface CatalogueColumn {
  readonly name: string;
  readonly type: string;
}

export const CATALOGUE_TABLES: readonly CatalogueTable[] = CATALOGUE_SCHEMAS.flatMap((schema) =>
  Object.entries(CATALOGUE[schema]).map(([name, columns]: [string, Columns]) => ({
    schema,
    name,
    columns: columnsOf(schema, columns),
    view: `${schema}_${name}`,
  })),
);

/** The columns of `information_schema` exist in both cases, as in ClickHouse. */
function columnsOf(schema: CatalogueSchema, columns: Columns): readonly CatalogueColumn[] {
  const listed = Object.entries(columns).map(([name, type]) => ({ name, type }));
  if (schema === 'system') return listed;
  return [...listed, ...listed.map(({ name, type }) => ({ name: name.toUpperCase(), type }))];
}
