import { bareType, kindOf, rawText } from '../cells.ts';
import type { SqlColumn } from '../wire.ts';

/** Rows of a result as texts for other programs. Pure, so that tests can run it outside a browser. */

export const COPY_FORMATS = { tsv: 'TSV', json: 'JSON', sql: 'SQL' } as const;
export type CopyFormat = keyof typeof COPY_FORMATS;

interface Rows {
  readonly columns: readonly SqlColumn[];
  readonly rows: readonly (readonly unknown[])[];
}

export function rowsAs(format: CopyFormat, rows: Rows): string {
  switch (format) {
    case 'tsv':
      return asTsv(rows);
    case 'json':
      return asJson(rows);
    case 'sql':
      return asSql(rows);
  }
}

/** For a spreadsheet: values as they were sent, without line ends and tabs. */
function asTsv({ columns, rows }: Rows): string {
  const cell = (value: unknown): string => rawText(value).replace(/[\t\r\n]+/g, ' ');
  return [columns.map(({ name }) => name), ...rows].map((row) => row.map(cell).join('\t')).join('\n');
}

/** An object for each row; of columns of one name, the later ones are numbered. Wide numbers stay texts, which keep every digit. */
function asJson({ columns, rows }: Rows): string {
  const names = distinctNames(columns);
  return JSON.stringify(
    rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index] ?? null]))),
    null,
    2,
  );
}

function distinctNames(columns: readonly SqlColumn[]): string[] {
  const seen = new Map<string, number>();
  return columns.map(({ name }) => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}_${count}`;
  });
}

/** A query that holds the rows: `SELECT * FROM values('payee String, usd Decimal(38, 6)', ('0x…', '1.5'))`. */
function asSql({ columns, rows }: Rows): string {
  const names = distinctNames(columns);
  const structure = columns
    .map(({ type }, index) => `${quotedName(names[index] ?? '')} ${plainType(type)}`)
    .join(', ');
  const values = rows.map(
    (row) => `  (${columns.map(({ type }, index) => literal(row[index], type)).join(', ')})`,
  );
  return `SELECT * FROM values(${quoted(structure)},\n${values.join(',\n')}\n)`;
}

function quotedName(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name.replace(/[\\`]/g, '\\$&')}\``;
}

/** `LowCardinality` is how a column is stored, and no value. */
function plainType(type: string): string {
  const inner = /^LowCardinality\((.*)\)$/.exec(type)?.[1];
  return inner ?? type;
}

function quoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`;
}

function literal(value: unknown, type: string): string {
  if (value === null || value === undefined) return 'NULL';
  if (Array.isArray(value)) {
    const inner = /^Array\((.*)\)$/.exec(bareType(type))?.[1] ?? 'String';
    return `[${value.map((item) => literal(item, inner)).join(', ')}]`;
  }
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const raw = rawText(value);
  if (kindOf(type) === 'time') return quoted(raw.replace(/^(\d{4}-\d{2}-\d{2})T(.*)Z$/, '$1 $2'));
  // Integers need no quotes; of a decimal without them the engine would make a float first.
  return /^U?Int/.test(bareType(type)) && /^-?\d+$/.test(raw) ? raw : quoted(raw);
}
