import type { AgentEvent, Attestation } from '../../../clickhouse/tables/registries.ts';
import type { Address } from '../../../core/domain/account.ts';
import type { AgentView, FeedbackView } from '../../../demo/chain/registry-views.ts';

/** What agents must be, folded event by event in the order of the chain: slow, obvious, and another way than the index takes. */

/** An agent and everything that was ever said of it. */
export interface FoldedAgent extends AgentView {
  readonly chain: string;
  /** Unix seconds. */
  readonly registeredAt: number;
  /** By client, then index; revoked ones too. */
  readonly feedback: readonly FeedbackView[];
}

export interface NaiveAgent extends FeedbackSummary {
  readonly chain: string;
  readonly agentId: string;
  readonly owner: Address;
  readonly wallet: Address;
  readonly uri: string;
  readonly registeredAt: number;
}

/** Of feedback that is not revoked. */
export interface FeedbackSummary {
  readonly feedbackCount: number;
  readonly distinctClients: number;
  /** Standing ratings of 0 to 100, each client once, and five more clients of 50; cut at 18 decimals; null without any. */
  readonly score: string | null;
}

const SCORE_DECIMALS = 18;

/** Agents as the index derives them. */
export function naiveAgents(
  events: readonly AgentEvent[],
  attestations: readonly Attestation[],
): NaiveAgent[] {
  return foldAgents(events, attestations).map(({ agentId, feedback, ...agent }) => ({
    ...agent,
    agentId: String(agentId),
    ...summaryOf(feedback),
  }));
}

/** In the order of chains and ids. */
export function foldAgents(
  events: readonly AgentEvent[],
  attestations: readonly Attestation[],
): FoldedAgent[] {
  const keys = new Map<string, AgentEvent[]>();
  for (const event of [...events].sort(byPlace)) {
    const key = `${event.chain} ${event.agentId}`;
    keys.set(key, [...(keys.get(key) ?? []), event]);
  }
  return [...keys.values()]
    .flatMap((own) => foldAgent(own, attestations) ?? [])
    .sort((one, other) => one.chain.localeCompare(other.chain) || Number(one.agentId - other.agentId));
}

/**
 * A contract may pass its agent on within the mint, before `Registered` is logged: so the owner is always the newest transfer's,
 * and the wallet that is logged right after `Registered` says only what held at the mint.
 */
function foldAgent(
  events: readonly AgentEvent[],
  attestations: readonly Attestation[],
): FoldedAgent | undefined {
  const registered = events.find(({ kind }) => kind === 'registered');
  if (registered === undefined) return undefined;
  let { account: owner, account: wallet, text: uri } = registered;
  for (const { kind, account, text, blockNumber, logIndex } of events) {
    if (kind === 'transferred') owner = account;
    const isAtMint = blockNumber === registered.blockNumber && logIndex === registered.logIndex + 1;
    if (kind === 'wallet_set' && !isAtMint) wallet = account;
    if (kind === 'uri_updated') uri = text;
  }
  const { chain, agentId, blockTime: registeredAt } = registered;
  const about = attestations.filter((row) => row.chain === chain && row.agentId === agentId);
  return { chain, agentId, owner, wallet, uri, registeredAt, feedback: feedbackOf(about) };
}

function feedbackOf(about: readonly Attestation[]): FeedbackView[] {
  const keyOf = ({ client, feedbackIndex }: Attestation): string => `${client} ${feedbackIndex}`;
  const revoked = new Set(about.filter(({ kind }) => kind === 'revocation').map(keyOf));
  return about
    .filter(({ kind }) => kind === 'feedback')
    .map((row) => {
      const { client, feedbackIndex, value, valueDecimals, tag1, tag2 } = row;
      return { client, feedbackIndex, value, valueDecimals, tag1, tag2, revoked: revoked.has(keyOf(row)) };
    })
    .sort(byClient);
}

export function byClient(one: FeedbackView, other: FeedbackView): number {
  return one.client.localeCompare(other.client) || Number(one.feedbackIndex - other.feedbackIndex);
}

export function summaryOf(feedback: readonly FeedbackView[]): FeedbackSummary {
  const standing = feedback.filter(({ revoked }) => !revoked);
  return {
    feedbackCount: standing.length,
    distinctClients: new Set(standing.map(({ client }) => client)).size,
    score: scoreOf(standing),
  };
}

/** Written out by hand, as docs/methodology.md has it. */
const RATING_TAGS = ['', 'starred', 'quality', 'rating', 'score'];
const [HUNDRED, FIFTY, FIVE] = [100n * 10n ** 18n, 50n * 10n ** 18n, 5n];

type Rating = Pick<FeedbackView, 'client' | 'tag1' | 'value' | 'valueDecimals'>;

function scoreOf(standing: readonly Rating[]): string | null {
  const byClient = new Map<Address, bigint[]>();
  for (const { client, tag1, value, valueDecimals } of standing) {
    const scaled = value * 10n ** BigInt(SCORE_DECIMALS - valueDecimals);
    if (!RATING_TAGS.includes(tag1.toLowerCase()) || scaled < 0n || scaled > HUNDRED) continue;
    byClient.set(client, [...(byClient.get(client) ?? []), scaled]);
  }
  if (byClient.size === 0) return null;
  const means = [...byClient.values()].map((own) => sumOf(own) / BigInt(own.length));
  return decimalText((sumOf(means) + FIVE * FIFTY) / (FIVE + BigInt(means.length)));
}

function sumOf(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}

/** As the engine prints a Decimal: without trailing zeros. */
function decimalText(scaled: bigint): string {
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(SCORE_DECIMALS + 1, '0');
  const whole = digits.slice(0, -SCORE_DECIMALS);
  const fraction = digits.slice(-SCORE_DECIMALS).replace(/0+$/, '');
  return `${scaled < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

function byPlace(one: AgentEvent, other: AgentEvent): number {
  return one.blockNumber - other.blockNumber || one.logIndex - other.logIndex;
}
