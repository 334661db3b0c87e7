import { groupDigits } from '../format.ts';
import type { SqlResult } from '../wire.ts';

/** Values of SQL answers: what they are, how they are written, how they are ordered. Pure: also run by tests outside of a browser. */

export type ValueKind = 'number' | 'time' | 'address' | 'text';

const ADDRESS = /^0x[0-9a-f]{40}$/;

/** By the engine’s type, whatever is wrapped around it. */
export function kindOf(type: string): Exclude<ValueKind, 'address'> {
  const bare = bareType(type);
  if (/^(U?Int\d|Float|BFloat|Decimal)/.test(bare)) return 'number';
  if (/^(Date|DateTime|Time)/.test(bare)) return 'time';
  return 'text';
}

/** `LowCardinality(Nullable(String))` → `String`. */
export function bareType(type: string): string {
  const inner = /^(?:Nullable|LowCardinality)\((.*)\)$/.exec(type)?.[1];
  return inner === undefined ? type : bareType(inner);
}

export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && ADDRESS.test(value);
}

/** As it was sent: what is copied. */
export function rawText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** As it is shown: numbers grouped, every digit kept. */
export function cellText(value: unknown, kind: ValueKind): string {
  if (value === null || value === undefined) return 'NULL';
  const raw = rawText(value);
  return kind === 'number' ? groupDigits(raw) : raw;
}

/** For a picture, which needs no more than a float; null where nothing can be drawn. */
export function chartNumber(value: unknown): number | null {
  if (value === null || value === undefined || value === '') return null;
  const number = typeof value === 'boolean' ? Number(value) : Number(rawText(value));
  return Number.isFinite(number) ? number : null;
}

/** -1, 0 or 1, NULL last. Decimals and wide integers are compared digit by digit, never as floats. */
export function compareValues(a: unknown, b: unknown, kind: ValueKind): number {
  if (isNothing(a) || isNothing(b)) return Number(isNothing(a)) - Number(isNothing(b));
  if (kind !== 'number') return compareTexts(rawText(a), rawText(b));
  return compareNumbers(rawText(a), rawText(b));
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined;
}

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

interface Decimal {
  readonly digits: bigint;
  readonly places: number;
}

function compareNumbers(a: string, b: string): number {
  const left = readDecimal(a);
  const right = readDecimal(b);
  if (left === null || right === null) return compareFloats(floatOf(a), floatOf(b));
  const places = Math.max(left.places, right.places);
  const difference = scaled(left, places) - scaled(right, places);
  if (difference === 0n) return 0;
  return difference < 0n ? -1 : 1;
}

function scaled({ digits, places }: Decimal, wanted: number): bigint {
  return digits * 10n ** BigInt(wanted - places);
}

/** Null for what is none: 1e-7, nan, inf. */
function readDecimal(text: string): Decimal | null {
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

/** What is not a number comes last. */
function compareFloats(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

export interface Sorting {
  readonly column: number;
  readonly descending: boolean;
}

/** The order in which rows are shown: their indexes. Rows that are equal keep the order of the answer. */
export function sortedOrder(
  rows: readonly (readonly unknown[])[],
  sorting: Sorting | null,
  kind: ValueKind,
): readonly number[] {
  const order = rows.map((_row, index) => index);
  if (sorting === null) return order;
  const { column, descending } = sorting;
  const turn = descending ? -1 : 1;
  return order.sort((a, b) => {
    const left = rows[a]?.[column];
    const right = rows[b]?.[column];
    // NULL stays last in both directions: it is no value to look at first.
    if (isNothing(left) || isNothing(right)) return Number(isNothing(left)) - Number(isNothing(right));
    return turn * compareValues(left, right, kind);
  });
}

/** How the result table is laid out. Pure: also run by tests outside of a browser. */

export const ROW_PX = 28;
export const HEAD_PX = 44;
/** Rows drawn above and below what is seen, so that a quick scroll finds them there. */
const OVERSCAN = 8;
/** Widths are read off the beginning: thousands of rows would make every answer wait. */
const SAMPLED_ROWS = 200;
const MIN_CH = 7;
/** A whole address and its button. */
const MAX_CH = 46;
/** Of the cell’s padding, in characters. */
const PADDING_CH = 3;

export interface GridColumn {
  readonly name: string;
  readonly type: string;
  readonly kind: Exclude<ValueKind, 'address'>;
  readonly widthCh: number;
}

export function gridColumns({ columns, rows }: Pick<SqlResult, 'columns' | 'rows'>): readonly GridColumn[] {
  const sample = rows.slice(0, SAMPLED_ROWS);
  return columns.map(({ name, type }, index) => {
    const kind = kindOf(type);
    const longest = sample.reduce(
      (most, row) => Math.max(most, cellText(row[index], kind).length),
      Math.max(name.length + 2, Math.min(type.length, MIN_CH * 2)),
    );
    return { name, type, kind, widthCh: Math.min(MAX_CH, Math.max(MIN_CH, longest + PADDING_CH)) };
  });
}

export interface Window {
  readonly from: number;
  /** Excluded. */
  readonly to: number;
}

/** The rows that have to be there for what is seen. */
export function visibleRows({
  scrollTop,
  height,
  count,
}: {
  readonly scrollTop: number;
  readonly height: number;
  readonly count: number;
}): Window {
  const first = Math.floor(Math.max(0, scrollTop) / ROW_PX);
  const shown = Math.ceil(height / ROW_PX);
  return { from: Math.max(0, first - OVERSCAN), to: Math.min(count, first + shown + OVERSCAN) };
}

export interface CellAt {
  readonly row: number;
  readonly column: number;
}

/** Where a key leads from a cell; null for keys that lead nowhere. Source: the grid pattern of WAI-ARIA. */
export function cellAfter(
  key: string,
  { row, column }: CellAt,
  grid: {
    readonly rows: number;
    readonly columns: number;
    readonly page: number;
    readonly hasControl: boolean;
  },
): CellAt | null {
  const clamp = (at: CellAt): CellAt => ({
    row: Math.min(Math.max(at.row, 0), grid.rows - 1),
    column: Math.min(Math.max(at.column, 0), grid.columns - 1),
  });
  switch (key) {
    case 'ArrowUp':
      return clamp({ row: row - 1, column });
    case 'ArrowDown':
      return clamp({ row: row + 1, column });
    case 'ArrowLeft':
      return clamp({ row, column: column - 1 });
    case 'ArrowRight':
      return clamp({ row, column: column + 1 });
    case 'PageUp':
      return clamp({ row: row - grid.page, column });
    case 'PageDown':
      return clamp({ row: row + grid.page, column });
    case 'Home':
      return clamp({ row: grid.hasControl ? 0 : row, column: 0 });
    case 'End':
      return clamp({ row: grid.hasControl ? grid.rows - 1 : row, column: grid.columns - 1 });
    default:
      return null;
  }
}
