import { Link, navigate } from '../router.tsx';

/** The order of the rows of a table: sortable headers, and the same choice as a field where rows are cards. */

/** What sorting needs to know of a column. */
export interface SortableColumn<Row> {
  readonly name: string;
  /** Figures begin with the largest. */
  readonly isFigure?: boolean;
  /** Sorts the rows that are shown. Ascending order. */
  compare?(a: Row, b: Row): number;
  /** What the API calls the column in an order. */
  readonly sortKey?: string;
}

/** The order of rows that the API sorts, kept in the address of the page: the headers are links. */
export interface ApiOrder {
  /** The `sortKey` of the column that the rows are sorted by. */
  readonly by: string;
  readonly isDescending: boolean;
  /** The path below /console with another order. */
  to(by: string, isDescending: boolean): string;
}

/** The order that the visitor chose among the rows that are shown. */
export interface Sorting {
  readonly name: string;
  readonly isDescending: boolean;
}

export function isSortable<Row>(
  { compare, sortKey }: SortableColumn<Row>,
  sort: ApiOrder | undefined,
): boolean {
  return compare !== undefined || (sortKey !== undefined && sort !== undefined);
}

/** The rows in the chosen order; equal rows keep theirs. */
export function sortedRows<Row>(
  rows: readonly Row[],
  columns: readonly SortableColumn<Row>[],
  sorting: Sorting | null,
): readonly Row[] {
  const compare = columns.find(({ name }) => name === sorting?.name)?.compare;
  if (sorting === null || compare === undefined) return rows;
  const turn = sorting.isDescending ? -1 : 1;
  return [...rows].sort((a, b) => turn * compare(a, b));
}

interface HeadProps {
  readonly class: string | undefined;
  readonly scope: 'col';
  readonly title: string | undefined;
  readonly name: string;
  /** Figures begin with the largest, texts with A. */
  readonly isFigure: boolean;
}

interface ClientSortHeadProps extends HeadProps {
  readonly sorting: Sorting | null;
  onSort(sorting: Sorting): void;
}

/** A header whose button sorts the rows that are shown. */
export function ClientSortHead({ name, isFigure, sorting, onSort, ...common }: ClientSortHeadProps) {
  const order = sorting?.name === name ? sorting : null;
  return (
    <th {...common} aria-sort={ariaSortOf(order)}>
      <button
        type="button"
        class="sort-head"
        onClick={() => onSort({ name, isDescending: order === null ? isFigure : !order.isDescending })}
      >
        {name}
        <SortMark order={order} />
      </button>
    </th>
  );
}

interface LinkSortHeadProps extends HeadProps {
  readonly sortKey: string;
  readonly sort: ApiOrder;
}

/** A header that links to the page in another order. */
export function LinkSortHead({ name, isFigure, sortKey, sort, ...common }: LinkSortHeadProps) {
  const order = sort.by === sortKey ? sort : null;
  const next = order === null ? isFigure : !order.isDescending;
  return (
    <th {...common} aria-sort={ariaSortOf(order)}>
      <Link class="sort-head" to={sort.to(sortKey, next)}>
        {name}
        <SortMark order={order} />
      </Link>
    </th>
  );
}

type Order = { readonly isDescending: boolean } | null;

function ariaSortOf(order: Order): 'ascending' | 'descending' | 'none' {
  if (order === null) return 'none';
  return order.isDescending ? 'descending' : 'ascending';
}

/** An arrow; drawn, because not every font has the characters. Unsorted columns show it under the pointer only. */
function SortMark({ order }: { readonly order: Order }) {
  return (
    <svg class={order === null ? 'sort-mark' : 'sort-mark is-on'} viewBox="0 0 8 8" aria-hidden="true">
      <path d={order?.isDescending === false ? 'M1 6 4 2 7 6Z' : 'M1 2 4 6 7 2Z'} />
    </svg>
  );
}

interface SortChoiceProps<Row> {
  readonly columns: readonly SortableColumn<Row>[];
  readonly sorting: Sorting | null;
  readonly sort: ApiOrder | undefined;
  onSort(sorting: Sorting): void;
}

/** In place of the headers, which cards do not have. */
export function SortChoice<Row>({ columns, sorting, sort, onSort }: SortChoiceProps<Row>) {
  const sortable = columns.filter((column) => isSortable(column, sort));
  if (sortable.length === 0) return null;
  const current = sortable.find((column) =>
    sort !== undefined && column.sortKey !== undefined
      ? column.sortKey === sort.by
      : column.name === sorting?.name,
  );
  const choose = (name: string): void => {
    const column = sortable.find((one) => one.name === name);
    if (column === undefined) return;
    const isDescending = column.isFigure ?? false;
    if (sort !== undefined && column.sortKey !== undefined) navigate(sort.to(column.sortKey, isDescending));
    else onSort({ name, isDescending });
  };
  return (
    <label class="sort-choice">
      <span>Sort by</span>
      <select value={current?.name ?? ''} onChange={({ currentTarget }) => choose(currentTarget.value)}>
        {current === undefined ? <option value="">as listed</option> : null}
        {sortable.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}
