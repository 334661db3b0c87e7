import type { ComponentChildren } from 'preact';
import type { ApiProblem } from '../api.ts';
import { Time } from '../components/figures.tsx';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import { Link } from '../router.tsx';
import { offsetOf, withQuery } from '../routes.ts';

/** A column of a table, declared as data. */
export interface Column<Row> {
  /** The header. On narrow screens each row is a card, and the name stands above the value. */
  readonly name: string;
  cell(row: Row): ComponentChildren;
  /** Figures are aligned right. */
  readonly isFigure?: boolean;
  /** Written after every value of the column. */
  readonly unit?: string;
  /** Classes of the cells. */
  readonly class?: string;
  /** Hidden on narrow screens. */
  readonly isWideOnly?: boolean;
  /** The cell is the header of its row. */
  readonly isRowHeader?: boolean;
}

interface TableProps<Row> {
  readonly caption: string;
  /** The caption is for screen readers unless it is shown. */
  readonly isCaptionShown?: boolean;
  readonly columns: readonly Column<Row>[];
  keyOf(row: Row): string;
  /** A class of the table, for styles of its own. `compact` tables stay tables on narrow screens. */
  readonly class?: 'settlements' | 'compact';
  /** A class of the row. */
  rowClass?(row: Row): string | undefined;
}

interface DataTableProps<Row> extends TableProps<Row> {
  readonly rows: readonly Row[] | null;
  /** Of rows that are read from the API: what stands in place of the rows, and how to read more of them. */
  readonly list?: List;
}

/**
 * A table. With `list` it also shows that the rows are loading, could not be read or do not exist, and the controls that page through
 * them.
 */
export function DataTable<Row>({ rows, list, ...table }: DataTableProps<Row>) {
  const body = <Table {...table} rows={rows ?? []} />;
  if (list === undefined) return body;
  const { paging } = list;
  const shown = rows?.length ?? 0;
  // A page of a filtered list can be empty while further pages hold rows: the button must be there.
  const hasPages =
    rows !== null && (shown > 0 || (paging !== undefined && 'hasMore' in paging && paging.hasMore));
  return (
    <>
      <ListState {...list} rows={rows}>
        {body}
      </ListState>
      {paging === undefined || !hasPages ? null : (
        <PageControls what={list.what} paging={paging} shown={shown} />
      )}
    </>
  );
}

