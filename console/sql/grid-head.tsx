// biome-ignore-all lint/a11y/useSemanticElements: only visible rows are in the document, which a <table> cannot express; the grid pattern of WAI-ARIA can
import { useRef } from 'preact/hooks';
import { friendlyType } from '../cells.ts';
import type { ShownColumn } from './grid-columns.ts';
import type { Sorting } from './row-order.ts';

export interface HeadActions {
  sort(column: number): void;
  pin(column: number): void;
  /** Null: as wide as its values. */
  resize(column: number, px: number | null): void;
  copyColumn(column: number): void;
}

interface GridHeadProps extends HeadActions {
  readonly columns: readonly ShownColumn[];
  readonly sorting: Sorting | null;
}

/** The names and types of the columns. A click sorts, the edge is dragged, the button opens what else can be done. */
export function GridHead({ columns, sorting, ...actions }: GridHeadProps) {
  return (
    <div role="rowgroup" class="grid-head">
      {/* biome-ignore lint/a11y/useFocusableInteractive: the grid has the focus */}
      <div role="row" class="grid-row" aria-rowindex={1}>
        {columns.map((column, place) => (
          <HeadCell key={column.index} {...{ column, place, sorting }} {...actions} />
        ))}
      </div>
    </div>
  );
}

interface HeadCellProps extends HeadActions {
  readonly column: ShownColumn;
  readonly place: number;
  readonly sorting: Sorting | null;
}

function HeadCell({ column, place, sorting, ...actions }: HeadCellProps) {
  const { index, name, type, kind, isPinned, left } = column;
  const cell = useRef<HTMLDivElement>(null);
  const menu = useRef<HTMLDivElement>(null);
  const openMenu = (button: HTMLElement): void => {
    const { bottom, right } = button.getBoundingClientRect();
    const shown = menu.current;
    if (shown === null) return;
    shown.showPopover();
    shown.style.top = `${bottom + 2}px`;
    shown.style.left = `${Math.max(8, Math.min(right - shown.offsetWidth, innerWidth - shown.offsetWidth - 8))}px`;
    shown.querySelector('button')?.focus();
  };
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the buttons in it are focusable
    <div
      ref={cell}
      role="columnheader"
      aria-colindex={place + 1}
      aria-sort={sortText(sorting, index)}
      class={`grid-th ${kind}${isPinned ? ' pinned' : ''}`}
      style={left === null ? {} : { left }}
    >
      <button
        type="button"
        class="grid-sort"
        title={`Sort by ${name}. ${type}`}
        onClick={() => actions.sort(index)}
      >
        <span class="grid-name">{name}</span>
        <span aria-hidden="true">{arrowOf(sorting, index)}</span>
        <span class="grid-type">{friendlyType(type)}</span>
      </button>
      <button
        type="button"
        class="grid-more"
        aria-label={`Column ${name}`}
        aria-haspopup="menu"
        title="Pin, width, copy"
        onClick={({ currentTarget }) => openMenu(currentTarget)}
      >
        ⋮
      </button>
      <Edge onResize={(px) => actions.resize(index, px)} cell={cell} />
      <div ref={menu} popover="auto" class="menu" role="menu" aria-label={`Column ${name}`}>
        <MenuItems {...{ column, cell, menu }} {...actions} />
      </div>
    </div>
  );
}

const STEP_PX = 48;

interface MenuItemsProps extends HeadActions {
  readonly column: ShownColumn;
  readonly cell: { readonly current: HTMLElement | null };
  readonly menu: { readonly current: HTMLElement | null };
}

function MenuItems({ column: { index, name, type, isPinned }, cell, menu, ...actions }: MenuItemsProps) {
  const width = (): number => cell.current?.offsetWidth ?? 0;
  const items: readonly (readonly [text: string, act: () => void, staysOpen?: boolean])[] = [
    [isPinned ? 'Unpin' : 'Pin to the left', () => actions.pin(index)],
    ['Wider', () => actions.resize(index, width() + STEP_PX), true],
    ['Narrower', () => actions.resize(index, width() - STEP_PX), true],
    ['Fit to the values', () => actions.resize(index, null)],
    ['Copy the column', () => actions.copyColumn(index)],
  ];
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const buttons = [...(menu.current?.querySelectorAll('button') ?? [])];
    const at = buttons.findIndex((button) => button.matches(':focus'));
    buttons[(at + step + buttons.length) % buttons.length]?.focus();
  };
  return (
    <>
      <p class="menu-title muted small">
        {name} <code>{type}</code>
      </p>
      {items.map(([text, act, staysOpen = false]) => (
        <button
          key={text}
          type="button"
          role="menuitem"
          tabIndex={-1}
          onKeyDown={move}
          onClick={() => {
            act();
            if (!staysOpen) menu.current?.hidePopover();
          }}
        >
          {text}
        </button>
      ))}
    </>
  );
}

/** The right edge of a header, which is dragged. With the keyboard the menu does the same. */
function Edge({
  onResize,
  cell,
}: {
  onResize(px: number | null): void;
  readonly cell: { readonly current: HTMLElement | null };
}) {
  const drag = useRef<{ readonly startX: number; readonly startPx: number } | null>(null);
  const end = (): void => {
    drag.current = null;
  };
  return (
    <span
      class="grid-edge"
      aria-hidden="true"
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { startX: event.clientX, startPx: cell.current?.offsetWidth ?? 0 };
      }}
      onPointerMove={(event) => {
        if (drag.current !== null) onResize(drag.current.startPx + event.clientX - drag.current.startX);
      }}
      onPointerUp={end}
      onPointerCancel={end}
      onDblClick={() => onResize(null)}
    />
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
