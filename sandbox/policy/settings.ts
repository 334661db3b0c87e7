import { OUTPUT_SETTINGS } from '../../clickhouse/guest/settings.ts';
import { readTableFilters } from './table-filters.ts';

/**
 * Settings of the engine that a text or a client may send. None of them reaches the engine by its name alone: settings of the form are
 * passed on by the ClickHouse interface, limits become lower limits of ours, and the others are left out because they change no answer.
 */

export interface SqlSetting {
  readonly name: string;
  /** Without quotes. */
  readonly value: string;
}

/**
 * `form`: how the answer is written. `limit`: of time or rows. `meaning`: how names are read. `left_out`: only speeds the query up or slows it down. `of_clients`: what
 * clients send with every request, which a text has no use for.
 */
export type SettingKind = 'form' | 'limit' | 'meaning' | 'left_out' | 'of_clients';

const FORM: ReadonlySet<string> = new Set(OUTPUT_SETTINGS);

/** Limits that may only be lowered: of time, of rows, and whether a result with more rows is cut (`break`) or an error (`throw`). */
const LIMITS: ReadonlySet<string> = new Set([
  'max_execution_time',
  'max_result_rows',
  'limit',
  'result_overflow_mode',
]);

/** Settings that clients send with every query and that change no answer, each with a client that sends it. */
const OF_CLIENTS: Readonly<Record<string, string>> = {
  send_progress_in_http_headers: '@clickhouse/client, clickhouse-connect: `progressIntervalMs`',
  http_headers_progress_interval_ms: '@clickhouse/client, clickhouse-connect',
  wait_end_of_query: 'clickhouse-connect, JDBC: every result is whole before its first byte leaves',
  http_wait_end_of_query: 'as wait_end_of_query',
  buffer_size: 'JDBC',
  http_response_buffer_size: 'JDBC',
  enable_http_compression: '@clickhouse/client: Accept-Encoding decides',
  http_zlib_compression_level: '@clickhouse/client',
  http_write_exception_in_output_format: '@clickhouse/client: errors are texts',
  cancel_http_readonly_queries_on_client_close: '@clickhouse/client, clickhouse-connect: always on',
  use_query_cache: 'Grafana, Superset: results are not kept',
  log_queries: 'Grafana',
  log_comment: 'Grafana, dbt',
  date_time_input_format: 'clickhouse-connect: nothing is sent as data',
  input_format_import_nested_json: 'clickhouse',
  allow_experimental_variant_type: 'clickhouse-connect',
  allow_experimental_dynamic_type: 'clickhouse-connect',
  allow_experimental_json_type: 'clickhouse-connect',
  allow_experimental_object_type: 'JDBC',
  cast_string_to_dynamic_use_inference: 'clickhouse-connect',
  compatibility_ignore_auto_increment_in_create_table: 'JDBC',
  connect_timeout: 'native clients',
  connect_timeout_with_failover_ms: 'native clients',
  receive_timeout: 'native clients',
  send_timeout: 'native clients',
  http_receive_timeout: 'JDBC',
  http_send_timeout: 'JDBC',
  idle_connection_timeout: 'native clients',
  poll_interval: 'native clients',
  mutations_sync: 'dbt',
  alter_sync: 'dbt',
  replication_alter_partitions_sync: 'dbt',
  select_sequential_consistency: 'dbt',
  distributed_product_mode: 'dbt',
  load_balancing: 'dbt',
  prefer_localhost_replica: 'dbt',
  priority: 'Grafana',
  cast_keep_nullable: 'dbt: a cast of NULL to a type without it stays an error',
  async_insert: 'shared profiles of servers',
  wait_for_async_insert: 'as async_insert',
  wait_for_async_insert_timeout: 'as async_insert',
  allow_experimental_parallel_reading_from_replicas: 'shared profiles of clusters',
  enable_parallel_replicas: 'as above',
  skip_unavailable_shards: 'as above',
  fallback_to_stale_replicas_for_distributed_queries: 'as above',
  send_logs_level: 'native clients',
  lightweight_deletes_sync: 'dbt',
  allow_nondeterministic_mutations: 'dbt',
  network_compression_method: 'native clients',
  use_client_time_zone: 'native clients',
  format_display_secrets_in_show_and_select: 'native clients',
  show_table_uuid_in_table_create_query_if_not_nil: 'DBeaver',
};

