import type { Address } from '../../core/domain/account.ts';
import { isOnRatingScale, isRatingTag, PRIOR_CLIENTS, PRIOR_MEAN } from '../../core/domain/agent.ts';
import type { ApiClient, ServedAgent } from '../api-client.ts';
import type { FeedbackView, RegistryViews } from '../chain/registry-views.ts';

/** The differences between every served agent and the registries' own view functions. */
export interface AgentAudit {
  /** Agents that the registry has. */
  readonly registered: number;
  readonly served: number;
  /** Served agents with a card that could be read. */
  readonly named: number;
  /** Missing, surplus or repeated agents, those with a false field, and invented ratings that pay off. */
  readonly lies: number;
  /** A few of them as text. */
  readonly examples: readonly string[];
}

const PAGE_ROWS = 100;
const EXAMPLES_MAX = 5;
/** Ids run from 0 without gaps, and the registry has no count: so many are asked for at once until one is missing. */
const AGENTS_AT_ONCE = 32;
/** Scores are shown as doubles. */
const SCORE_TOLERANCE = 1e-9;
/** What stands for bytes that are no UTF-8: two readers need not agree about those. */
const REPLACEMENT = '\uFFFD';
const CUT = '…';
const ZERO: string = `0x${'0'.repeat(40)}`;

/** `overrated`: the agent with invented ratings. */
export async function auditAgents(
  client: ApiClient,
  views: RegistryViews,
  overrated: bigint,
): Promise<AgentAudit> {
  const truth = new Map((await readAgents(views)).map((agent) => [agent.agent_id, agent]));
  const registered = truth.size;
  const served = await walk(client);
  const examples: string[] = [];
  for (const agent of served) {
    const real = truth.get(agent.agent_id);
    const difference =
      real === undefined ? 'is not registered, or was served twice' : differenceOf(agent, real);
    if (difference !== null) examples.push(`agent ${agent.agent_id} ${difference}`);
    truth.delete(agent.agent_id);
  }
  for (const id of truth.keys()) examples.push(`agent ${id} is missing`);
  examples.push(...(await rankOfInvented(client, String(overrated))));
  return {
    registered,
    served: served.length,
    named: served.filter(({ name }) => name !== null).length,
    lies: examples.length,
    examples: examples.slice(0, EXAMPLES_MAX),
  };
}

/** Ratings of addresses that paid nothing lead the ranking of all ratings, and are none of those that prove a payment. */
async function rankOfInvented(client: ApiClient, overrated: string): Promise<string[]> {
  const [all, paid] = [await client.bestAgents('score'), await client.bestAgents('paid_score')];
  return [
    ...(all[0] === overrated ? [] : [`agent ${overrated} does not lead by score, in spite of its raters`]),
    ...(paid.includes(overrated)
      ? [`agent ${overrated} is ranked by paid_score, although no rater paid it`]
      : []),
  ];
}

async function walk(client: ApiClient): Promise<ServedAgent[]> {
  const served: ServedAgent[] = [];
  for (let before: string | null = null, more = true; more; ) {
    const page = await client.agents(before, PAGE_ROWS);
    served.push(...page.agents);
    before = page.next_before;
    more = before !== null;
  }
  return served;
}

/** An agent in the form of the API, from the views. */
type TrueAgent = Omit<ServedAgent, 'name'>;

async function readAgents(views: RegistryViews): Promise<TrueAgent[]> {
  const agents: TrueAgent[] = [];
  for (;;) {
    const ids = Array.from({ length: AGENTS_AT_ONCE }, (_, k) => BigInt(agents.length + k));
    const read = await Promise.all(ids.map((id) => readAgent(views, id).catch(() => null)));
    const end = read.indexOf(null);
    agents.push(...read.slice(0, end < 0 ? read.length : end).filter((agent) => agent !== null));
    if (end >= 0) return agents;
  }
}

async function readAgent(views: RegistryViews, agentId: bigint): Promise<TrueAgent> {
  const { owner, wallet, uri } = await views.agent(agentId);
  const feedback = (await views.allFeedback(agentId)).filter(({ revoked }) => !revoked);
  return {
    agent_id: String(agentId),
    owner,
    wallet: wallet === ZERO ? null : wallet,
    agent_uri: uri === '' ? null : uri,
    feedback_count: feedback.length,
    distinct_clients: new Set<Address>(feedback.map(({ client }) => client)).size,
    score: scoreOf(feedback),
  };
}

/** The rule of docs/methodology.md once more, in doubles: ratings from 0 to 100, each client once, and the prior. */
function scoreOf(feedback: readonly FeedbackView[]): number | null {
  const byClient = new Map<Address, number[]>();
  for (const { client, tag1, value, valueDecimals } of feedback)
    if (isRatingTag(tag1) && isOnRatingScale(value, valueDecimals))
      byClient.set(client, [...(byClient.get(client) ?? []), Number(value) / 10 ** valueDecimals]);
  if (byClient.size === 0) return null;
  const means = [...byClient.values()].map((own) => sumOf(own) / own.length);
  return (sumOf(means) + PRIOR_CLIENTS * PRIOR_MEAN) / (PRIOR_CLIENTS + means.length);
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function differenceOf(served: ServedAgent, real: TrueAgent): string | null {
  const facts: readonly (keyof TrueAgent)[] = ['owner', 'wallet', 'feedback_count', 'distinct_clients'];
  const wrong = facts.find((fact) => served[fact] !== real[fact]);
  if (wrong !== undefined) return `has ${wrong} ${served[wrong]}, the registry ${real[wrong]}`;
  if (!isSameUri(served.agent_uri, real.agent_uri)) return 'has another agent_uri';
  return isSameScore(served.score, real.score)
    ? null
    : `has score ${served.score}, the registry ${real.score}`;
}

/** Of a long data: URI the start is shown. */
function isSameUri(served: string | null, real: string | null): boolean {
  if (served === null || real === null) return served === real;
  if (real.includes(REPLACEMENT)) return true;
  return served.endsWith(CUT) ? real.startsWith(served.slice(0, -CUT.length)) : served === real;
}

function isSameScore(one: number | null, other: number | null): boolean {
  if (one === null || other === null) return one === other;
  return Math.abs(one - other) <= SCORE_TOLERANCE * Math.max(1, Math.abs(other));
}
