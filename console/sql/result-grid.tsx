// biome-ignore-all lint/a11y/useSemanticElements: only visible rows are in the document, which a <table> cannot express; the grid pattern of WAI-ARIA can
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { CopyButton, copyText } from '../components/copy-button.tsx';
import { announce } from '../components/states.tsx';
import { Link } from '../router.tsx';
import type { SqlResult } from '../wire.ts';
import {
  type CellAt,
  cellAfter,
  cellText,
  type GridColumn,
  gridColumns,
  HEAD_PX,
  isAddress,
  ROW_PX,
  rawText,
  type Sorting,
  sortedOrder,
  visibleRows,
} from './cells.ts';

/** The height of 18 rows; further rows are scrolled to. */
const HEIGHT_MAX_PX = HEAD_PX + 18 * ROW_PX;
/** Height of the horizontal scroll bar. */
const BAR_PX = 14;

/** The rows of a result. Only visible rows are in the document. Arrow keys move, Enter or Ctrl+C copies the cell. */
export function ResultGrid({ result }: { readonly result: SqlResult }) {
  const columns = useMemo(() => gridColumns(result), [result]);
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const [active, setActive] = useState<CellAt | null>(null);
  const order = useMemo(
    () =>
      sortedOrder(
        result.rows,
        sorting,
        sorting === null ? 'text' : (columns[sorting.column]?.kind ?? 'text'),
      ),
    [result, sorting, columns],
  );
  const sort = (column: number): void => {
    const next = nextSorting(sorting, column);
    setSorting(next);
    setActive(null);
    const name = columns[column]?.name ?? '';
    announce(
      next === null
        ? 'In the order of the answer'
        : `Sorted by ${name}, ${next.descending ? 'descending' : 'ascending'}`,
    );
  };
  const value = active === null ? undefined : result.rows[order[active.row] ?? -1]?.[active.column];
  return (
    <div class="grid-box">
      <Scroller {...{ result, columns, order, sorting, active, setActive, sort }} />
      <CellBar column={active === null ? undefined : columns[active.column]} value={value} />
    </div>
  );
}

/** Descending, then ascending, then in the order of the answer. */
function nextSorting(now: Sorting | null, column: number): Sorting | null {
  if (now?.column !== column) return { column, descending: true };
  return now.descending ? { column, descending: false } : null;
}

interface ScrollerProps {
  readonly result: SqlResult;
  readonly columns: readonly GridColumn[];
  readonly order: readonly number[];
  readonly sorting: Sorting | null;
  readonly active: CellAt | null;
  setActive(cell: CellAt | null): void;
  sort(column: number): void;
}

function Scroller({ result, columns, order, sorting, active, setActive, sort }: ScrollerProps) {
  const box = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const height = Math.min(HEIGHT_MAX_PX, HEAD_PX + order.length * ROW_PX + BAR_PX);
  const shown = visibleRows({ scrollTop, height, count: order.length });
  useEffect(() => box.current?.scrollTo({ top: 0 }), [result, order]);
  const move = (event: KeyboardEvent): void => {
    const from = active ?? { row: 0, column: 0 };
    if (isCopy(event)) {
      event.preventDefault();
      void copyCell(result.rows[order[from.row] ?? -1]?.[from.column]);
      return;
    }
    const grid = { rows: order.length, columns: columns.length, page: Math.floor(height / ROW_PX) - 2 };
    const to = cellAfter(event.key, from, { ...grid, hasControl: event.ctrlKey || event.metaKey });
    if (to === null || order.length === 0) return;
    event.preventDefault();
    const next = active === null ? from : to;
    setActive(next);
    reveal(box.current, next.row, next.column);
  };
  return (
    <div
      ref={box}
      class="grid"
      role="grid"
      tabIndex={0}
      aria-label="Result"
      aria-rowcount={order.length + 1}
      aria-colcount={columns.length}
      {...(active === null ? {} : { 'aria-activedescendant': cellId(active) })}
      style={{ height: `${height}px`, '--columns': columns.map(({ widthCh }) => `${widthCh}ch`).join(' ') }}
      onScroll={({ currentTarget }) => setScrollTop(currentTarget.scrollTop)}
      onKeyDown={move}
    >
      <Head columns={columns} sorting={sorting} sort={sort} />
      <div role="rowgroup" class="grid-body" style={{ height: `${order.length * ROW_PX}px` }}>
        {order.slice(shown.from, shown.to).map((index, offset) => (
          <Row
            key={shown.from + offset}
            at={shown.from + offset}
            values={result.rows[index] ?? []}
            columns={columns}
            activeColumn={active?.row === shown.from + offset ? active.column : null}
            setActive={setActive}
          />
        ))}
      </div>
    </div>
  );
}