/** Families of settings that bound or speed up work: the sandbox has lower bounds of its own. */
const LEFT_OUT_FAMILIES =
  /^(query_cache_\w+|async_insert_\w+|parallel_replicas_\w+|insert_\w+|deduplicate_\w+|max_(threads|parallel_replicas|replica_delay_for_distributed_queries|distributed_connections|partitions_per_insert_block|block_size|final_threads|streams_\w+|parsing_threads|insert_\w+|download_\w+|read_buffer_size\w*|memory_usage(_for_user)?|bytes_before_\w+|bytes_ratio_before_\w+|rows_to_read|bytes_to_read|rows_to_group_by|rows_to_sort|bytes_to_sort|query_size|ast_\w+|parser_depth|concurrent_queries_for_user|network_bandwidth\w*|untracked_memory|columns_to_read|result_bytes|estimated_execution_time|rows_in_join|bytes_in_join)|min_(bytes|count|rows|execution_speed)\w*|preferred_block_size_bytes|merge_tree_\w+|optimize_\w+|query_plan_\w+|use_(uncompressed_cache|query_condition_cache|skip_indexes\w*|page_cache\w*|index_for_in_with_subqueries)|enable_(optimize_predicate_expression|filesystem_cache\w*|multiple_prewhere_read_steps|software_prefetch_from_page_cache)|local_filesystem_read_\w+|remote_filesystem_read_\w+|compile_\w+|min_count_to_compile_\w+|allow_prefetched_read_pool_\w+|join_algorithm|timeout_before_checking_execution_speed|timeout_overflow_mode|read_overflow_mode|group_by_two_level_\w+|distributed_aggregation_memory_efficient|input_format_\w+|output_format_parallel_formatting|output_format_pretty_max_\w+|log_queries_\w+|log_query_\w+|opentelemetry_\w+)$/;

/** A name is a column of a table before it is an alias of the query, as in standard SQL. */
export const COLUMNS_FIRST = 'prefer_column_name_to_alias';
/** Conditions on the rows of tables, which Grafana's filters become. */
export const TABLE_FILTERS = 'additional_table_filters';
/** The zone that times are shown in, and that days and hours are of. */
export const SESSION_ZONE = 'session_timezone';

/** Settings that change what a query means, and which values each may have (sandbox/judge/differences.ts, stand-ins.ts). */
const MEANING: Readonly<Record<string, (value: string) => boolean>> = {
  [COLUMNS_FIRST]: (value) => ['0', '1'].includes(plain(value)),
  [TABLE_FILTERS]: (value) => readTableFilters(value) !== null,
  [SESSION_ZONE]: (value) => zoneNamed(value) !== null,
};

/** Settings that change what a query means: they may be sent with the value that holds here anyway. */
const AS_SET: Readonly<Record<string, readonly string[]>> = {
  readonly: ['1', '2'],
  enable_analyzer: ['1'],
  allow_experimental_analyzer: ['1'],
  join_use_nulls: ['1'],
  group_by_use_nulls: ['1'],
  union_default_mode: ['DISTINCT'],
  joined_subquery_requires_alias: ['0'],
  use_variant_as_common_type: ['0'],
  extremes: ['0'],
  final: ['0'],
  offset: ['0'],
  transform_null_in: ['0'],
  any_join_distinct_right_table_keys: ['0'],
  aggregate_functions_null_for_empty: ['0'],
  decimal_check_overflow: ['1'],
};

/** Longer values of a form (a text for NULL or true, in every row) would make an answer of any size. */
const VALUE_MAX_CHARS = 64;
const TEXT_IN_ROWS = /^(bool_\w+_representation|format_\w+_null_representation)$/;
const TEXT_IN_ROWS_MAX_CHARS = 16;

/** Null for a setting that cannot be set; `value` for one that can have another value only. */
export function settingKind({ name, value }: SqlSetting): SettingKind | 'value' | null {
  if (FORM.has(name)) return isShort(name, value) ? 'form' : 'value';
  if (LIMITS.has(name)) return isLimit(name, value) ? 'limit' : 'value';
  if (LEFT_OUT_FAMILIES.test(name)) return BOUNDS.test(name) && isZero(value) ? 'value' : 'left_out';
  if (Object.hasOwn(OF_CLIENTS, name)) return 'of_clients';
  if (Object.hasOwn(MEANING, name)) return MEANING[name]?.(value) === true ? 'meaning' : 'value';
  if (!Object.hasOwn(AS_SET, name)) return null;
  return AS_SET[name]?.includes(plain(value)) === true ? 'of_clients' : 'value';
}

