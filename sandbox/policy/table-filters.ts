/**
 * Reads the value of `additional_table_filters`: a map of ClickHouse, `{'table': 'condition', …}`, whose texts escape quotes by a backslash
 * or by doubling. In one pass, with one index that only moves forward.
 */

/** Grafana filters the table of a panel; a dashboard's query joins a few. */
const FILTERS_MAX = 20;
const FILTERS_MAX_CHARS = 8_192;

type TableFilter = readonly [table: string, condition: string];

/** Null for a text that is no such map. */
export function readTableFilters(value: string): readonly TableFilter[] | null {
  if (value.length > FILTERS_MAX_CHARS) return null;
  const reader = { value, at: 0 };
  const filters = took(reader, '{') ? entriesOf(reader) : null;
  skipSpaces(reader);
  return reader.at === value.length ? filters : null;
}

/** The entries up to the bracket that closes them. */
function entriesOf(reader: TextReader): readonly TableFilter[] | null {
  const filters: TableFilter[] = [];
  if (took(reader, '}')) return filters;
  while (filters.length < FILTERS_MAX) {
    const table = textAt(reader);
    const condition = table !== null && took(reader, ':') ? textAt(reader) : null;
    if (table === null || condition === null) return null;
    filters.push([table, condition]);
    if (!took(reader, ',')) return took(reader, '}') ? filters : null;
  }
  return null;
}

interface TextReader {
  readonly value: string;
  at: number;
}

function skipSpaces(reader: TextReader): void {
  while (/\s/.test(reader.value.charAt(reader.at))) reader.at += 1;
}

function took(reader: TextReader, sign: string): boolean {
  skipSpaces(reader);
  if (reader.value.charAt(reader.at) !== sign) return false;
  reader.at += 1;
  return true;
}

/** A text in single quotes. An escape other than of a quote or a backslash is left as it is. */
function textAt(reader: TextReader): string | null {
  if (!took(reader, "'")) return null;
  let text = '';
  while (reader.at < reader.value.length) {
    const letter = reader.value.charAt(reader.at);
    const next = reader.value.charAt(reader.at + 1);
    const isEscape = (letter === '\\' && /['\\]/.test(next)) || (letter === "'" && next === "'");
    if (letter === "'" && !isEscape) {
      reader.at += 1;
      return text;
    }
    text += isEscape ? next : letter;
    reader.at += isEscape ? 2 : 1;
  }
  return null;
}
