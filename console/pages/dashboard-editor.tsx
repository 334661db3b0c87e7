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
export function DashboardEditorPage({ params: { owner, slug } }: PageProps) {
  const isLent = useIsLentKey();
  const path = owner === undefined ? null : `/dashboards/${segment(owner)}/${segment(slug ?? '')}`;
  const board = useAnswer<{ readonly dashboard: Dashboard }>(isLent ? null : path);
  const queries = useAnswer<SavedQueries>(isLent ? null : SAVED_PATH, { query: { limit: QUERIES_MAX } });
  const problem = board.problem ?? queries.problem;
  const isReading = queries.answer === null || (path !== null && board.answer === null);
  const dashboard = board.answer?.dashboard;
  return (
    <>
      <PageHead title={dashboard === undefined ? 'New dashboard' : `Edit ${dashboard.title}`}>
        Panels of your saved queries. Placeholders named period, hours, days, chain and wallet follow what a
        reader chooses; a panel shows the newest result that your calls or refreshes left.
      </PageHead>
      {isLent ? <NeedsOwnKey /> : null}
      {!isLent && problem !== null ? <ProblemState problem={problem} /> : null}
      {!isLent && problem === null && isReading ? <Loading what="your saved queries" /> : null}
      {problem !== null || isReading ? null : (
        <BoardEditor
          first={dashboard === undefined ? EMPTY_DRAFT : draftOf(dashboard)}
          isSaved={dashboard !== undefined}
          hasToken={dashboard?.has_token ?? false}
          queries={queries.answer?.queries ?? []}
        />
      )}
    </>
  );
}
