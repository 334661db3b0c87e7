import { Chip, type Tone } from '../components/chip.tsx';
import { type Column, DataTable } from '../components/data-table.tsx';
import type { List } from '../components/list-state.tsx';
import { Time } from '../components/time.tsx';
import { chainText, countText } from '../format.ts';
import type { Agent } from '../wire.ts';
import { WalletLink } from './wallet-link.tsx';

/** ERC-8004 agents in a table and as a card. Names, descriptions, services and domains are claims of the agent's owner. */

type ListedAgent = Agent & { readonly rank?: number };
/** The ratings that agents are ranked by; `none` for a list without ranks. */
type Ranking = 'rating' | 'paid' | 'none';

interface AgentTableProps {
  readonly caption: string;
  readonly rows: readonly ListedAgent[] | null;
  readonly list: List;
  readonly ranking: Ranking;
}

export function AgentTable({ ranking, ...table }: AgentTableProps) {
  return (
    <DataTable {...table} columns={COLUMNS[ranking]} keyOf={({ chain, agent_id: id }) => `${chain}/${id}`} />
  );
}

const TABLE_TAGS_SHOWN = 3;

const RANK: Column<ListedAgent> = {
  name: 'Rank',
  class: 'rank',
  card: 'head',
  isFigure: true,
  cell: ({ rank }) => rank,
};

const AGENT: Column<ListedAgent> = {
  name: 'Agent',
  class: 'agent-cell',
  card: 'head',
  cell: (agent) => (
    <>
      <strong>{agent.name ?? <span class="muted">no name</span>}</strong>
      <AgentId agent={agent} />
      {agent.description === null ? null : <span class="clamp small">{agent.description}</span>}
    </>
  ),
};

export const AGENT_WALLET: Column<Pick<Agent, 'wallet'>> = {
  name: 'Wallet',
  cell: ({ wallet }) =>
    wallet === null ? <span class="muted">none set</span> : <WalletLink wallet={wallet} party="payee" />,
};

const RATED: Column<ListedAgent> = {
  name: 'Score',
  isFigure: true,
  cell: (agent) => <Score score={agent.score} meaning={scoreMeaning(agent)} />,
};

const RATED_BY_PAYERS: Column<ListedAgent> = {
  name: 'Score',
  isFigure: true,
  cell: (agent) => <Score score={agent.paid_score} meaning={paidScoreMeaning(agent)} />,
};

const DETAILS: readonly Column<ListedAgent>[] = [
  { name: 'Feedback', cell: (agent) => <FeedbackCount agent={agent} /> },
  {
    name: 'Capabilities',
    class: 'tags',
    cell: ({ x402_support: takesX402, capabilities }) => (
      <>
        {takesX402 ? <Chip tone="good">x402</Chip> : null}
        <CapabilityTags slugs={capabilities.slice(0, TABLE_TAGS_SHOWN)} />
        {capabilities.length > TABLE_TAGS_SHOWN ? (
          <span class="muted small">+{capabilities.length - TABLE_TAGS_SHOWN}</span>
        ) : null}
      </>
    ),
  },
  {
    name: 'Activity',
    cell: ({ activity_status: status, last_activity_at: at }) => (
      <>
        <ActivityChip status={status} /> <Time at={at} ago />
      </>
    ),
  },
];

const COLUMNS: Readonly<Record<Ranking, readonly Column<ListedAgent>[]>> = {
  none: [AGENT, AGENT_WALLET, RATED, ...DETAILS],
  rating: [RANK, AGENT, AGENT_WALLET, RATED, ...DETAILS],
  paid: [RANK, AGENT, AGENT_WALLET, RATED_BY_PAYERS, ...DETAILS],
};

export function AgentId({ agent }: { readonly agent: Pick<Agent, 'agent_id' | 'chain'> }) {
  return (
    <span class="muted small">
      #{agent.agent_id} on {chainText(agent.chain)}
    </span>
  );
}

function Score({ score, meaning }: { readonly score: number | null; readonly meaning: string }) {
  return (
    <span class={score === null ? 'muted' : undefined} title={meaning}>
      {scoreText(score)}
    </span>
  );
}

const SCORE_DECIMALS = 2;

/** A score rounded to two decimals; the API has all of them. */
export function scoreText(score: number | null): string {
  return score === null ? 'unscored' : String(Number(score.toFixed(SCORE_DECIMALS)));
}

function scoreMeaning({ score, rating_count: count, rating_clients: clients }: Agent): string {
  if (score === null) return 'No client rated it from 0 to 100.';
  return `${score}: ${countText(count)} ratings from 0 to 100 by ${countText(clients)} clients. The fewer the clients, the closer the score is to 50.`;
}

