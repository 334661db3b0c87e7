import { Time } from '../components/figures.tsx';
import type { PageProps } from '../page.ts';
import { AgentTable } from '../parts/agent-table.tsx';
import { CheckFilter, FilterForm, pick, SelectFilter } from '../parts/filters.tsx';
import { ListState } from '../parts/list-states.tsx';
import { OffsetNav, offsetOf } from '../parts/offset-nav.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { useChainOptions } from '../parts/use-chains.ts';
import type { LeaderboardAnswer } from '../parts/wire.ts';
import { useAnswer } from '../use-answer.ts';

const PATH = '/leaderboard';
const LIMIT = 50;

/** Agents by the mean of the feedback that stands. */
export function LeaderboardPage({ query }: PageProps) {
  const offset = offsetOf(query);
  const filters = pick(query, ['include_spam', 'chain']);
  const { answer, problem, reload } = useAnswer<LeaderboardAnswer>(PATH, {
    query: { ...filters, offset, limit: LIMIT },
  });
  const rows = answer?.leaderboard ?? null;
  return (
    <>
      <PageHead title="Leaderboard">
        Agents by the mean of what clients said. There is no common scale, and nobody weighs who rated: look
        at feedback and clients beside the score.
      </PageHead>
      <FilterForm label="Filter the leaderboard">
        <SelectFilter
          path={PATH}
          query={query}
          label="Chain"
          name="chain"
          options={useChainOptions('default chain')}
        />
        <CheckFilter path={PATH} query={query} label="With unscored agents (spam)" name="include_spam" />
      </FilterForm>
      <ListState
        what="ranked agents"
        rows={rows}
        meta={answer?.meta ?? null}
        problem={problem}
        onRetry={reload}
      >
        <AgentTable caption="Agents by score, best first" agents={rows ?? []} isRanked />
        {answer === null ? null : (
          <>
            <OffsetNav
              path={PATH}
              query={query}
              limit={LIMIT}
              shown={answer.leaderboard.length}
              nextOffset={answer.next_offset}
              what="the leaderboard"
            />
            <p class="muted small">
              Ranked <Time at={answer.meta.ranked_at} ago />; {answer.meta.page_scored_agents} scored on this
              page.
            </p>
          </>
        )}
      </ListState>
    </>
  );
}
