import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { type CardRole, cardRolesOf } from './card-roles.ts';
import { type List, ListState, PageControls } from './list-state.tsx';
import { Skeleton } from './skeleton.tsx';
import {
  type ApiOrder,
  ClientSortHead,
  isSortable,
  LinkSortHead,
  SortChoice,
  type Sorting,
  sortedRows,
} from './table-sort.tsx';
import { type Fit, useFit } from './use-fit.ts';

/** A column of a table, declared as data. */
export interface Column<Row> {
  /** The header, unique in its table. Where a cell is stacked or a row is a card, the name stands in front of the value. */
  readonly name: string;
  cell(row: Row): ComponentChildren;
  /** Figures are aligned right, in digits of one width. */
  readonly isFigure?: boolean;
  /** Written after every value of the column. */
  readonly unit?: string;
  /** Classes of the cells. */
  readonly class?: string;
  /** The cell is the header of its row. */
  readonly isRowHeader?: boolean;
  /**
   * Which columns give up their own place first where the table does not fit: 3, then 2. Their values then stand below the value of the
   * nearest column of priority 1 to their left (of the first column, where there is none). No column is ever hidden. Default 1.
   */
  readonly priority?: 1 | 2 | 3;
  /** Where the value stands in a row of a narrow screen; by default that follows from the other columns. */
  readonly card?: CardRole;
  /** Makes the column sortable among the rows that are shown. Ascending order; the table turns it round. */
  compare?(a: Row, b: Row): number;
  /** Makes the column sortable by the API: the value that the page puts into its address. Needs `sort` of the table. */
  readonly sortKey?: string;
  /** What the column says, as the title of its header. */
  readonly help?: string;
}

/** The order of rows that the API sorts, kept in the address of the page: the headers are links. */
export type SortControl = ApiOrder;

interface TableProps<Row> {
  /** The name of the table for screen readers. */
  readonly caption: string;
  /** Shows the caption to everybody. */
  readonly isCaptionShown?: boolean;
  readonly columns: readonly Column<Row>[];
  keyOf(row: Row): string;
  /** Classes of the table, for styles of its own. A `compact` table has no frame and stays a table on narrow screens. */
  readonly class?: string;
  /** A class of the row. */
  rowClass?(row: Row): string | undefined;
  readonly sort?: SortControl;
}

export interface DataTableProps<Row> extends TableProps<Row> {
  /** Null while they are read for the first time: the table then shows its headers above grey rows. */
  readonly rows: readonly Row[] | null;
  /** Of rows that are read from the API: what stands in place of the rows, and how to read more of them. */
  readonly list?: List;
  /** In place of the usual sentences where there are no rows. */
  readonly empty?: ComponentChildren;
  /** Grey rows while the rows are read: as many as are expected, so that the page does not jump. Default 8. */
  readonly skeletonRows?: number;
}

const SKELETON_ROWS = 8;

/**
 * A table of dense rows under a header that stays in view. Columns of lower priority are stacked where the width does not suffice, and
 * narrow screens show each row in two lines, with the rest behind a button of the row, so that no value is lost. With `list` it also shows that the rows are loading, could not be
 * read or do not exist, and the controls that page through them.
 */
export function DataTable<Row>({
  rows,
  list,
  empty,
  skeletonRows = SKELETON_ROWS,
  ...table
}: DataTableProps<Row>) {
  if (list === undefined) {
    if (rows?.length === 0 && empty !== undefined) return <>{empty}</>;
    return <Table {...table} rows={rows} skeletonRows={skeletonRows} />;
  }
  const { paging } = list;
  const shown = rows?.length ?? 0;
  // A page of a filtered list can be empty while further pages hold rows: the button must be there.
  const hasPages =
    rows !== null && (shown > 0 || (paging !== undefined && 'hasMore' in paging && paging.hasMore));
  return (
    <>
      <ListState
        {...list}
        rows={rows}
        empty={empty}
        loading={<Table {...table} rows={null} skeletonRows={skeletonRows} what={list.what} />}
      >
        <Table {...table} rows={rows} skeletonRows={skeletonRows} />
      </ListState>
      {paging === undefined || !hasPages ? null : (
        <PageControls what={list.what} paging={paging} shown={shown} />
      )}
    </>
  );
}

interface FramedProps<Row> extends TableProps<Row> {
  readonly rows: readonly Row[] | null;
  readonly skeletonRows: number;
  /** The thing that loads. */
  readonly what?: string;
}

function Table<Row>({ rows, skeletonRows, what = 'rows', ...props }: FramedProps<Row>) {
  const { caption, isCaptionShown = false, columns, class: kind = '', sort } = props;
  const isCompact = kind.split(' ').includes('compact');
  const { frame, fit } = useFit({ priorities: columns.map(({ priority = 1 }) => priority), isCompact });
  const [sorting, setSorting] = useState<Sorting | null>(null);
  const shown = rows === null ? null : sortedRows(rows, columns, sorting);
  const placed = placedColumns(columns, fit);
  const roles = fit.isCards ? cardRolesOf(columns) : null;
  const classes = ['data', kind, fit.isCards && 'is-cards'].filter(Boolean).join(' ');
  const wrapClass = [isCompact ? 'table-plain' : 'table-wrap', fit.isScrolling && 'is-scrolling'];
  return (
    <section
      class={wrapClass.filter(Boolean).join(' ')}
      ref={frame}
      aria-label={caption}
      {...(fit.isScrolling ? { tabIndex: 0 } : {})}
    >
      {fit.isCards ? <SortChoice {...{ columns, sorting, onSort: setSorting, sort }} /> : null}
      {rows === null ? (
        <p class="visually-hidden" role="status">
          Loading {what} …
        </p>
      ) : null}
      <table class={classes} {...(rows === null ? { 'aria-busy': true } : {})}>
        <caption class={isCaptionShown ? undefined : 'visually-hidden'}>{caption}</caption>
        <thead>
          <tr>
            {placed.map(({ column }) => (
              <HeadCell key={column.name} {...{ column, sorting, onSort: setSorting, sort }} />
            ))}
          </tr>
        </thead>
        <tbody>
          {shown === null ? (
            <SkeletonRows placed={placed} count={skeletonRows} />
          ) : (
            shown.map((row) => (
              <Row
                key={props.keyOf(row)}
                row={row}
                placed={placed}
                roles={roles}
                class={props.rowClass?.(row) ?? ''}
              />
            ))
          )}
        </tbody>
      </table>
    </section>
  );
}

