import type { Window } from '../../core/domain/window.ts';
import { segment } from '../api.ts';
import { type Column, DataTable } from '../components/data-table.tsx';
import { Money } from '../components/money.tsx';
import { Stat, Stats } from '../components/stat.tsx';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import { countText } from '../format.ts';
import { AGENT_WALLET, AgentId, scoreText } from '../parts/agents.tsx';
import { CapabilityFilter } from '../parts/capability-filter.tsx';
import { EndpointTable } from '../parts/endpoint-table.tsx';
import { OpenInSql } from '../parts/open-in-sql.tsx';
import { FilterForm, PageHead, SelectFilter, TextFilter, useChainOptions } from '../parts/page-head.tsx';
import { PageTabs } from '../parts/page-tabs.tsx';
import { RowChange, Trend } from '../parts/ranking.tsx';
import { endpointsSql } from '../parts/ranking-sql.ts';
import { WindowChoice } from '../parts/window-choice.tsx';
import { WINDOW_BEFORE, WINDOW_DURING, windowOf } from '../parts/windows.ts';
import { Link, useTitle } from '../router.tsx';
import type { PageProps } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import { useOffsetList } from '../use-list.ts';
import type { Capabilities, CapabilityOffers, Endpoints, RankedRow, Rankings } from '../wire.ts';

const PATH = '/endpoints';
const CAPABILITIES_PATH = '/capabilities';
const FILTERS = ['q', 'chain', 'max_price_usd', 'capability', 'pay_to'] as const;
const TEXT_MAX = 200;
const PRICES = [
  { value: '', label: 'any price' },
  { value: '0.001', label: 'up to $0.001' },
  { value: '0.01', label: 'up to $0.01' },
  { value: '0.1', label: 'up to $0.10' },
  { value: '1', label: 'up to $1.00' },
];

function Tabs({ current }: { readonly current: string }) {
  const tabs = [
    { to: PATH, title: 'Endpoints' },
    { to: CAPABILITIES_PATH, title: 'Capabilities' },
  ];
  return <PageTabs label="Offers" tabs={tabs.map((tab) => ({ ...tab, isCurrent: tab.to === current }))} />;
}

/** The listed x402 endpoints, with the payments that were observed for each offer. */
export function EndpointsPage({ query }: PageProps) {
  const field = { path: PATH, query };
  const { answer, list } = useOffsetList<Endpoints>({ ...field, filters: FILTERS });
  return (
    <>
      <PageHead title="Endpoints" tools={<OpenInSql {...endpointsSql()} isButton />}>
        Listed offers, with the payments that were observed on the terms of each offer.
      </PageHead>
      <Tabs current={PATH} />
      <FilterForm label="Filter endpoints" query={query}>
        <TextFilter
          {...field}
          label="Words"
          name="q"
          placeholder="service, description, URL"
          maxLength={TEXT_MAX}
        />
        <CapabilityFilter {...field} />
        <SelectFilter {...field} label="Price" name="max_price_usd" options={PRICES} />
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions()} />
      </FilterForm>
      <EndpointTable
        caption="Endpoints with prices and observed activity"
        rows={answer?.endpoints ?? null}
        list={{ what: 'endpoints', ...list }}
      />
    </>
  );
}

type Capability = Capabilities['capabilities'][number];

/** The jobs that services and agents offer, with the payments for them. */
export function CapabilitiesPage({ query }: PageProps) {
  const window = windowOf(query);
  const { answer, problem, reload } = useAnswer<Capabilities>('/capabilities');
  const { answer: paid } = useAnswer<Rankings>('/leaderboard', {
    query: { of: 'capabilities', by: 'settlements', window, limit: RANKED_MAX },
  });
  const ranked = new Map(paid?.leaderboard.map((row) => [row.capability ?? '', row]));
  const rows = answer?.capabilities.map((capability) => ({
    ...capability,
    paid: paid === null ? undefined : (ranked.get(capability.slug) ?? null),
  }));
  return (
    <>
      <PageHead title="Capabilities" tools={<WindowChoice path={CAPABILITIES_PATH} query={query} />}>
        Jobs that services and agents offer. The payments for a job are those that fit its listed offers.
      </PageHead>
      <Tabs current={CAPABILITIES_PATH} />
      <DataTable
        caption="Capabilities"
        columns={columnsOf(window, paid?.meta ?? null)}
        rows={rows ?? null}
        keyOf={({ slug }) => slug}
        list={{ what: 'capabilities', meta: null, problem, reload }}
      />
    </>
  );
}

/** The catalogue has fewer capabilities than a page holds. */
const RANKED_MAX = 100;

type PaidCapability = Capability & {
  /** Null where nothing was paid; undefined while that is being read. */
  readonly paid: RankedRow | null | undefined;
};

