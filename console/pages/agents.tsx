import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { Time } from '../components/time.tsx';
import { chainText, countText } from '../format.ts';
import { AgentTable } from '../parts/agents.tsx';
import { CapabilityFilter } from '../parts/capability-filter.tsx';
import {
  CheckFilter,
  FilterForm,
  PageHead,
  SelectFilter,
  TextFilter,
  useChainOptions,
} from '../parts/page-head.tsx';
import { PageTabs } from '../parts/page-tabs.tsx';
import {
  changeColumn,
  comparedWindow,
  orderOf,
  RankedAt,
  type RankedOrder,
  rankColumn,
  rankingSort,
  trendColumn,
  useRanking,
  VERDICT_COLUMN,
} from '../parts/ranking.tsx';
import { WalletLink } from '../parts/wallet-link.tsx';
import { WindowChoice } from '../parts/window-choice.tsx';
import { GROWTH_WINDOWS, WINDOW_DURING, windowOf } from '../parts/windows.ts';
import { type PageProps, pick, SEARCH_TEXT_MAX } from '../routes.ts';
import { useCursorList, useOffsetList } from '../use-list.ts';
import type { Agent, Agents, Leaderboard, RankedRow } from '../wire.ts';

const AGENTS_PATH = '/agents';
const EARNINGS_PATH = '/agents-by-revenue';
const LEADERBOARD_PATH = '/leaderboard';
const AGENTS_FILTERS = ['q', 'capability', 'chain', 'x402_declared'] as const;
const AGENTS_PAGE_ROWS = 30;

function Tabs({ current }: { readonly current: string }) {
  const tabs = [
    { to: AGENTS_PATH, title: 'Newest' },
    { to: EARNINGS_PATH, title: 'By revenue' },
    { to: LEADERBOARD_PATH, title: 'By ratings' },
  ];
  return <PageTabs label="Agents" tabs={tabs.map((tab) => ({ ...tab, isCurrent: tab.to === current }))} />;
}

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
      <Tabs current={AGENTS_PATH} />
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
  return (
    <FilterForm label="Filter agents" query={query}>
      <TextFilter
        {...field}
        label="Words"
        name="q"
        placeholder="in name or description"
        maxLength={SEARCH_TEXT_MAX}
      />
      <CapabilityFilter {...field} />
      <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions()} />
      <CheckFilter {...field} label="Declares x402" name="x402_declared" />
    </FilterForm>
  );
}

const ORDERS = [
  'organic_usd',
  'proven_usd',
  'settlements',
  'counterparties',
  'growth',
] as const satisfies readonly RankedOrder[];

/** Agents by what their wallets are paid. */
export function AgentsByRevenuePage({ query }: PageProps) {
  const path = EARNINGS_PATH;
  const field = { path, query };
  const by = orderOf(query, ORDERS);
  const window = windowOf(query);
  const { answer, rows, list } = useRanking({ of: 'agents', path, query, by });
  return (
    <>
      <PageHead title="Agents by revenue">
        Agents by the organic dollars that their wallets are paid. Several agents at one wallet are one row,
        of the agent that registered first.
      </PageHead>
      <Tabs current={path} />
      <FilterForm label="Filter agents" query={query}>
        <WindowChoice {...field} {...(by === 'growth' ? { windows: GROWTH_WINDOWS } : {})} />
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions()} />
        <CapabilityFilter {...field} />
        <CheckFilter {...field} label="With suspect wallets" name="include_flagged" />
      </FilterForm>
      <DataTable
        caption={`Agents by revenue ${WINDOW_DURING[window]}`}
        columns={[
          rankColumn(comparedWindow(window, rows)),
          ...REVENUE_COLUMNS,
          trendColumn(answer?.meta ?? null),
          changeColumn(comparedWindow(window, rows), by),
          ...FIGURE_COLUMNS,
          VERDICT_COLUMN,
        ]}
        rows={rows}
        keyOf={({ chain, agent_id: id, rank }) => `${chain}/${id ?? rank}`}
        sort={rankingSort({ path, query, by })}
        list={{ what: 'agents', ...list }}
      />
      <RankedAt answer={answer}>An agent without organic payments in the window is not listed.</RankedAt>
    </>
  );
}

const REVENUE_COLUMNS: readonly Column<RankedRow>[] = [
  {
    name: 'Agent',
    isRowHeader: true,
    cell: ({ wallet = '', name, name_source: source }) => (
      <WalletLink wallet={wallet} party="payee" name={name} source={source} />
    ),
  },
  {
    name: 'Id',
    priority: 2,
    cell: ({ agent_id: id, chain = '' }) => (
      <span class="muted">
        #{id} on {chainText(chain)}
      </span>
    ),
  },
  {
    name: 'Organic',
    isFigure: true,
    sortKey: 'organic_usd',
    help: 'Dollars without payments to oneself, within rings and between wallets that paid each other',
    cell: ({ figures: { organic_usd: usd } }) => <Money usd={usd ?? 0} />,
  },
];

const FIGURE_COLUMNS: readonly Column<RankedRow>[] = [
  {
    name: 'Proven',
    isFigure: true,
    sortKey: 'proven_usd',
    priority: 2,
    help: 'The part of the organic dollars that a named facilitator relayed',
    cell: ({ figures: { proven_usd: usd } }) => <Money usd={usd ?? 0} />,
  },
  {
    name: 'Settlements',
    isFigure: true,
    sortKey: 'settlements',
    help: 'Organic settlements',
    cell: ({ figures: { organic_settlement_count: organic, settlement_count: all } }) =>
      countText(organic ?? all),
  },
  {
    name: 'Payers',
    isFigure: true,
    sortKey: 'counterparties',
    priority: 2,
    help: 'Other wallets in organic payments',
    cell: ({ figures: { distinct_counterparties: count } }) => countText(count ?? 0),
  },
];

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
      <PageHead title="Agents by ratings">
        Agents by their ratings from 0 to 100. Each client counts once; with few clients a score stays close
        to 50. Rating costs only gas, so ratings that prove a payment say more.
      </PageHead>
      <Tabs current={LEADERBOARD_PATH} />
      <FilterForm label="Filter the leaderboard" query={query}>
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions()} />
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
