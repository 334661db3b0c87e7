import { SQL_DISK_BYTES } from '../../core/domain/plan.ts';
import { EXACT_OUTPUT } from '../engine/output.ts';
import { GUEST_LITTLE_MEMORY_BYTES, MEMORY_SHARES_MAX, spillSettings } from './memory.ts';

/**
 * The limits that the engine enforces on the guest for every text: the second wall (docs/design/sandbox.md). The embedded engine gets
 * them as a profile in its users file, a remote one as the SQL in docs/operators.md; the sandbox reads them back before it runs
 * anything.
 */

const MEBIBYTE = 1024 * 1024;

/** Time limit of the longest job; each query is sent with the limit of its own tier. */
export const GUEST_SECONDS_MAX = 900;
/** Rows of the largest result, plus one that shows that there are more. */
export const GUEST_ROWS_MAX = 1_000_001;
/** How long a client may take to read a result. A setting of the server, not of the guest: the engine then closes the connection. */
export const RESULT_READ_MAX_SECONDS = 300;
/** Of one parameter of a statement, escaped: a whole body of the API can be one value. The engine's default takes 128 KiB. */
export const PARAMETER_MAX_BYTES = 1024 * 1024;
/**
 * Size of a result's columns in the engine's memory, added up over its blocks: above it the query fails. Four times what an answer may
 * have as it is written, because columns are larger in memory than in a file of Parquet.
 */
export const RESULT_MEMORY_MAX_BYTES = 4 * 1024 * MEBIBYTE;
/** Rows per block, as the engine's default: for queries whose functions are quick enough for it (sandbox/judge/work). */
export const GUEST_FULL_BLOCK_ROWS = 65_409;
/** For functions that take somewhat longer on short values, such as regular expressions over addresses; still on several threads. */
export const GUEST_QUARTER_BLOCK_ROWS = 16_352;
/** Unless a query sends otherwise: small enough that a query stops close to its time limit whatever its functions do. */
export const GUEST_BLOCK_ROWS = 8_192;
/** For queries with much work per row (sandbox/judge/work/frames.ts): slower, but stopped in time. */
export const GUEST_SMALL_BLOCK_ROWS = 256;
/** Unless a query sends otherwise. */
const GUEST_THREADS = 1;
/** A query gets the idle cores of the engine's machine (core/process/places.ts), and never more than this. */
export const GUEST_THREADS_MAX = 64;
/** Granularity of the memory count per thread; with the engine's default of 4 MiB a small query reports no memory. */
const MEMORY_STEP_BYTES = 65_536;
/**
 * Of each file that a query spills to. A join has two files for each of its parts: with the engine's default of 1 MiB, 60 parts of five million
 * rows took more than they saved (26.7.2.1: 182 MB of 190 MB and a failure, against 105 MB with 128 KiB and 55 MB with 32 KiB).
 */
const SPILL_BUFFER_BYTES = 65_536;
/** In which sorted rows are read back from disk, one of each file at once: with the engine's 16 MB, ten files took more than they saved. */
const SORTED_BLOCK_BYTES = 1_000_000;
/** Shares of the server's memory, not of the query's: where they are set, the engine leaves the thresholds in bytes out (26.7.2.1). */
const NO_SPILL_RATIOS = {
  max_bytes_ratio_before_external_group_by: 0,
  max_bytes_ratio_before_external_sort: 0,
  max_bytes_ratio_before_external_join: 0,
} as const;
/** Default time limit. Queries send the limit of their tier, inspections their own. */
const SECONDS_UNLESS_SENT = 10;
/** Above everything that the sandbox runs at once, so that judging a text is never refused while long queries run. */
export const QUERIES_AT_ONCE_MAX = 64;

export type SettingValue = string | number;

/** Pinned: under `readonly = 1` a query can change only the settings of `guestChangeable`. `memoryBytes`: one share (memory.ts). */
export function guestSettings(memoryBytes: number): Readonly<Record<string, SettingValue>> {
  return {
    readonly: 1,
    max_execution_time: SECONDS_UNLESS_SENT,
    limit: GUEST_ROWS_MAX,
    max_memory_usage: memoryBytes,
    ...spillSettings(memoryBytes),
    max_temporary_data_on_disk_size_for_query: SQL_DISK_BYTES.standard,
    temporary_files_buffer_size: SPILL_BUFFER_BYTES,
    prefer_external_sort_block_bytes: SORTED_BLOCK_BYTES,
    ...NO_SPILL_RATIOS,
    max_threads: GUEST_THREADS,
    // Otherwise each statement also starts and waits for a formatting and a collecting thread.
    output_format_parallel_formatting: 0,
    max_untracked_memory: MEMORY_STEP_BYTES,
    max_block_size: GUEST_BLOCK_ROWS,
    // A join stores a repeated value for each row, so that the memory limit bounds what a function processes in one step.
    enable_lazy_columns_replication: 0,
    // Otherwise `ORDER BY block_time, … LIMIT 10` reads two thirds of the table ahead (26.7.2.1: 225 ms and 290 MB against 45 ms and 57 MB).
    read_in_order_use_buffering: 0,
    max_rows_to_read: 1_000_000_000,
    // A result is whole or fails: one that was cut would look whole.
    max_result_bytes: RESULT_MEMORY_MAX_BYTES,
    result_overflow_mode: 'throw',
    max_concurrent_queries_for_user: QUERIES_AT_ONCE_MAX,
    max_ast_depth: 200,
    max_ast_elements: 5_000,
    // The statement that judges a text of 64 KiB holds it as hex digits, twice.
    max_query_size: MEBIBYTE,
    cancel_http_readonly_queries_on_client_close: 1,
    // All versions of a settlement are in the same month, because its key contains its time. A month with one part needs no merge.
    do_not_merge_across_partitions_select_final: 1,
    // Standard SQL; by default the engine requires UNION DISTINCT, and an alias for every subquery of a join.
    union_default_mode: 'DISTINCT',
    joined_subquery_requires_alias: 0,
    ...STANDARD_NULLS,
    // A text and a state would combine into a Variant, and the text's bytes could then be read as a state.
    use_variant_as_common_type: 0,
    additional_table_filters: '{}',
    enable_scalar_subquery_optimization: 1,
    ...EXACT_OUTPUT,
  };
}

