import { countText } from '../format.ts';
import type { Agent } from './wire.ts';

const SCORE_DECIMALS = 2;

/** A mean, rounded for the eye to two decimals; the API has all of them. */
export function scoreText(score: number | null): string {
  return score === null ? 'unscored' : String(Number(score.toFixed(SCORE_DECIMALS)));
}

/** How many rated it, and from how many addresses: both stand beside every score, because ratings cost only gas. */
export function AttestationLine({ agent }: { readonly agent: Agent }) {
  if (agent.feedback_count === 0) return <span class="muted">none</span>;
  return (
    <span>
      {countText(agent.feedback_count)} from {countText(agent.distinct_clients)}{' '}
      {agent.distinct_clients === 1 ? 'client' : 'clients'}
    </span>
  );
}