function columnsOf(window: Window, meta: Rankings['meta'] | null): readonly Column<PaidCapability>[] {
  return [
    ...OFFERED_COLUMNS,
    {
      name: 'Trend',
      class: 'trend',
      priority: 2,
      cell: ({ paid }) => (paid ? <Trend row={paid} meta={meta} /> : null),
    },
    {
      name: 'Settlements',
      isFigure: true,
      help: `Of listed offers, ${WINDOW_DURING[window]}, and their change against ${WINDOW_BEFORE[window]}`,
      compare: (a, b) => (a.paid?.figures.settlement_count ?? 0) - (b.paid?.figures.settlement_count ?? 0),
      cell: ({ paid }) =>
        paid === undefined ? (
          ''
        ) : (
          <>
            {countText(paid?.figures.settlement_count ?? 0)}{' '}
            {paid === null ? null : <RowChange row={paid} window={window} />}
          </>
        ),
    },
    {
      name: 'Dollars',
      isFigure: true,
      compare: (a, b) => (a.paid?.figures.settled_usd ?? 0) - (b.paid?.figures.settled_usd ?? 0),
      cell: ({ paid }) => (paid === undefined ? null : <Money usd={paid?.figures.settled_usd ?? 0} />),
    },
  ];
}

const OFFERED_COLUMNS: readonly Column<PaidCapability>[] = [
  {
    name: 'Capability',
    isRowHeader: true,
    class: 'capability',
    compare: (a, b) => a.name.localeCompare(b.name),
    cell: ({ slug, name, summary }) => (
      <>
        <Link to={`/capabilities/${slug}`}>{name}</Link>
        <span class="muted small clamp">{summary}</span>
      </>
    ),
  },
  {
    name: 'Group',
    priority: 2,
    compare: (a, b) => (a.group ?? '').localeCompare(b.group ?? ''),
    cell: ({ group }) => group,
  },
  {
    name: 'Providers',
    isFigure: true,
    help: 'Different addresses that are paid for a listed resource that offers it',
    compare: (a, b) => a.provider_count - b.provider_count,
    cell: ({ provider_count: count }) => countText(count),
  },
  {
    name: 'Endpoints',
    isFigure: true,
    priority: 2,
    compare: (a, b) => (a.endpoint_count ?? 0) - (b.endpoint_count ?? 0),
    cell: ({ endpoint_count: count = 0 }) => countText(count),
  },
  {
    name: 'Agents',
    isFigure: true,
    priority: 2,
    help: 'Active ERC-8004 agents whose card mentions it',
    compare: (a, b) => (a.agent_count ?? 0) - (b.agent_count ?? 0),
    cell: ({ agent_count: count = 0 }) => countText(count),
  },
];

/** The providers of one job and their prices. */
export function CapabilityPage({ params }: PageProps) {
  const slug = params['slug'] ?? '';
  const { answer, problem, reload } = useAnswer<CapabilityOffers>(`/capabilities/${segment(slug)}`);
  const name = answer?.capability.name ?? slug;
  useTitle(name);
  return (
    <>
      <PageHead title={name}>
        {answer?.capability.summary} <Link to="/capabilities">All capabilities</Link>
      </PageHead>
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {answer === null && problem === null ? <Loading what="the offers" /> : null}
      {answer === null ? null : <Offers answer={answer} />}
    </>
  );
}

function Offers({ answer }: { readonly answer: CapabilityOffers }) {
  const { capability, going_rate: rate, offers, offers_total: total, agents } = answer;
  return (
    <>
      <Stats>
        <Stat name="Providers">{countText(capability.provider_count)}</Stat>
        {rate === null ? null : (
          <>
            <Stat
              name="Going rate, median"
              note={`per ${capability.unit}, of ${countText(rate.offers)} offers`}
            >
              <Money usd={rate.p50_usd} />
            </Stat>
            <Stat name="Cheapest quarter up to">
              <Money usd={rate.p25_usd} />
            </Stat>
            <Stat name="Dearest quarter from">
              <Money usd={rate.p75_usd} />
            </Stat>
          </>
        )}
      </Stats>
      <section aria-labelledby="offers-title">
        <h2 id="offers-title">Offers ({countText(total)})</h2>
        {offers.length === 0 ? (
          <EmptyState title="No endpoint is listed for this yet" />
        ) : (
          <EndpointTable caption="Offers" rows={offers} />
        )}
      </section>
      {agents.length === 0 ? null : (
        <section aria-labelledby="agents-title">
          <h2 id="agents-title">Agents that claim this capability</h2>
          <DataTable
            caption="Agents with this capability"
            columns={AGENT_COLUMNS}
            rows={agents}
            keyOf={({ chain, agent_id: id }) => `${chain}/${id}`}
          />
        </section>
      )}
    </>
  );
}

const AGENT_COLUMNS: readonly Column<CapabilityOffers['agents'][number]>[] = [
  {
    name: 'Agent',
    cell: (agent) => (
      <>
        <strong>{agent.name ?? 'no name'}</strong> <AgentId agent={agent} />
      </>
    ),
  },
  AGENT_WALLET,
  { name: 'Score', isFigure: true, cell: ({ score }) => scoreText(score) },
  { name: 'Feedback', isFigure: true, cell: ({ feedback_count: count }) => countText(count) },
];
