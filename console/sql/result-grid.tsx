// biome-ignore-all lint/a11y/useSemanticElements: only visible rows are in the document, which a <table> cannot express; the grid pattern of WAI-ARIA can
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  type CellAt,
  cellAfter,
  cellText,
  fullText,
  gridColumns,
  HEAD_PX,
  isAddress,
  ROW_PX,
  rawText,
  visibleRows,
} from '../cells.ts';
import { CopyButton, copyText } from '../components/copy-button.tsx';
import { announce } from '../components/states.tsx';
import { countText } from '../format.ts';
import type { SqlResult } from '../wire.ts';
import { rowsAs } from './copy-rows.ts';
import { NO_CHOICES, type ShownColumn, shownColumns, togglePin, withWidth } from './grid-columns.ts';
import { GridHead, type HeadActions } from './grid-head.tsx';
import { GridTools } from './grid-tools.tsx';
import { filteredOrder, type RowFilter, type Sorting, sortedOrder } from './row-order.ts';

/** Height of the horizontal scroll bar. */
const BAR_PX = 14;

interface ResultGridProps {
  readonly result: SqlResult;
  /** Shows a wallet next to the result. */
  onWallet(wallet: string): void;
}

/**
 * The rows of a result. Only visible rows are in the document. Arrow keys move, Enter or Ctrl+C copies the cell, O opens its wallet.
 */
export function ResultGrid({ result, onWallet }: ResultGridProps) {
  const measured = useMemo(() => gridColumns(result), [result.columns, result.rows[0]]);
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const [filter, setFilter] = useState<RowFilter>({ column: null, text: '' });
  const [choices, setChoices] = useState(NO_CHOICES);
  const [active, setActive] = useState<CellAt | null>(null);
  const columns = useMemo(() => shownColumns(measured, choices), [measured, choices]);
  const sorted = useMemo(() => {
    const kind = sorting === null ? 'text' : (measured[sorting.column]?.kind ?? 'text');
    return sortedOrder(result.rows, sorting, kind);
  }, [result.rows, sorting, measured]);
  const order = useMemo(() => filteredOrder(result, sorted, filter), [result, sorted, filter]);
  const at = active === null ? undefined : columns[active.column];
  const value =
    active === null || at === undefined ? undefined : result.rows[order[active.row] ?? -1]?.[at.index];
  const rowsNow = (): readonly (readonly unknown[])[] => order.map((index) => result.rows[index] ?? []);
  const actions: HeadActions = {
    sort: (column) => {
      const next = nextSorting(sorting, column);
      setSorting(next);
      setActive(null);
      announce(sortedText(next, measured[column]?.name ?? ''));
    },
    pin: (column) => {
      setChoices(togglePin(choices, column));
      setActive(null);
    },
    resize: (column, px) => setChoices((before) => withWidth(before, column, px)),
    copyColumn: (column) =>
      void copied(
        rowsAs('tsv', {
          columns: result.columns.slice(column, column + 1),
          rows: rowsNow().map((row) => [row[column]]),
        }),
        'Column',
      ),
  };
  return (
    <div class="grid-box">
      <GridTools
        columns={result.columns}
        filter={filter}
        shownText={
          order.length === result.rows.length
            ? ''
            : `${countText(order.length)} of ${countText(result.rows.length)} rows`
        }
        onFilter={(next) => {
          setFilter(next);
          setActive(null);
        }}
        onCopy={(format) =>
          void copied(
            rowsAs(format, { columns: result.columns, rows: rowsNow() }),
            `${countText(order.length)} rows`,
          )
        }
      />
      <Scroller {...{ result, columns, order, sorting, active, setActive, actions, onWallet }} />
      <CellBar column={at} value={value} onWallet={onWallet} />
    </div>
  );
}

function sortedText(sorting: Sorting | null, name: string): string {
  if (sorting === null) return 'In the order of the answer';
  return `Sorted by ${name}, ${sorting.descending ? 'descending' : 'ascending'}`;
}

async function copied(text: string, what: string): Promise<void> {
  announce((await copyText(text)) ? `${what} copied` : `${what} could not be copied`);
}

/** Descending, then ascending, then in the order of the answer. */
function nextSorting(now: Sorting | null, column: number): Sorting | null {
  if (now?.column !== column) return { column, descending: true };
  return now.descending ? { column, descending: false } : null;
}

interface ScrollerProps {
  readonly result: SqlResult;
  readonly columns: readonly ShownColumn[];
  readonly order: readonly number[];
  readonly sorting: Sorting | null;
  readonly active: CellAt | null;
  readonly actions: HeadActions;
  setActive(cell: CellAt | null): void;
  onWallet(wallet: string): void;
}

