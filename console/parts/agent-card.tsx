import { Time } from '../components/figures.tsx';
import { chainText, countText } from '../format.ts';
import { Link } from '../router.tsx';
import { AttestationLine, scoreText } from './agent-facts.tsx';
import { WalletLink } from './wallet-link.tsx';
import type { Agent } from './wire.ts';

interface AgentCardProps {
  readonly agent: Agent;
  /** On the page of its wallet, which then needs no link. */
  readonly isOnItsWallet?: boolean;
}

/** What an agent says of itself, what others say of it, and which of both is checked. Everything on its card is a claim. */
export function AgentCard({ agent, isOnItsWallet = false }: AgentCardProps) {
  return (
    <article class="card agent-card">
      <div class="card-head">
        <h3>{agent.name ?? <span class="muted">no name</span>}</h3>
        <span class="score" title={scoreMeaning(agent)}>
          {scoreText(agent.score)}
        </span>
      </div>
      <p class="note">{agent.description ?? <span class="muted">{cardText(agent)}</span>}</p>
      <p class="tags">
        {agent.x402_support ? <span class="badge tier-proven">x402</span> : null}
        <span class={`badge activity-${agent.activity_status}`}>{agent.activity_status}</span>
        {agent.capabilities.map((slug) => (
          <Link key={slug} class="badge quiet" to={`/capabilities/${slug}`}>
            {slug}
          </Link>
        ))}
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
          <AttestationLine agent={agent} />
        </dd>
        <dt>By tag</dt>
        <dd>{tagsText(agent)}</dd>
        <dt>Active</dt>
        <dd>
          <Time at={agent.last_activity_at} ago />, registered <Time at={agent.registered_at} ago />
        </dd>
      </dl>
      {isOnItsWallet || agent.wallet === null ? null : <WalletLink wallet={agent.wallet} party="payee" />}
    </article>
  );
}

const TAGS_SHOWN = 4;

/** Each on its own scale. */
function tagsText({ tag_scores: scores }: Agent): string {
  if (scores.length === 0) return '–';
  return scores
    .slice(0, TAGS_SHOWN)
    .map(({ tag, mean }) => `${tag ?? 'no tag'} ${scoreText(mean)}`)
    .join(', ');
}

export function scoreMeaning({ score, rating_count: count, rating_clients: clients }: Agent): string {
  if (score === null) return 'No client rated it from 0 to 100.';
  return `${score}: ${countText(count)} ratings from 0 to 100 by ${countText(clients)} clients, drawn to 50 by few of them.`;
}

export function paidScoreMeaning(agent: Agent): string {
  if (agent.paid_score === null) return 'No rating of it proves a payment.';
  return `${agent.paid_score}: ${countText(agent.paid_rating_count)} ratings by ${countText(agent.paid_rating_clients)} clients whose payment to the agent is in the index.`;
}

function cardText({ card }: Agent): string {
  if (card.status === 'good') return 'The card has no description.';
  return card.problem === null
    ? 'The card was not read yet.'
    : `No card: ${card.problem.replaceAll('_', ' ')}.`;
}

function servicesText({ services }: Agent): string {
  if (services.length === 0) return '–';
  const names = services.map(({ name, endpoint }) => (name === '' ? endpoint : name));
  return [...new Set(names)].join(', ');
}

const PROOF_MEANING: Readonly<Record<string, string>> = {
  proven: 'The domain itself names this agent.',
  refuted: 'The domain has a list of agents, and this one is not on it.',
  unreachable: 'The domain has no list of agents.',
  unchecked: 'Not checked yet.',
};

function DomainProof({ proof }: { readonly proof: string }) {
  return (
    <span class={`badge proof-${proof}`} title={PROOF_MEANING[proof]}>
      {proof}
    </span>
  );
}
