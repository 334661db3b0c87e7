import { Time } from '../components/figures.tsx';
import { chainText } from '../format.ts';
import { Link } from '../router.tsx';
import { paidScoreMeaning, scoreMeaning } from './agent-card.tsx';
import { AttestationLine, scoreText } from './agent-facts.tsx';
import { Cell } from './settlement-table.tsx';
import { WalletLink } from './wallet-link.tsx';
import type { Agent } from './wire.ts';

interface AgentTableProps {
  readonly caption: string;
  readonly agents: readonly (Agent & { readonly rank?: number })[];
  /** What the agents are ranked by; null for a list without ranks. */
  readonly rankedBy: RankedBy;
}

type RankedBy = 'rating' | 'paid' | null;

const TAGS_SHOWN = 3;

export function AgentTable({ caption, agents, rankedBy }: AgentTableProps) {
  const columns = [
    ...(rankedBy === null ? [] : ['Rank']),
    'Agent',
    'Wallet',
    'Score',
    'Feedback',
    'Capabilities',
    'Activity',
  ];
  return (
    <div class="table-wrap">
      <table class="data agents">
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((name) => (
              <th key={name} scope="col" class={name === 'Score' || name === 'Rank' ? 'number' : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {agents.map((agent) => (
            <AgentRow key={`${agent.chain}/${agent.agent_id}`} agent={agent} rankedBy={rankedBy} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AgentRow({
  agent,
  rankedBy,
}: {
  readonly agent: Agent & { readonly rank?: number };
  readonly rankedBy: RankedBy;
}) {
  const score = rankedBy === 'paid' ? agent.paid_score : agent.score;
  return (
    <tr>
      {rankedBy === null ? null : (
        <Cell name="Rank" class="number">
          {agent.rank}
        </Cell>
      )}
      <Cell name="Agent" class="agent-cell">
        <strong>{agent.name ?? <span class="muted">no name</span>}</strong>
        <span class="muted small">
          #{agent.agent_id} on {chainText(agent.chain)}
        </span>
        {agent.description === null ? null : <span class="clamp small">{agent.description}</span>}
      </Cell>
      <Cell name="Wallet">
        {agent.wallet === null ? (
          <span class="muted">none set</span>
        ) : (
          <WalletLink wallet={agent.wallet} party="payee" />
        )}
      </Cell>
      <Cell name="Score" class="number">
        <span
          class={score === null ? 'muted' : undefined}
          title={rankedBy === 'paid' ? paidScoreMeaning(agent) : scoreMeaning(agent)}
        >
          {scoreText(score)}
        </span>
      </Cell>
      <Cell name="Feedback">
        <AttestationLine agent={agent} />
      </Cell>
      <Cell name="Capabilities" class="tags">
        {agent.x402_support ? <span class="badge tier-proven">x402</span> : null}
        {agent.capabilities.slice(0, TAGS_SHOWN).map((slug) => (
          <Link key={slug} class="badge quiet" to={`/capabilities/${slug}`}>
            {slug}
          </Link>
        ))}
        {agent.capabilities.length > TAGS_SHOWN ? (
          <span class="muted small">+{agent.capabilities.length - TAGS_SHOWN}</span>
        ) : null}
      </Cell>
      <Cell name="Activity">
        <span class={`badge activity-${agent.activity_status}`}>{agent.activity_status}</span>{' '}
        <Time at={agent.last_activity_at} ago />
      </Cell>
    </tr>
  );
}
