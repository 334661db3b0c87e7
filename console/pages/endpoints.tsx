import { segment } from '../api.ts';
import { Figure } from '../components/figures.tsx';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import { countText, usdText } from '../format.ts';
import { AGENT_WALLET, AgentId, scoreText } from '../parts/agents.tsx';
import { type Column, DataTable, ListState } from '../parts/data-table.tsx';
import { EndpointTable } from '../parts/endpoint-table.tsx';
import { FilterForm, PageHead, SelectFilter, TextFilter, useChainOptions } from '../parts/page-head.tsx';
import { Link, useTitle } from '../router.tsx';
import type { PageProps } from '../routes.ts';
import { useAnswer } from '../use-answer.ts';
import { useOffsetList } from '../use-list.ts';
import type { Capabilities, CapabilityOffers, Endpoints } from '../wire.ts';

const PATH = '/endpoints';
const FILTERS = ['q', 'chain', 'max_price_usd', 'capability', 'pay_to'] as const;
const TEXT_MAX = 200;
const PRICES = [
  { value: '', label: 'any price' },
  { value: '0.001', label: 'up to $0.001' },
  { value: '0.01', label: 'up to $0.01' },
  { value: '0.1', label: 'up to $0.10' },
  { value: '1', label: 'up to $1.00' },
];

/** The listed x402 endpoints, with the payments that were observed for each offer. */
export function EndpointsPage({ query }: PageProps) {
  const field = { path: PATH, query };
  const { answer, list } = useOffsetList<Endpoints>({ ...field, filters: FILTERS });
  return (
    <>
      <PageHead title="Endpoints">
        Listed offers, with the payments that were observed on the terms of each offer.{' '}
        <Link to="/capabilities">By capability</Link>
      </PageHead>
      <FilterForm label="Filter endpoints">
        <TextFilter
          {...field}
          label="Words"
          name="q"
          placeholder="service, description, URL"
          maxLength={TEXT_MAX}
        />
        <SelectFilter {...field} label="Price" name="max_price_usd" options={PRICES} />
        <SelectFilter {...field} label="Chain" name="chain" options={useChainOptions('all chains')} />
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

/** The jobs that services and agents offer, by group. */
export function CapabilitiesPage(_props: PageProps) {
  const { answer, problem, reload } = useAnswer<Capabilities>('/capabilities');
  const all = answer?.capabilities ?? null;
  return (
    <>
      <PageHead title="Capabilities">
        Jobs that services and agents offer, with the number of providers of each.{' '}
        <Link to="/endpoints">All endpoints</Link>
      </PageHead>
      <ListState what="capabilities" rows={all} meta={null} problem={problem} reload={reload}>
        {groupsOf(all ?? []).map(([group, capabilities]) => (
          <section key={group} class="capability-group">
            <h2>{group}</h2>
            <ul class="cards">
              {capabilities.map((capability) => (
                <CapabilityItem key={capability.slug} capability={capability} />
              ))}
            </ul>
          </section>
        ))}
      </ListState>
    </>
  );
}

function groupsOf(capabilities: readonly Capability[]): [string, Capability[]][] {
  const groups = new Map<string, Capability[]>();
  for (const capability of capabilities) {
    const group = capability.group ?? 'other';
    groups.set(group, [...(groups.get(group) ?? []), capability]);
  }
  return [...groups];
}

function CapabilityItem({ capability }: { readonly capability: Capability }) {
  return (
    <li class="card is-link">
      <div class="card-head">
        <Link to={`/capabilities/${capability.slug}`} class="card-link">
          {capability.name}
        </Link>
        <span class={capability.provider_count === 0 ? 'number muted' : 'number'}>
          {countText(capability.provider_count)}
        </span>
      </div>
      <p class="note muted small">{capability.summary}</p>
    </li>
  );
}

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
      <dl class="figures panel figures-panel">
        <Figure name="Providers">{countText(capability.provider_count)}</Figure>
        {rate === null ? null : (
          <>
            <Figure
              name="Going rate, median"
              note={`per ${capability.unit}, of ${countText(rate.offers)} offers`}
            >
              {usdText(rate.p50_usd)}
            </Figure>
            <Figure name="Cheapest quarter up to">{usdText(rate.p25_usd)}</Figure>
            <Figure name="Dearest quarter from">{usdText(rate.p75_usd)}</Figure>
          </>
        )}
      </dl>
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
