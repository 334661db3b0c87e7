/** Formats of the engine that a client may choose. Not those that need a schema, read files, or name tables of their own. */
export const CLICKHOUSE_FORMATS = [
  ...family('TabSeparated', ['', 'WithNames', 'WithNamesAndTypes']),
  ...family('TabSeparatedRaw', ['', 'WithNames', 'WithNamesAndTypes']),
  ...family('TSV', ['', 'WithNames', 'WithNamesAndTypes']),
  ...family('TSVRaw', ['', 'WithNames', 'WithNamesAndTypes']),
  ...family('CSV', ['', 'WithNames', 'WithNamesAndTypes']),
  ...family('JSON', ['', 'Strings', 'Columns', 'ColumnsWithMetadata', 'Lines', 'EachRow', 'StringsEachRow']),
  ...family('JSON', ['EachRowWithProgress', 'StringsEachRowWithProgress', 'ObjectEachRow']),
  ...family('JSONCompact', ['', 'Strings', 'Columns']),
  ...family('JSONCompactEachRow', ['', 'WithNames', 'WithNamesAndTypes']),
  ...family('JSONCompactStringsEachRow', ['', 'WithNames', 'WithNamesAndTypes']),
  ...family('RowBinary', ['', 'WithNames', 'WithNamesAndTypes']),
  ...family('Pretty', ['', 'MonoBlock', 'NoEscapes', 'NoEscapesMonoBlock', 'JSONEachRow', 'JSONLines']),
  ...family('PrettyCompact', ['', 'MonoBlock', 'NoEscapes', 'NoEscapesMonoBlock']),
  ...family('PrettySpace', ['', 'MonoBlock', 'NoEscapes', 'NoEscapesMonoBlock']),
  ...[
    'NDJSON',
    'JSONL',
    'Native',
    'Arrow',
    'ArrowStream',
    'Parquet',
    'Values',
    'Vertical',
    'Markdown',
    'XML',
    // The default of the ODBC driver.
    'ODBCDriver2',
    'Null',
  ],
] as const;

function family(name: string, endings: readonly string[]): string[] {
  return endings.map((ending) => name + ending);
}

const FORMAT_NAMES: ReadonlyMap<string, string> = new Map(
  CLICKHOUSE_FORMATS.map((name) => [name.toLowerCase(), name]),
);

/** The engine's own spelling; undefined for a format that is not available. */
export function clickhouseFormat(name: string): string | undefined {
  return FORMAT_NAMES.get(name.toLowerCase());
}
