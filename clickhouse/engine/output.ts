/** The forms in which the engine writes values. */

/**
 * Numbers that JSON cannot hold exactly, NaN and the infinities are written as strings. Times carry their zone, UTC. NULL is nothing in
 * CSV, which readers take for NULL; an empty text is written with its quotes.
 */
export const EXACT_OUTPUT = {
  output_format_json_quote_64bit_integers: 1,
  output_format_json_quote_decimals: 1,
  output_format_json_quote_denormals: 1,
  date_time_output_format: 'iso',
  format_csv_null_representation: '',
  // Arrow readers in browsers do not support compressed batches.
  output_format_arrow_compression_method: 'none',
} as const satisfies Readonly<Record<string, string | number>>;

/** What an engine writes by default, in place of `EXACT_OUTPUT`: clients of the ClickHouse interface read these forms. */
export const ENGINE_OUTPUT: Readonly<Record<keyof typeof EXACT_OUTPUT, string | number>> = {
  output_format_json_quote_64bit_integers: 0,
  output_format_json_quote_decimals: 0,
  output_format_json_quote_denormals: 0,
  date_time_output_format: 'simple',
  format_csv_null_representation: '\\N',
  output_format_arrow_compression_method: 'lz4_frame',
};
