/**
 * What the engine itself holds the guest to, whatever text reaches it: the second wall (docs/design/sandbox.md). The embedded
 * engine gets these as a profile in its users file, a remote one as the SQL that docs/operators.md shows; the sandbox reads
 * them back before it runs anything.
 */

const MEBIBYTE = 1024 * 1024;

/** Of the longest tier; each query is sent with the seconds of its own. */
export const GUEST_SECONDS_MAX = 300;
/** Rows of the largest result, and the one more that tells that there are more. */
export const GUEST_ROWS_MAX = 1_000_001;
/** How long a client may take to read a result. A setting of the server and not of the guest: the engine hangs up after it. */
export const RESULT_READ_MAX_SECONDS = 300;
/** Columns in memory: the engine ends a result with the block in which it passes this. */
export const RESULT_MAX_BYTES = 64 * MEBIBYTE;
/** Rows that work goes on with at a time. Small enough that a result is cut, and a query stopped, close to where it should be. */
export const GUEST_BLOCK_ROWS = 8_192;
/** For queries whose work on one row may be long (sandbox/judge/frames.ts): slower, and stopped in time all the same. */
export const GUEST_SMALL_BLOCK_ROWS = 256;
export const GUEST_MEMORY_MAX_BYTES = 500_000_000;
/** For queries whose functions go through long values (sandbox/judge/work.ts): what one step can go through is what can be held. */
export const GUEST_LITTLE_MEMORY_BYTES = 100_000_000;
const GUEST_MEMORY_SHARE = 0.25;
/** A thread's memory is counted in steps of this; with the engine's own 4 MiB a small query is said to have taken none. */
const MEMORY_STEP_BYTES = 65_536;
/** What a sort or an aggregation may put on disk when its memory is not enough. */
const SPILL_MAX_BYTES = 1024 * MEBIBYTE;
/** Without a bound of its own: as long as its tier. Inspections send theirs. */
const SECONDS_UNLESS_SENT = 10;
/** Above all that the sandbox does at once, so that judging a text is never refused while long queries run. */
export const QUERIES_AT_ONCE_MAX = 64;

export type SettingValue = string | number;

/** Bytes that one query of the guest may hold, of an engine that may hold `engineBytes`. */
export function guestMemoryBytes(engineBytes: number): number {
  return Math.min(GUEST_MEMORY_MAX_BYTES, Math.floor(engineBytes * GUEST_MEMORY_SHARE));
}

/** Pinned: with `readonly = 1` nobody changes them, and nothing else either but what `GUEST_CHANGEABLE` names. */
export function guestSettings(memoryBytes: number): Readonly<Record<string, SettingValue>> {
  const spillAfterBytes = Math.floor(memoryBytes / 2);
  return {
    readonly: 1,
    max_execution_time: SECONDS_UNLESS_SENT,
    limit: GUEST_ROWS_MAX,
    max_memory_usage: memoryBytes,
    max_bytes_before_external_group_by: spillAfterBytes,
    max_bytes_before_external_sort: spillAfterBytes,
    max_temporary_data_on_disk_size_for_query: SPILL_MAX_BYTES,
    max_threads: 1,
    // Without it each statement has a thread that formats and one that collects beside its own, and waits for both.
    output_format_parallel_formatting: 0,
    max_untracked_memory: MEMORY_STEP_BYTES,
    max_block_size: GUEST_BLOCK_ROWS,
    // A value that a join repeats is held for each row, so that what a function goes through in one step is what a query may hold.
    enable_lazy_columns_replication: 0,
    max_rows_to_read: 1_000_000_000,
    // The engine ends a result that is too large, and says so by its size; every other limit fails the query.
    max_result_bytes: RESULT_MAX_BYTES,
    result_overflow_mode: 'break',
    max_concurrent_queries_for_user: QUERIES_AT_ONCE_MAX,
    max_ast_depth: 200,
    max_ast_elements: 5_000,
    // A text of 64 KiB is judged inside a statement that holds it as hex digits, twice.
    max_query_size: MEBIBYTE,
    cancel_http_readonly_queries_on_client_close: 1,
    // All versions of a settlement are in one month: its key holds its time. A month of one part is read as it is.
    do_not_merge_across_partitions_select_final: 1,
    // As the standard has it; without these the engine wants UNION DISTINCT, and an alias for every subquery of a join.
    union_default_mode: 'DISTINCT',
    joined_subquery_requires_alias: 0,
    ...STANDARD_NULLS,
    // A text beside a state would become one value of two types, and its bytes could then be read as a state.
    use_variant_as_common_type: 0,
    additional_table_filters: '{}',
    enable_scalar_subquery_optimization: 1,
    ...EXACT_OUTPUT,
  };
}

/**
 * As the standard has it: a row that an outer join adds, and a column that a ROLLUP leaves out, is NULL and no empty value, which
 * would be taken for one that occurs.
 */
export const STANDARD_NULLS: Readonly<Record<string, SettingValue>> = {
  join_use_nulls: 1,
  group_by_use_nulls: 1,
};

/** Numbers that JSON cannot hold exactly are texts, and so are NaN and the infinities. Times say that they are UTC. */
export const EXACT_OUTPUT: Readonly<Record<string, SettingValue>> = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_denormals: 1,
  date_time_output_format: 'iso',
  // Readers of Arrow in browsers know no compressed batches.
  output_format_arrow_compression_method: 'none',
};

/** What each query may say for itself, and within which bounds; null for none. */
export function guestChangeable(
  memoryBytes: number,
): Readonly<Record<string, { readonly min: number; readonly max: number } | null>> {
  return {
    max_execution_time: { min: 1, max: GUEST_SECONDS_MAX },
    limit: { min: 1, max: GUEST_ROWS_MAX },
    max_block_size: { min: GUEST_SMALL_BLOCK_ROWS, max: GUEST_BLOCK_ROWS },
    max_memory_usage: { min: 1, max: Math.max(memoryBytes, GUEST_LITTLE_MEMORY_BYTES) },
    // Sent with the question what the names of a query mean (sandbox/judge/resolve.ts): the first can only take rows away, the second
    // only show more of the tree.
    additional_table_filters: null,
    enable_scalar_subquery_optimization: { min: 0, max: 1 },
  };
}
