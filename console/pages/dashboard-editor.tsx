import { segment, useIsLentKey } from '../api.ts';
import { Loading, NeedsOwnKey, ProblemState } from '../components/states.tsx';
import { draftOf, EMPTY_DRAFT } from '../dashboard/drafts.ts';
import { BoardEditor } from '../dashboard/editor.tsx';
import { PageHead } from '../parts/page-head.tsx';
import type { PageProps } from '../routes.ts';
import { SAVED_PATH } from '../sql/saved-api.ts';
import { useAnswer } from '../use-answer.ts';
import type { Dashboard, SavedQueries } from '../wire.ts';

/** Queries of one organization that can be chosen from. */
const QUERIES_MAX = 100;

/** A new dashboard, or the next version of one. */
export function DashboardEditorPage({ params: { owner, slug = '' } }: PageProps) {
  const isLent = useIsLentKey();
  return (
    <>
      <PageHead title={owner === undefined ? 'New dashboard' : 'Edit the dashboard'}>
        Panels of your saved queries. Placeholders named period, hours, days, chain and wallet follow what a
        reader chooses; a panel shows the newest result that your calls or refreshes left.
      </PageHead>
      {isLent ? (
        <NeedsOwnKey />
      ) : (
        <ReadBoard
          path={owner === undefined ? null : `/dashboards/${segment(owner)}/${segment(slug)}`}
          key={slug}
        />
      )}
    </>
  );
}

/** Reads the queries, and the dashboard that is edited. `path` is null for a new one. */
function ReadBoard({ path }: { readonly path: string | null }) {
  const board = useAnswer<{ readonly dashboard: Dashboard }>(path);
  const queries = useAnswer<SavedQueries>(SAVED_PATH, { query: { limit: QUERIES_MAX } });
  const problem = board.problem ?? queries.problem;
  if (problem !== null) return <ProblemState problem={problem} />;
  if (queries.answer === null || (path !== null && board.answer === null))
    return <Loading what="your saved queries" />;
  const dashboard = board.answer?.dashboard;
  return (
    <BoardEditor
      first={dashboard === undefined ? EMPTY_DRAFT : draftOf(dashboard)}
      isSaved={dashboard !== undefined}
      hasToken={dashboard?.has_token ?? false}
      queries={queries.answer.queries}
    />
  );
}