/**
 * Standard SQL: rows added by an outer join and columns omitted by a ROLLUP are NULL, not an empty value, which could be mistaken for
 * a real one.
 */
export const STANDARD_NULLS: Readonly<Record<string, SettingValue>> = {
  join_use_nulls: 1,
  group_by_use_nulls: 1,
};

/**
 * Settings that change how a result is written and nothing that it holds or costs. Not on the list, although they are about formats: those
 * that make room (sizes of row groups, levels of compression), name files or schemas, or add text of any length to each row.
 */
export const OUTPUT_SETTINGS: readonly string[] = [
  ...Object.keys(EXACT_OUTPUT),
  'output_format_json_quote_64bit_floats',
  'output_format_json_escape_forward_slashes',
  'output_format_json_named_tuples_as_objects',
  'output_format_json_skip_null_value_in_named_tuples',
  'output_format_json_array_of_rows',
  'output_format_json_validate_utf8',
  'output_format_json_pretty_print',
  'output_format_json_map_as_array_of_tuples',
  'output_format_csv_crlf_end_of_line',
  'output_format_csv_serialize_tuple_into_separate_columns',
  'output_format_csv_header_serialize_tuple_into_separate_columns',
  'output_format_tsv_crlf_end_of_line',
  'output_format_native_encode_types_in_binary_format',
  'output_format_native_write_json_as_string',
  'output_format_native_use_flattened_dynamic_and_json_serialization',
  'output_format_binary_encode_types_in_binary_format',
  'output_format_binary_write_json_as_string',
  'output_format_decimal_trailing_zeros',
  'output_format_write_statistics',
  'output_format_parquet_compression_method',
  'output_format_parquet_string_as_string',
  'output_format_parquet_fixed_string_as_fixed_byte_array',
  'output_format_parquet_datetime_as_uint32',
  'output_format_parquet_date_as_uint16',
  'output_format_parquet_enum_as_byte_array',
  'output_format_arrow_string_as_string',
  'output_format_arrow_fixed_string_as_fixed_byte_array',
  'output_format_arrow_low_cardinality_as_dictionary',
  'output_format_arrow_use_signed_indexes_for_dictionary',
  'output_format_arrow_use_64_bit_indexes_for_dictionary',
  'output_format_arrow_date_as_uint16',
  'output_format_pretty_color',
  'output_format_pretty_grid_charset',
  'output_format_pretty_row_numbers',
  'output_format_pretty_fallback_to_vertical',
  'output_format_pretty_highlight_digit_groups',
  'output_format_pretty_highlight_trailing_spaces',
  'output_format_pretty_named_tuples_as_json',
  'format_csv_delimiter',
  'format_tsv_null_representation',
  'bool_true_representation',
  'bool_false_representation',
];

/** The settings that each query may set, and their bounds; null for none. */
export function guestChangeable(
  memoryBytes: number,
  isNode: boolean,
): Readonly<Record<string, { readonly min: number; readonly max: number } | null>> {
  const memoryMaxBytes = Math.max(memoryBytes * MEMORY_SHARES_MAX, GUEST_LITTLE_MEMORY_BYTES);
  const spill = Object.entries(spillSettings(memoryMaxBytes, true));
  return {
    max_execution_time: { min: 1, max: GUEST_SECONDS_MAX },
    // A cluster's first node sends its part of a query to the others without a limit, and they would raise 0 to the minimum.
    limit: { min: isNode ? 0 : 1, max: GUEST_ROWS_MAX },
    max_block_size: { min: GUEST_SMALL_BLOCK_ROWS, max: GUEST_FULL_BLOCK_ROWS },
    max_threads: { min: 1, max: GUEST_THREADS_MAX },
    max_memory_usage: { min: 1, max: memoryMaxBytes },
    ...Object.fromEntries(spill.map(([name, max]) => [name, { min: 1, max }])),
    max_temporary_data_on_disk_size_for_query: { min: 1, max: SQL_DISK_BYTES.deep },
    // Sent when names are resolved (sandbox/judge/resolved.ts): the first can only remove rows, the second can only show more of the
    // tree.
    additional_table_filters: null,
    enable_scalar_subquery_optimization: { min: 0, max: 1 },
    // Sent with a query that reads names as columns first (sandbox/judge/differences.ts).
    prefer_column_name_to_alias: { min: 0, max: 1 },
    // Sent with a query that asks for a time zone (sandbox/judge/stand-ins.ts).
    session_timezone: null,
    // Sent for a result in one of the engine's own formats.
    ...Object.fromEntries(OUTPUT_SETTINGS.map((name) => [name, null])),
  };
}
