import { cellText, kindOf, rawText, type ValueKind } from '../cells.ts';
import type { SqlResult } from '../wire.ts';

/**
 * The order of the rows in the browser, and which of them a filter lets through. The compared value is read once per row, so that ten
 * thousand rows are answered within a moment.
 */

export interface Sorting {
  readonly column: number;
  readonly descending: boolean;
}

/** The key that a value is compared by; null for NULL, which is always last. All keys of a list are of one type. */
type OrderKey = bigint | number | string | null;

/**
 * Plain decimals are compared digit by digit, never as floats. Where a column has other numbers (1e-7, nan, inf), its type is a
 * float, and all are compared as floats; NaN comes after them.
 */
export function orderKeys(values: readonly unknown[], kind: ValueKind): readonly OrderKey[] {
  const texts = values.map((value) => (isNothing(value) ? null : rawText(value)));
  if (kind !== 'number') return texts;
  const decimals = texts.map((text) => (text === null ? null : readDecimal(text)));
  if (decimals.some((decimal, index) => decimal === null && texts[index] !== null))
    return texts.map((text) => (text === null ? null : floatOf(text)));
  const places = decimals.reduce((most, decimal) => Math.max(most, decimal?.places ?? 0), 0);
  return decimals.map((decimal) =>
    decimal === null ? null : decimal.digits * 10n ** BigInt(places - decimal.places),
  );
}

/** -1, 0 or 1, NULL last. */
function compareKeys(a: OrderKey, b: OrderKey): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (a < b) return -1;
  if (a > b) return 1;
  return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined;
}

/** Null where the text is not a plain decimal. */
function readDecimal(text: string): { readonly digits: bigint; readonly places: number } | null {
  const parts = /^(-?\d+)(?:\.(\d+))?$/.exec(text);
  if (parts === null) return null;
  const [, whole = '', fraction = ''] = parts;
  return { digits: BigInt(`${whole}${fraction}`), places: fraction.length };
}

function floatOf(text: string): number {
  if (text === 'inf') return Number.POSITIVE_INFINITY;
  if (text === '-inf') return Number.NEGATIVE_INFINITY;
  return Number(text);
}

/** The indexes of the rows in the order that they are shown in. Equal rows keep the order of the answer. */
export function sortedOrder(
  rows: readonly (readonly unknown[])[],
  sorting: Sorting | null,
  kind: ValueKind,
): readonly number[] {
  const order = rows.map((_row, index) => index);
  if (sorting === null) return order;
  const { column, descending } = sorting;
  const keys = orderKeys(
    rows.map((row) => row[column]),
    kind,
  );
  const turn = descending ? -1 : 1;
  return order.sort((a, b) => {
    const [left = null, right = null] = [keys[a], keys[b]];
    // NULL stays last in both directions.
    return (left === null || right === null ? 1 : turn) * compareKeys(left, right);
  });
}

export interface RowFilter {
  /** The column that is searched; null searches all of them. */
  readonly column: number | null;
  /** A part of the text, or a comparison: `> 100`, `!= base`. */
  readonly text: string;
}

const COMPARISON = /^\s*(>=|<=|!=|=|>|<)\s*([\s\S]+)$/;

type Fits = (value: unknown) => boolean;

/** The places of `order` whose rows the filter lets through. */
export function filteredOrder(
  { columns, rows }: Pick<SqlResult, 'columns' | 'rows'>,
  order: readonly number[],
  { column, text }: RowFilter,
): readonly number[] {
  if (text.trim() === '') return order;
  const compared = COMPARISON.exec(text);
  const fits = columns.map(({ type }) =>
    compared === null
      ? holder(text.trim().toLowerCase(), kindOf(type))
      : comparer(compared[1] ?? '=', (compared[2] ?? '').trim(), kindOf(type)),
  );
  const places = column === null ? columns.map((_column, index) => index) : [column];
  return order.filter((index) => places.some((place) => fits[place]?.(rows[index]?.[place])));
}

/** The texts that the filter finds in a cell: the value as it was sent, and as it is shown. */
function holder(wanted: string, kind: ValueKind): Fits {
  if (kind === 'text')
    return (value) => (isNothing(value) ? wanted === 'null' : rawText(value).toLowerCase().includes(wanted));
  // As they were sent, numbers are not grouped, and times have a T in place of the space.
  const sent = kind === 'number' ? wanted.replaceAll(',', '') : wanted.replace(' ', 't');
  if (sent === '') return () => false;
  return (value) => (isNothing(value) ? wanted === 'null' : rawText(value).toLowerCase().includes(sent));
}

function comparer(sign: string, operand: string, kind: ValueKind): Fits {
  const passes = SIGNS[sign] ?? (() => false);
  if (kind === 'number') {
    const number = operand.replaceAll(',', '');
    if (!/^[+-]?(\d+|\d*\.\d+)$/.test(number)) return () => false;
    return (value) => {
      const [left = null, right = null] = orderKeys([value, number], kind);
      return left !== null && passes(compareKeys(left, right));
    };
  }
  // ISO times of the answer and times as they are shown are compared in one form.
  const wanted = operand.toLowerCase();
  return (value) => !isNothing(value) && passes(compareKeys(cellText(value, kind).toLowerCase(), wanted));
}

const SIGNS: Readonly<Record<string, (order: number) => boolean>> = {
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '=': (order) => order === 0,
  '!=': (order) => order !== 0,
};