interface PlacedColumn<Row> {
  readonly column: Column<Row>;
  /** The columns whose values stand below this one's. */
  readonly stacked: readonly Column<Row>[];
}

/** Which columns have a place of their own, and which stand below another one. */
function placedColumns<Row>(columns: readonly Column<Row>[], { ownUpTo, isCards }: Fit): PlacedColumn<Row>[] {
  // A card has room for all of them, each under its name.
  const isOwn = ({ priority = 1 }: Column<Row>): boolean => isCards || priority <= ownUpTo;
  const own = columns.filter(isOwn);
  const hostOf = (column: Column<Row>): Column<Row> | undefined =>
    columns.slice(0, columns.indexOf(column)).findLast(isOwn) ?? own[0];
  const stacked = columns.filter((column) => !isOwn(column));
  return own.map((column) => ({ column, stacked: stacked.filter((one) => hostOf(one) === column) }));
}

interface HeadCellProps<Row> {
  readonly column: Column<Row>;
  readonly sorting: Sorting | null;
  readonly sort: SortControl | undefined;
  onSort(sorting: Sorting): void;
}

function HeadCell<Row>({ column, sorting, onSort, sort }: HeadCellProps<Row>) {
  const { name, isFigure = false, help } = column;
  const common = { class: isFigure ? 'number' : undefined, scope: 'col' as const, title: help };
  if (!isSortable(column, sort)) return <th {...common}>{name}</th>;
  if (sort !== undefined && column.sortKey !== undefined)
    return <LinkSortHead {...common} name={name} sortKey={column.sortKey} sort={sort} isFigure={isFigure} />;
  return <ClientSortHead {...common} name={name} isFigure={isFigure} sorting={sorting} onSort={onSort} />;
}

interface RowProps<Item> {
  readonly row: Item;
  readonly placed: readonly PlacedColumn<Item>[];
  /** Of each column, where rows have two lines; else null. */
  readonly roles: readonly CardRole[] | null;
  readonly class: string;
}

function Row<Item>({ row, placed, roles, class: kind }: RowProps<Item>) {
  const [isOpen, setOpen] = useState(false);
  const classes = [kind, isOpen && roles !== null && 'is-open'].filter(Boolean).join(' ');
  return (
    <tr {...(classes === '' ? {} : { class: classes })}>
      {placed.map((place, at) => (
        <Cell key={place.column.name} place={place} row={row} role={roles?.[at]} />
      ))}
      {roles?.includes('rest') ? (
        <td class="row-more">
          <button
            type="button"
            class="more-button"
            aria-expanded={isOpen}
            aria-label={isOpen ? 'Show less of this row' : 'Show more of this row'}
            onClick={() => setOpen(!isOpen)}
          >
            <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" focusable="false">
              <path d="M2 4l4 4 4-4" fill="none" stroke="currentColor" stroke-width="1.6" />
            </svg>
          </button>
        </td>
      ) : null}
    </tr>
  );
}

function Cell<Item>({
  place: { column, stacked },
  row,
  role,
}: {
  readonly place: PlacedColumn<Item>;
  readonly row: Item;
  readonly role: CardRole | undefined;
}) {
  const classes = [column.isFigure && 'number', column.class, role && `card-${role}`]
    .filter(Boolean)
    .join(' ');
  const props = classes === '' ? {} : { class: classes };
  const content = (
    <>
      <Value column={column} row={row} />
      {stacked.map((one) => (
        <span key={one.name} class="stacked">
          <span class="stacked-name">{one.name}</span> <Value column={one} row={row} />
        </span>
      ))}
    </>
  );
  if (column.isRowHeader)
    return (
      <th scope="row" {...props}>
        {content}
      </th>
    );
  return (
    <td data-name={column.name} {...props}>
      {content}
    </td>
  );
}

function Value<Row>({ column: { cell, unit }, row }: { readonly column: Column<Row>; readonly row: Row }) {
  return (
    <>
      {cell(row)}
      {unit === undefined ? null : ` ${unit}`}
    </>
  );
}

function SkeletonRows<Row>({
  placed,
  count,
}: {
  readonly placed: readonly PlacedColumn<Row>[];
  readonly count: number;
}) {
  return (
    <>
      {Array.from({ length: count }, (_, row) => (
        <tr key={row} inert>
          {placed.map(({ column }) => (
            <td key={column.name} data-name={column.name} class={column.isFigure ? 'number' : undefined}>
              <Skeleton width={column.isFigure ? 'short' : 'long'} />
            </td>
          ))}
        </tr>
      ))}
    </>
  );
}
