import { isAddressText } from './account-texts.ts';
import { groupDigits } from './format.ts';
import type { SqlResult } from './wire.ts';

/** Cells of SQL results: their kind, text and layout in the grid. Pure, so that tests can run it outside a browser. */

export type ValueKind = 'number' | 'time' | 'address' | 'text';

/** By the type of the engine, without its wrappers. */
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

/** A type in a word that needs no manual. The exact one is shown with it. */
export function friendlyType(type: string): string {
  const bare = bareType(type);
  if (/^U?Int/.test(bare)) return 'integer';
  if (bare.startsWith('Decimal')) return 'decimal';
  if (/^(Float|BFloat)/.test(bare)) return 'float';
  if (/^Date(32)?$/.test(bare)) return 'date';
  if (/^(DateTime|Time)/.test(bare)) return 'time, UTC';
  if (bare === 'Bool') return 'yes or no';
  if (bare.startsWith('Array(')) return `list of ${friendlyType(bare.slice('Array('.length, -1))}`;
  if (bare.startsWith('Map(')) return 'map';
  if (bare.startsWith('Tuple(')) return 'tuple';
  if (/^(Fixed)?String|^Enum/.test(bare)) return 'text';
  return bare;
}

export function isAddress(value: unknown): value is string {
  return typeof value === 'string' && isAddressText(value);
}

/** The value as it was sent, for copying. */
export function rawText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The text of a cell: numbers are grouped and keep all digits, times are in UTC as their column says. */
export function cellText(value: unknown, kind: ValueKind): string {
  if (value === null || value === undefined) return 'NULL';
  const raw = rawText(value);
  if (kind === 'number') return groupDigits(raw);
  return kind === 'time' ? raw.replace(/^(\d{4}-\d{2}-\d{2})T(.*)Z$/, '$1 $2') : raw;
}

/** The whole value for reading: lists and maps with a line for each part. */
export function fullText(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : rawText(value);
}

/** A value as a float for a chart; null where it cannot be drawn. */
export function chartNumber(value: unknown): number | null {
  if (value === null || value === undefined || value === '') return null;
  const number = typeof value === 'boolean' ? Number(value) : Number(rawText(value));
  return Number.isFinite(number) ? number : null;
}

export const ROW_PX = 28;
export const HEAD_PX = 44;
/** Rows that are drawn above and below the visible ones, for quick scrolling. */
const OVERSCAN = 8;
/** Rows that the widths of columns are measured on: thousands would delay every answer. */
const SAMPLED_ROWS = 200;
const MIN_CH = 7;
/** Fits a whole address. */
const MAX_CH = 46;
/** Padding of a cell, in characters. */
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
      // The arrow of sorting and the button of the column are behind the name.
      Math.max(name.length + 4, friendlyType(type).length + 3),
    );
    return { name, type, kind, widthCh: Math.min(MAX_CH, Math.max(MIN_CH, longest + PADDING_CH)) };
  });
}

interface TextWindow {
  readonly from: number;
  /** Exclusive. */
  readonly to: number;
}

/** The rows that must be in the document for a scroll position. */
export function visibleRows({
  scrollTop,
  height,
  count,
}: {
  readonly scrollTop: number;
  readonly height: number;
  readonly count: number;
}): TextWindow {
  const first = Math.floor(Math.max(0, scrollTop) / ROW_PX);
  const shown = Math.ceil(height / ROW_PX);
  return { from: Math.max(0, first - OVERSCAN), to: Math.min(count, first + shown + OVERSCAN) };
}

export interface CellAt {
  readonly row: number;
  readonly column: number;
}

/** The cell that a key moves to; null for other keys. Source: the grid pattern of WAI-ARIA. */
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