function isCopy(event: KeyboardEvent): boolean {
  if (event.target !== event.currentTarget) return false;
  const copies = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c';
  return event.key === 'Enter' || (copies && String(getSelection()) === '');
}

async function copyCell(value: unknown): Promise<void> {
  announce((await copyText(rawText(value))) ? 'Cell copied' : 'The cell could not be copied');
}

function reveal(box: HTMLDivElement | null, row: number, column: number): void {
  if (box === null) return;
  const top = row * ROW_PX;
  const bottom = top + ROW_PX + HEAD_PX + BAR_PX - box.clientHeight;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop) box.scrollTop = bottom;
  const head = box.querySelectorAll<HTMLElement>('[role="columnheader"]')[column];
  if (head === undefined) return;
  const right = head.offsetLeft + head.offsetWidth - box.clientWidth;
  if (head.offsetLeft < box.scrollLeft) box.scrollLeft = head.offsetLeft;
  else if (right > box.scrollLeft) box.scrollLeft = right;
}

function cellId({ row, column }: CellAt): string {
  return `cell-${row}-${column}`;
}

function Head({ columns, sorting, sort }: Pick<ScrollerProps, 'columns' | 'sorting' | 'sort'>) {
  return (
    <div role="rowgroup" class="grid-head">
      {/* biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus */}
      <div role="row" class="grid-row" aria-rowindex={1}>
        {columns.map(({ name, type, kind }, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the button in it is focusable
          <div key={index} role="columnheader" aria-sort={sortText(sorting, index)} class={`grid-th ${kind}`}>
            <button type="button" title={`Sort by ${name}`} onClick={() => sort(index)}>
              <span class="grid-name">{name}</span>
              <span class="grid-arrow" aria-hidden="true">
                {arrowOf(sorting, index)}
              </span>
              <span class="grid-type">{type}</span>
            </button>
          </div>
        ))}
      </div>
    </div>
  );
}

function sortText(sorting: Sorting | null, column: number): 'none' | 'ascending' | 'descending' {
  if (sorting?.column !== column) return 'none';
  return sorting.descending ? 'descending' : 'ascending';
}

function arrowOf(sorting: Sorting | null, column: number): string {
  if (sorting?.column !== column) return '';
  return sorting.descending ? '↓' : '↑';
}

interface RowProps {
  readonly at: number;
  readonly values: readonly unknown[];
  readonly columns: readonly GridColumn[];
  readonly activeColumn: number | null;
  setActive(cell: CellAt): void;
}

function Row({ at, values, columns, activeColumn, setActive }: RowProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div
      role="row"
      class={at % 2 === 1 ? 'grid-row odd' : 'grid-row'}
      aria-rowindex={at + 2}
      style={{ transform: `translateY(${at * ROW_PX}px)` }}
    >
      {columns.map(({ kind }, column) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus and names the active cell
        // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys
        <div
          key={column}
          id={cellId({ row: at, column })}
          role="gridcell"
          aria-selected={activeColumn === column}
          class={`grid-cell ${kind}${values[column] == null ? ' null' : ''}`}
          onClick={() => setActive({ row: at, column })}
        >
          <Cell value={values[column]} kind={kind} />
        </div>
      ))}
    </div>
  );
}

function Cell({ value, kind }: { readonly value: unknown; readonly kind: GridColumn['kind'] }) {
  if (isAddress(value))
    return (
      <Link to={`/merchants/${value}`} title="Open this wallet">
        {value}
      </Link>
    );
  return <>{cellText(value, kind)}</>;
}

/** The whole value of the active cell, which its column may cut. */
function CellBar({ column, value }: { readonly column: GridColumn | undefined; readonly value: unknown }) {
  if (column === undefined)
    return <p class="cell-bar muted">Select a cell to see its whole value. Enter copies it.</p>;
  return (
    <div class="cell-bar">
      <span class="muted">{column.name}</span>
      <code>{value == null ? 'NULL' : rawText(value)}</code>
      <CopyButton text={rawText(value)} what="cell" />
    </div>
  );
}
