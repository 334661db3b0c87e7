import { Time } from '../components/figures.tsx';
import { AgentTable } from '../parts/agents.tsx';
import {
  CheckFilter,
  FilterForm,
  PageHead,
  SelectFilter,
  TextFilter,
  useChainOptions,
} from '../parts/page-head.tsx';
import { type PageProps, pick, SEARCH_TEXT_MAX } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import { useCursorList, useOffsetList } from '../use-list.ts';
import type { Agent, Agents, Capabilities, Leaderboard } from '../wire.ts';

const AGENTS_PATH = '/agents';
const AGENTS_FILTERS = ['q', 'capability', 'chain', 'x402_declared'] as const;
const AGENTS_PAGE_ROWS = 30;

/** Registered agents, newest first, by text and by what they offer. */
export function AgentsPage({ query }: PageProps) {
  const chosen = pick(query, AGENTS_FILTERS);
  const { rows, ...list } = useCursorList<Agents, Agent>(
    AGENTS_PATH,
    { ...chosen, limit: AGENTS_PAGE_ROWS },
    ({ agents }) => agents,
  );
  return (
    <>
      <PageHead title="Agents">
        Registered with ERC-8004, newest first. Names and descriptions are claims of the registrants.
      </PageHead>
      <AgentFilters query={query} />
      <AgentTable
        caption="Agents, newest registration first"
        ranking="none"
        rows={rows}
        list={{ what: 'agents', isFiltered: Object.keys(chosen).length > 0, ...list }}
      />
    </>
  );
}

function AgentFilters({ query }: { readonly query: URLSearchParams }) {
  const field = { path: AGENTS_PATH, query };
  const { answer } = useAnswer<Capabilities>('/capabilities', { query: { fields: 'compact' } });
  const capabilities = [
    { value: '', label: 'any capability' },
    ...(answer?.capabilities ?? []).map(({ slug, name }) => ({ value: slug, label: name })),
  ];
  return (
    <FilterForm label="Filter agents">
      <TextFilter
        {...field}
        label="Words"
        name="q"
        placeholder="in name or description"
        maxLength={SEARCH_TEXT_MAX}
      />
      <SelectFilter {...field} label="Capability" name="capability" options={capabilities} />
      <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions('default chain')} />
      <CheckFilter {...field} label="Declares x402" name="x402_declared" />
    </FilterForm>
  );
}

const LEADERBOARD_PATH = '/leaderboard';
const LEADERBOARD_FILTERS = ['include_spam', 'chain', 'by'] as const;
const RANKINGS = [
  { value: '', label: 'All ratings' },
  { value: 'paid', label: 'Ratings that prove a payment' },
];

/** Agents by all ratings, or by those that prove a payment. */
export function LeaderboardPage({ query }: PageProps) {
  const field = { path: LEADERBOARD_PATH, query };
  const { answer, list } = useOffsetList<Leaderboard>({ ...field, filters: LEADERBOARD_FILTERS });
  return (
    <>
      <PageHead title="Leaderboard">
        Agents by their ratings from 0 to 100. Each client counts once; with few clients a score stays close
        to 50. Rating costs only gas, so ratings that prove a payment say more.
      </PageHead>
      <FilterForm label="Filter the leaderboard">
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions('default chain')} />
        <SelectFilter {...field} label="By" name="by" options={RANKINGS} />
        <CheckFilter {...field} label="With unscored agents (spam)" name="include_spam" />
      </FilterForm>
      <AgentTable
        caption="Agents by score, best first"
        ranking={query.get('by') === 'paid' ? 'paid' : 'rating'}
        rows={answer?.leaderboard ?? null}
        list={{ what: 'ranked agents', ...list }}
      />
      {answer === null || answer.leaderboard.length === 0 ? null : (
        <p class="muted small">
          Ranked <Time at={answer.meta.ranked_at} ago />; {answer.meta.page_scored_agents} scored on this
          page.
        </p>
      )}
    </>
  );
}
