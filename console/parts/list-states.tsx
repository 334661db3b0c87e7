import type { ComponentChildren } from 'preact';
import { Time } from '../components/figures.tsx';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import type { ApiProblem } from '../problem.ts';
import type { Meta } from './wire.ts';

interface ListStateProps {
  /** What the list holds, for sentences: `settlements`. */
  readonly what: string;
  readonly rows: readonly unknown[] | null;
  readonly meta: Meta | null;
  readonly problem: ApiProblem | null;
  readonly isFiltered?: boolean;
  readonly onRetry: () => void;
  readonly children: ComponentChildren;
}

/** A list in whichever state it is: on its way, refused, empty for one of three reasons, or shown; a failed refresh stands above it. */
export function ListState({
  what,
  rows,
  meta,
  problem,
  isFiltered = false,
  onRetry,
  children,
}: ListStateProps) {
  const trouble = problem === null ? null : <ProblemState problem={problem} onRetry={onRetry} />;
  if (rows === null) return trouble ?? <Loading what={what} />;
  if (rows.length > 0)
    return (
      <>
        {trouble}
        {children}
      </>
    );
  return trouble ?? <NoRows what={what} meta={meta} isFiltered={isFiltered} />;
}

interface NoRowsProps {
  readonly what: string;
  readonly meta: Meta | null;
  readonly isFiltered: boolean;
}

/** An empty list is an answer. It means less while the index has nothing at all. */
function NoRows({ what, meta, isFiltered }: NoRowsProps) {
  if (meta?.dataset_last_written_at === null)
    return (
      <EmptyState title="Nothing has been indexed yet">
        <p>The service works; its index is still empty. This fills as blocks are read.</p>
      </EmptyState>
    );
  return (
    <EmptyState title={isFiltered ? `No ${what} match these filters` : `No ${what}`}>
      <p>
        {isFiltered
          ? 'Widen a filter to see more.'
          : 'There are none on the chains and from the time that are indexed.'}
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

interface MoreButtonProps {
  readonly hasMore: boolean;
  readonly isLoading: boolean;
  readonly shown: number;
  readonly what: string;
  more(): void;
}

export function MoreButton({ hasMore, isLoading, shown, what, more }: MoreButtonProps) {
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