function Table<Row>({
  caption,
  isCaptionShown = false,
  columns,
  rows,
  keyOf,
  class: kind,
  rowClass,
}: TableProps<Row> & { readonly rows: readonly Row[] }) {
  const table = (
    <table class={kind === undefined ? 'data' : `data ${kind}`}>
      <caption class={isCaptionShown ? undefined : 'visually-hidden'}>{caption}</caption>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column.name} scope="col" class={column.isFigure ? 'number' : undefined}>
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)} class={rowClass?.(row)}>
            {columns.map((column) => (
              <Cell key={column.name} column={column} row={row} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
  if (kind === 'compact') return table;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls, and keyboards must be able to scroll it
    <section class="table-wrap" aria-label={caption} tabIndex={0}>
      {table}
    </section>
  );
}

function Cell<Row>({ column, row }: { readonly column: Column<Row>; readonly row: Row }) {
  const { name, isFigure, isWideOnly, isRowHeader, unit } = column;
  const classes = [isFigure && 'number', isWideOnly && 'wide-only', column.class].filter(Boolean).join(' ');
  const props = classes === '' ? {} : { class: classes };
  const value = (
    <>
      {column.cell(row)}
      {unit === undefined ? null : ` ${unit}`}
    </>
  );
  if (isRowHeader)
    return (
      <th scope="row" {...props}>
        {value}
      </th>
    );
  return (
    <td data-name={name} {...props}>
      {value}
    </td>
  );
}

/** What a list is apart from its rows. The hooks of `use-list.ts` give all but `what`. */
export interface List {
  /** What the rows are, for sentences: `settlements`. */
  readonly what: string;
  /** Null until there is an answer. */
  readonly meta: { readonly dataset_last_written_at?: string | null } | null;
  readonly problem: ApiProblem | null;
  readonly isFiltered?: boolean;
  readonly paging?: Paging;
  reload(): void;
}

interface ListStateProps extends Omit<List, 'paging'> {
  readonly rows: readonly unknown[] | null;
  readonly children: ComponentChildren;
}

/** A list while it is loading, failed, empty or shown; a failed refresh stands above the rows that were read before. */
export function ListState({
  what,
  rows,
  meta,
  problem,
  isFiltered = false,
  reload,
  children,
}: ListStateProps) {
  const failure = problem === null ? null : <ProblemState problem={problem} onRetry={reload} />;
  if (rows === null) return failure ?? <Loading what={what} />;
  if (rows.length === 0) return failure ?? <NoRows what={what} meta={meta} isFiltered={isFiltered} />;
  return (
    <>
      {failure}
      {children}
    </>
  );
}

/** An empty list can mean an empty index, filters that match nothing, or that there is nothing of the kind. */
function NoRows({ what, meta, isFiltered }: Pick<List, 'what' | 'meta'> & { readonly isFiltered: boolean }) {
  if (meta?.dataset_last_written_at === null)
    return (
      <EmptyState title="Nothing has been indexed yet">
        <p>The service is running, but its index is still empty. Rows appear here as blocks are read.</p>
      </EmptyState>
    );
  return (
    <EmptyState title={isFiltered ? `No ${what} match these filters` : `No ${what}`}>
      <p>
        {isFiltered
          ? 'Change or remove a filter to see more.'
          : 'There are none on the indexed chains in the indexed period.'}
        {meta?.dataset_last_written_at ? (
          <>
            {' '}
            The index was last written <Time at={meta.dataset_last_written_at} ago />.
          </>
        ) : null}
      </p>
    </EmptyState>
  );
}

/** By cursor: rows are added below. By offset: another page takes the place of this one. */
export type Paging = CursorPaging | OffsetPaging;

interface CursorPaging {
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  more(): void;
}

interface OffsetPaging {
  /** Path of the page below /console. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly limit: number;
  readonly nextOffset: number | null;
}

interface PageControlsProps<Kind extends Paging> {
  readonly what: string;
  readonly paging: Kind;
  readonly shown: number;
}

function PageControls({ paging, ...props }: PageControlsProps<Paging>) {
  return 'hasMore' in paging ? (
    <MoreButton paging={paging} {...props} />
  ) : (
    <OffsetLinks paging={paging} {...props} />
  );
}

function MoreButton({ what, paging: { hasMore, isLoading, more }, shown }: PageControlsProps<CursorPaging>) {
  return (
    <div class="list-foot">
      <span class="muted small">
        {shown} {what} shown{hasMore ? '' : ', that is all'}
      </span>
      {hasMore ? (
        <button type="button" class="button" disabled={isLoading} onClick={more}>
          {isLoading ? 'Loading …' : 'Show more'}
        </button>
      ) : null}
    </div>
  );
}

/** Plain links: a page can be shared, and opened in a new tab. */
function OffsetLinks({
  what,
  paging: { path, query, limit, nextOffset },
  shown,
}: PageControlsProps<OffsetPaging>) {
  const offset = offsetOf(query);
  if (offset === 0 && nextOffset === null) return null;
  const to = (position: number): string =>
    withQuery(path, query, { offset: position === 0 ? null : String(position) });
  return (
    <nav class="list-foot" aria-label={`Pages of ${what}`}>
      <span class="muted small">
        {offset + 1} to {offset + shown}
      </span>
      {offset > 0 ? (
        <Link class="button" to={to(Math.max(0, offset - limit))}>
          ← Previous
        </Link>
      ) : null}
      {nextOffset === null ? null : (
        <Link class="button" to={to(nextOffset)}>
          Next →
        </Link>
      )}
    </nav>
  );
}
