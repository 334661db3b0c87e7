import { createHash } from 'node:crypto';
import type { ValueKind } from './tables.ts';

/**
 * The text of a row, which its hash is taken of. It depends on the values alone, never on how Parquet encodes them, and it is what
 * the API prints for the row in a JSON answer: wide integers, decimals, times and days as texts, narrow integers and floats as numbers.
 */

/** A row as JSON holds it, in the order of the columns. */
export type RowValues = readonly (string | number | boolean | null | readonly string[])[];

export interface RowColumn {
  readonly name: string;
  readonly kind: ValueKind;
}

export function rowText(values: RowValues): string {
  return JSON.stringify(values);
}

/** The hash of rows in their order: SHA-256 of the names of the columns and of each row, every one as JSON and followed by a newline. */
export interface RowsHash {
  add(values: RowValues): void;
  readonly rows: number;
  digest(): string;
}

export function rowsHash(columns: readonly string[]): RowsHash {
  const hash = createHash('sha256').update(`${JSON.stringify(columns)}\n`);
  let rows = 0;
  return {
    add(values) {
      rows += 1;
      hash.update(`${rowText(values)}\n`);
    },
    get rows() {
      return rows;
    },
    digest: () => hash.digest('hex'),
  };
}

/** What an API printed for a value, in the one form that both sides are compared in. */
export function fromJson(value: unknown, kind: ValueKind): RowValues[number] {
  if (value === null || value === undefined) return null;
  switch (kind) {
    case 'integer':
      return String(value);
    case 'decimal':
      return plainDecimal(String(value));
    case 'small_integer':
      return Number(value);
    case 'float':
      return typeof value === 'string' ? value : Number(value);
    case 'bool':
      return Boolean(value);
    case 'texts':
      return Array.isArray(value) ? value.map(String) : [];
    case 'time':
    case 'date':
    case 'text':
      return String(value);
  }
}

/** Without zeros at the end of its fraction: `1.500000` is `1.5`, `2.000000` is `2`. */
export function plainDecimal(text: string): string {
  return text.includes('.') ? text.replace(/(?:\.|(?<![0.]))0+$/, '') : text;
}
