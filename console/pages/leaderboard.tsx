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
const RANKINGS = [
  { value: '', label: 'All ratings' },
  { value: 'paid', label: 'Ratings that prove a payment' },
];

/** Agents by the ratings that stand, or by those that prove a payment. */
export function LeaderboardPage({ query }: PageProps) {
  const offset = offsetOf(query);
  const filters = pick(query, ['include_spam', 'chain', 'by']);
  const { answer, problem, reload } = useAnswer<LeaderboardAnswer>(PATH, {
    query: { ...filters, offset, limit: LIMIT },
  });
  const rows = answer?.leaderboard ?? null;
  return (
    <>
      <PageHead title="Leaderboard">
        Agents by ratings from 0 to 100, each client once, drawn to 50 by few clients. Rating costs only gas:
        ratings that prove a payment say more.
      </PageHead>
      <FilterForm label="Filter the leaderboard">
        <SelectFilter
          path={PATH}
          query={query}
          label="Chain"
          name="chain"
          options={useChainOptions('default chain')}
        />
        <SelectFilter path={PATH} query={query} label="By" name="by" options={RANKINGS} />
        <CheckFilter path={PATH} query={query} label="With unscored agents (spam)" name="include_spam" />
      </FilterForm>
      <ListState
        what="ranked agents"
        rows={rows}
        meta={answer?.meta ?? null}
        problem={problem}
        onRetry={reload}
      >
        <AgentTable
          caption="Agents by score, best first"
          agents={rows ?? []}
          rankedBy={filters['by'] === 'paid' ? 'paid' : 'rating'}
        />
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