function isShort(name: string, { length }: string): boolean {
  return length <= (TEXT_IN_ROWS.test(name) ? TEXT_IN_ROWS_MAX_CHARS : VALUE_MAX_CHARS);
}

/** Settings that bound what a query takes: 0 would mean no bound, which is refused rather than ignored. */
const BOUNDS = /^max_(memory|rows|bytes|result|columns|ast|query_size|temporary)/;

function isZero(value: string): boolean {
  return Number(value) === 0;
}

function isLimit(name: string, value: string): boolean {
  if (isZero(value)) return false;
  if (name === 'result_overflow_mode') return value === 'throw' || value === 'break';
  return name === 'max_execution_time' ? /^\d+(\.\d+)?$/.test(value) : /^\d+$/.test(value);
}

function plain(value: string): string {
  if (value === 'true') return '1';
  return value === 'false' ? '0' : value;
}

/** What settings ask of a run: always less than it would have without them. */
export interface AskedLimits {
  /** Whole seconds, at least 1; undefined for no limit. */
  readonly seconds: number | undefined;
  readonly rows: number | undefined;
  /** Whether a result with more rows is cut there, instead of being an error. */
  readonly cuts: boolean;
  /** Rows that the result has at most, whatever it would have. */
  readonly limit: number | undefined;
}

/** The last value of a setting holds. */
export function askedLimits(settings: readonly SqlSetting[]): AskedLimits {
  const last = (name: string): string | undefined => settings.findLast((one) => one.name === name)?.value;
  const positive = (name: string): number | undefined => {
    const value = Math.ceil(Number(last(name) ?? 0));
    return value > 0 ? value : undefined;
  };
  return {
    seconds: positive('max_execution_time'),
    rows: positive('max_result_rows'),
    cuts: last('result_overflow_mode') === 'break',
    limit: positive('limit'),
  };
}

/** Milliseconds between two headers of progress; null where none are asked for. The standard is that of ClickHouse. */
export function progressIntervalMs(settings: readonly SqlSetting[]): number | null {
  const last = (name: string): string => settings.findLast((one) => one.name === name)?.value ?? '';
  if (plain(last('send_progress_in_http_headers')) !== '1') return null;
  const asked = Number(last('http_headers_progress_interval_ms'));
  return asked > 0 ? asked : 100;
}

/** Those that change what a query means; a query is judged with them. */
export function meaningSettings(settings: readonly SqlSetting[]): readonly SqlSetting[] {
  return settings.filter(({ name }) => Object.hasOwn(MEANING, name));
}

/** Whether names are read as columns before they are read as aliases. The last value of a setting holds. */
export function readsColumnsFirst(settings: readonly SqlSetting[]): boolean {
  return plain(settings.findLast(({ name }) => name === COLUMNS_FIRST)?.value ?? '0') === '1';
}

/** The time zone that was asked for; null for UTC, which holds without one. The last value of the setting holds. */
export function timeZoneOf(settings: readonly SqlSetting[]): string | null {
  const zone = zoneNamed(settings.findLast(({ name }) => name === SESSION_ZONE)?.value ?? '');
  return zone === null || UTC.test(zone) ? null : zone;
}

/** IANA names, as the engine's own data has them: no offsets. */
const ZONE = /^[A-Za-z][A-Za-z0-9_+-]{0,31}(?:\/[A-Za-z0-9_+-]{1,32}){0,2}$/;
const UTC = /^(?:Etc\/)?(?:UTC|GMT)$/;

/** The name as IANA spells it; `UTC` for none. Null for a name that is no time zone. */
function zoneNamed(value: string): string | null {
  if (value === '' || UTC.test(value)) return 'UTC';
  if (!ZONE.test(value)) return null;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: value }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

/** Those that shape the answer, as the engine takes them. */
export function formSettings(settings: readonly SqlSetting[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    settings.filter(({ name }) => FORM.has(name)).map(({ name, value }) => [name, value]),
  );
}
