import type { ComponentChildren } from 'preact';
import type { ApiProblem } from '../api.ts';
import { Link } from '../router.tsx';
import { offsetOf, withQuery } from '../routes.ts';
import { EmptyState, Loading, ProblemState } from './states.tsx';
import { Time } from './time.tsx';

/** What a list shows apart from its rows: that they are loading, failed or do not exist, and how to read more of them. */

/** The state of a list apart from its rows. The hooks of `use-list.ts` give all but `what`. */
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
  /** In place of the rows while they are read for the first time; without it, grey lines. */
  readonly loading?: ComponentChildren;
  /** In place of the usual sentences where there are no rows. */
  readonly empty?: ComponentChildren;
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
  loading,
  empty,
  children,
}: ListStateProps) {
  const failure = problem === null ? null : <ProblemState problem={problem} onRetry={reload} />;
  if (rows === null) return failure ?? loading ?? <Loading what={what} />;
  if (rows.length === 0)
    return failure ?? empty ?? <NoRows what={what} meta={meta} isFiltered={isFiltered} />;
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

/** The controls that page through a list. */
export function PageControls({ paging, ...props }: PageControlsProps<Paging>) {
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
