import { useIsLentKey } from '../api.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import { BoardFilters, BoardGrid, useBoard } from '../dashboard/board.tsx';
import { frameOf } from '../dashboard/frame-element.ts';
import { PageHead } from '../parts/page-head.tsx';
import { Link, useTitle } from '../router.tsx';
import type { PageProps } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import type { ListedDashboard } from '../wire.ts';

/** The dashboards of the service and of the visitor's organization. */
export function DashboardsPage() {
  const isLent = useIsLentKey();
  const { answer, problem, reload } = useAnswer<{ readonly dashboards: readonly ListedDashboard[] }>(
    '/dashboards',
  );
  return (
    <>
      <PageHead
        title="Dashboards"
        tools={
          isLent ? null : (
            <Link class="button" to="/dashboards/new">
              New dashboard
            </Link>
          )
        }
      >
        Saved queries as figures, charts and tables, for a period and a chain. Reading them is free.
      </PageHead>
      {answer === null && problem !== null ? <ProblemState problem={problem} onRetry={reload} /> : null}
      {answer === null && problem === null ? <Loading what="dashboards" /> : null}
      <ul class="board-list">
        {answer?.dashboards.map(({ owner, slug, title, description }) => (
          <li key={`${owner}/${slug}`} class="panel">
            <Link to={`/dashboards/${owner}/${slug}`}>{title}</Link>
            <p class="muted">{description}</p>
          </li>
        ))}
      </ul>
    </>
  );
}

/** One dashboard. */
export function DashboardPage({ params, query }: PageProps) {
  const { owner = '', slug = '' } = params;
  const state = useBoard({ owner, slug }, query);
  const { board, choice, problem } = state;
  useTitle(board?.title ?? 'Dashboard');
  if (board === null && problem?.body.code === 'dashboard_not_found')
    return (
      <>
        <h1>No such dashboard</h1>
        <EmptyState title="There is no dashboard here that you may open.">
          <p>
            A private one needs a key of its owner. <Link to="/dashboards">All dashboards</Link>
          </p>
        </EmptyState>
      </>
    );
  const field = { path: `/dashboards/${owner}/${slug}`, query };
  return (
    <>
      <PageHead
        title={board?.title ?? 'Dashboard'}
        tools={
          board === null ? null : (
            <>
              <CopyButton text={location.href} what="link" label="Copy link" />
              {board.visibility === 'private' ? null : (
                <CopyButton text={frameOf(board.embed_url, null)} what="frame" label="Copy frame" />
              )}
              {board.is_own ? (
                <Link class="button" to={`${field.path}/edit`}>
                  Edit
                </Link>
              ) : null}
            </>
          )
        }
      >
        {board?.description ?? ''}
      </PageHead>
      <BoardFilters board={board} choice={choice} {...field} />
      <BoardGrid state={state} />
    </>
  );
}