function paidScoreMeaning(agent: Agent): string {
  if (agent.paid_score === null) return 'No rating of it proves a payment.';
  return `${agent.paid_score}: ${countText(agent.paid_rating_count)} ratings by ${countText(agent.paid_rating_clients)} clients whose payment to the agent is in the index.`;
}

/** The number of ratings and of addresses that gave them, next to every score: rating costs only gas. */
function FeedbackCount({ agent }: { readonly agent: Agent }) {
  if (agent.feedback_count === 0) return <span class="muted">none</span>;
  return (
    <span>
      {countText(agent.feedback_count)} from {countText(agent.distinct_clients)}{' '}
      {agent.distinct_clients === 1 ? 'client' : 'clients'}
    </span>
  );
}

function CapabilityTags({ slugs }: { readonly slugs: readonly string[] }) {
  return (
    <>
      {slugs.map((slug) => (
        <Chip key={slug} to={`/capabilities/${slug}`}>
          {slug}
        </Chip>
      ))}
    </>
  );
}

/** An agent on the page of its wallet. */
export function AgentCard({ agent }: { readonly agent: Agent }) {
  return (
    <article class="card">
      <div class="card-head">
        <h3>{agent.name ?? <span class="muted">no name</span>}</h3>
        <span class="score" title={scoreMeaning(agent)}>
          {scoreText(agent.score)}
        </span>
      </div>
      <p class="note">{agent.description ?? <span class="muted">{cardText(agent)}</span>}</p>
      <p class="tags">
        {agent.x402_support ? <Chip tone="good">x402</Chip> : null}
        <ActivityChip status={agent.activity_status} />
        <CapabilityTags slugs={agent.capabilities} />
      </p>
      <dl class="facts small">
        <dt>Agent</dt>
        <dd>
          #{agent.agent_id} on {chainText(agent.chain)}
        </dd>
        <dt>Domain</dt>
        <dd>
          {agent.domain ?? '–'} {agent.domain === null ? null : <DomainProof proof={agent.domain_proof} />}
        </dd>
        <dt>Services</dt>
        <dd>{servicesText(agent)}</dd>
        <dt>Feedback</dt>
        <dd>
          <FeedbackCount agent={agent} />
        </dd>
        <dt>By tag</dt>
        <dd>{tagsText(agent)}</dd>
        <dt>Active</dt>
        <dd>
          <Time at={agent.last_activity_at} ago />, registered <Time at={agent.registered_at} ago />
        </dd>
      </dl>
    </article>
  );
}

const CARD_TAGS_SHOWN = 4;

/** Means by tag, each on its own scale. */
function tagsText({ tag_scores: scores }: Agent): string {
  if (scores.length === 0) return '–';
  return scores
    .slice(0, CARD_TAGS_SHOWN)
    .map(({ tag, mean }) => `${tag ?? 'no tag'} ${scoreText(mean)}`)
    .join(', ');
}

function cardText({ card }: Agent): string {
  if (card.status === 'good') return 'The card has no description.';
  return card.problem === null
    ? 'The card has not been read yet.'
    : `No card: ${card.problem.replaceAll('_', ' ')}.`;
}

function servicesText({ services }: Agent): string {
  if (services.length === 0) return '–';
  const names = services.map(({ name, endpoint }) => (name === '' ? endpoint : name));
  return [...new Set(names)].join(', ');
}

const ACTIVITY_TONES: Readonly<Record<Agent['activity_status'], Tone>> = {
  active: 'good',
  idle: 'neutral',
  unseen: 'neutral',
};

function ActivityChip({ status }: { readonly status: Agent['activity_status'] }) {
  return <Chip tone={ACTIVITY_TONES[status]}>{status}</Chip>;
}

const PROOF_TONES: Readonly<Record<Agent['domain_proof'], Tone>> = {
  proven: 'good',
  refuted: 'bad',
  unreachable: 'neutral',
  unchecked: 'neutral',
};

const PROOF_MEANING: Readonly<Record<Agent['domain_proof'], string>> = {
  proven: 'The domain names this agent in its own list.',
  refuted: 'The domain has a list of agents that does not include this one.',
  unreachable: 'The domain serves no list of agents.',
  unchecked: 'Not checked yet.',
};

function DomainProof({ proof }: { readonly proof: Agent['domain_proof'] }) {
  return (
    <Chip tone={PROOF_TONES[proof]} title={PROOF_MEANING[proof]}>
      {proof}
    </Chip>
  );
}