function Scroller(props: ScrollerProps) {
  const { result, columns, order, sorting, active, setActive, actions, onWallet } = props;
  const box = useRef<HTMLDivElement>(null);
  const [scrollTop, setScrollTop] = useState(0);
  const height = useHeight(box);
  const wholePx = HEAD_PX + order.length * ROW_PX + BAR_PX;
  const shown = visibleRows({ scrollTop, height, count: order.length });
  useEffect(() => box.current?.scrollTo({ top: 0 }), [order]);
  const valueAt = ({ row, column }: CellAt): unknown =>
    result.rows[order[row] ?? -1]?.[columns[column]?.index ?? -1];
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget) return;
    const from = active ?? { row: 0, column: 0 };
    const value = valueAt(from);
    if (isCopy(event)) {
      event.preventDefault();
      void copied(rawText(value), 'Cell');
      return;
    }
    if (event.key === 'o' && isAddress(value)) {
      onWallet(value);
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
      style={{ height: `${wholePx}px`, '--columns': columns.map(({ width }) => width).join(' ') }}
      onScroll={({ currentTarget }) => setScrollTop(currentTarget.scrollTop)}
      onKeyDown={onKeyDown}
    >
      <GridHead columns={columns} sorting={sorting} {...actions} />
      <div role="rowgroup" class="grid-body" style={{ height: `${order.length * ROW_PX}px` }}>
        {order.slice(shown.from, shown.to).map((index, offset) => (
          <Row
            key={shown.from + offset}
            at={shown.from + offset}
            values={result.rows[index] ?? []}
            columns={columns}
            activeColumn={active?.row === shown.from + offset ? active.column : null}
            setActive={setActive}
            onWallet={onWallet}
          />
        ))}
      </div>
    </div>
  );
}

/** Of the visible part; it follows the splitter and the window. */
function useHeight(box: { readonly current: HTMLElement | null }): number {
  const [height, setHeight] = useState(0);
  useEffect(() => {
    if (box.current === null) return;
    const observer = new ResizeObserver(() => setHeight(box.current?.clientHeight ?? 0));
    observer.observe(box.current);
    return () => observer.disconnect();
  }, [box]);
  return height;
}

function isCopy(event: KeyboardEvent): boolean {
  const copies = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'c';
  return event.key === 'Enter' || (copies && String(getSelection()) === '');
}

function reveal(box: HTMLDivElement | null, row: number, column: number): void {
  if (box === null) return;
  const top = row * ROW_PX;
  const bottom = top + ROW_PX + HEAD_PX + BAR_PX - box.clientHeight;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop) box.scrollTop = bottom;
  const heads = [...box.querySelectorAll<HTMLElement>('[role="columnheader"]')];
  const head = heads[column];
  if (head === undefined || head.classList.contains('pinned')) return;
  // Pinned columns cover the left of what scrolls.
  const covered = heads
    .filter(({ classList }) => classList.contains('pinned'))
    .reduce((sum, { offsetWidth }) => sum + offsetWidth, 0);
  const right = head.offsetLeft + head.offsetWidth - box.clientWidth;
  if (head.offsetLeft - covered < box.scrollLeft) box.scrollLeft = head.offsetLeft - covered;
  else if (right > box.scrollLeft) box.scrollLeft = right;
}

function cellId({ row, column }: CellAt): string {
  return `cell-${row}-${column}`;
}

interface RowProps {
  readonly at: number;
  readonly values: readonly unknown[];
  readonly columns: readonly ShownColumn[];
  readonly activeColumn: number | null;
  setActive(cell: CellAt): void;
  onWallet(wallet: string): void;
}

function Row({ at, values, columns, activeColumn, setActive, onWallet }: RowProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus
    <div
      role="row"
      class={at % 2 === 1 ? 'grid-row odd' : 'grid-row'}
      aria-rowindex={at + 2}
      style={{ transform: `translateY(${at * ROW_PX}px)` }}
    >
      {columns.map(({ kind, index, isPinned, left }, column) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus and names the active cell
        // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys
        <div
          key={index}
          id={cellId({ row: at, column })}
          role="gridcell"
          aria-colindex={column + 1}
          aria-selected={activeColumn === column}
          class={`grid-cell ${kind}${values[index] == null ? ' null' : ''}${isPinned ? ' pinned' : ''}`}
          style={left === null ? {} : { left }}
          onClick={() => setActive({ row: at, column })}
        >
          <Cell value={values[index]} kind={kind} onWallet={onWallet} />
        </div>
      ))}
    </div>
  );
}

interface CellProps {
  readonly value: unknown;
  readonly kind: ShownColumn['kind'];
  onWallet(wallet: string): void;
}

function Cell({ value, kind, onWallet }: CellProps) {
  if (!isAddress(value)) return <>{cellText(value, kind)}</>;
  return (
    <a
      href={`/console/merchants/${value}`}
      tabIndex={-1}
      title="Show this wallet next to the result"
      onClick={(event) => {
        // With a modifier the browser opens the page of the wallet.
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        onWallet(value);
      }}
    >
      {value}
    </a>
  );
}

interface CellBarProps {
  readonly column: ShownColumn | undefined;
  readonly value: unknown;
  onWallet(wallet: string): void;
}

/** Values that need more room than the line of the bar. */
const LINE_CHARS = 120;

/** The whole value of the active cell, which its column may cut. */
function CellBar({ column, value, onWallet }: CellBarProps) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => setOpen(false), [value]);
  if (column === undefined)
    return <p class="cell-bar muted small">Select a cell to see its whole value. Enter copies it.</p>;
  const text = fullText(value);
  const isLong = text.length > LINE_CHARS || text.includes('\n');
  return (
    <div class={isOpen ? 'cell-bar open' : 'cell-bar'}>
      <span class="muted">{column.name}</span>
      {isOpen ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a long value is scrolled with the keys
        <pre tabIndex={0}>{text}</pre>
      ) : (
        <code>{isLong ? rawText(value) : text}</code>
      )}
      <span class="cell-bar-end">
        {isLong ? (
          <button
            type="button"
            class="button small-button"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? 'Fold' : 'Show all'}
          </button>
        ) : null}
        {isAddress(value) ? (
          <button type="button" class="button small-button" onClick={() => onWallet(value)}>
            Show wallet
          </button>
        ) : null}
        <CopyButton text={rawText(value)} what="cell" />
      </span>
    </div>
  );
}
