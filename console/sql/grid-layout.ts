import { cellText, kindOf, type ValueKind } from './values.ts';
import type { SqlResult } from './wire.ts';

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
