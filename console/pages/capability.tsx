import { segment } from '../api.ts';
import { EmptyState, Loading, ProblemState } from '../components/states.tsx';
import { chainText, countText, usdText } from '../format.ts';
import type { PageProps } from '../page.ts';
import { useTitle } from '../page-title.ts';
import { scoreText } from '../parts/agent-facts.tsx';
import { EndpointTable } from '../parts/endpoint-table.tsx';
import { Figure } from '../parts/figure.tsx';
import { PageHead } from '../parts/page-head.tsx';
import { Cell } from '../parts/settlement-table.tsx';
import { WalletLink } from '../parts/wallet-link.tsx';
import type { CapabilityAnswer } from '../parts/wire.ts';
import { Link } from '../router.tsx';
import { useAnswer } from '../use-answer.ts';

/** Who offers one job, and at what price. */
export function CapabilityPage({ params }: PageProps) {
  const slug = params['slug'] ?? '';
  const { answer, problem, reload } = useAnswer<CapabilityAnswer>(`/capabilities/${segment(slug)}`);
  useTitle(answer?.capability.name ?? slug);
  return (
    <>
      <PageHead title={answer?.capability.name ?? slug}>
        {answer?.capability.summary} <Link to="/capabilities">All capabilities</Link>
      </PageHead>
      {problem === null ? null : <ProblemState problem={problem} onRetry={reload} />}
      {answer === null && problem === null ? <Loading what="the offers" /> : null}
      {answer === null ? null : <CapabilityBody answer={answer} />}
    </>
  );
}

function CapabilityBody({ answer }: { readonly answer: CapabilityAnswer }) {
  const { capability, going_rate: rate, offers, offers_total: total, agents } = answer;
  return (
    <>
      <dl class="figures panel figures-panel">
        <Figure name="Providers">{countText(capability.provider_count)}</Figure>
        {rate === null ? null : (
          <>
            <Figure
              name="Going rate, median"
              note={`per ${capability.unit ?? 'call'}, of ${countText(rate.offers)} offers`}
            >
              {usdText(rate.p50_usd)}
            </Figure>
            <Figure name="Cheaper quarter">{usdText(rate.p25_usd)}</Figure>
            <Figure name="Dearer quarter">{usdText(rate.p75_usd)}</Figure>
          </>
        )}
      </dl>
      <section aria-labelledby="offers-title">
        <h2 id="offers-title">Offers ({countText(total)})</h2>
        {offers.length === 0 ? (
          <EmptyState title="Nobody lists an endpoint for this yet" />
        ) : (
          <EndpointTable caption="Offers" endpoints={offers} />
        )}
      </section>
      {agents.length === 0 ? null : <Agents agents={agents} />}
    </>
  );
}

function Agents({ agents }: { readonly agents: CapabilityAnswer['agents'] }) {
  return (
    <section aria-labelledby="agents-title">
      <h2 id="agents-title">Agents that say they do it</h2>
      <div class="table-wrap">
        <table class="data">
          <caption class="visually-hidden">Agents with this capability</caption>
          <thead>
            <tr>
              <th scope="col">Agent</th>
              <th scope="col">Wallet</th>
              <th scope="col" class="number">
                Score
              </th>
              <th scope="col" class="number">
                Feedback
              </th>
            </tr>
          </thead>
          <tbody>
            {agents.map((agent) => (
              <tr key={`${agent.chain}/${agent.agent_id}`}>
                <Cell name="Agent">
                  <strong>{agent.name ?? 'no name'}</strong>{' '}
                  <span class="muted small">
                    #{agent.agent_id} on {chainText(agent.chain)}
                  </span>
                </Cell>
                <Cell name="Wallet">
                  {agent.wallet === null ? (
                    <span class="muted">none set</span>
                  ) : (
                    <WalletLink wallet={agent.wallet} party="payee" />
                  )}
                </Cell>
                <Cell name="Score" class="number">
                  {scoreText(agent.score)}
                </Cell>
                <Cell name="Feedback" class="number">
                  {countText(agent.feedback_count)}
                </Cell>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
