import type { AgentEvent, Attestation } from '../../clickhouse/tables/registries.ts';
import type { Address } from '../../core/domain/address.ts';

/** What agents must be, folded event by event in the order of the chain: slow, obvious, and another way than the index takes. */

export interface NaiveAgent {
  readonly chain: string;
  readonly agentId: string;
  readonly owner: Address;
  readonly wallet: Address;
  readonly uri: string;
  readonly registeredAt: number;
  readonly feedbackCount: number;
  readonly distinctClients: number;
  /** Standing ratings of 0 to 100, each client once, and five more clients of 50; cut at 18 decimals; null without any. */
  readonly score: string | null;
}

const SCORE_DECIMALS = 18;

export function naiveAgents(
  events: readonly AgentEvent[],
  attestations: readonly Attestation[],
): NaiveAgent[] {
  const keys = new Map<string, AgentEvent[]>();
  for (const event of [...events].sort(byPlace)) {
    const key = `${event.chain} ${event.agentId}`;
    keys.set(key, [...(keys.get(key) ?? []), event]);
  }
  return [...keys.values()]
    .flatMap((own) => naiveAgent(own, attestations) ?? [])
    .sort((one, other) => one.chain.localeCompare(other.chain) || compareIds(one.agentId, other.agentId));
}

function naiveAgent(
  events: readonly AgentEvent[],
  attestations: readonly Attestation[],
): NaiveAgent | undefined {
  const registered = events.find(({ kind }) => kind === 'registered');
  if (registered === undefined) return undefined;
  let { account: owner, account: wallet, text: uri } = registered;
  for (const { kind, account, text, blockNumber, logIndex } of events) {
    if (kind === 'transferred') owner = account;
    // Logged right after `Registered`: what held at the mint, whatever happened within it.
    const isAtMint = blockNumber === registered.blockNumber && logIndex === registered.logIndex + 1;
    if (kind === 'wallet_set' && !isAtMint) wallet = account;
    if (kind === 'uri_updated') uri = text;
  }
  const { chain, agentId, blockTime: registeredAt } = registered;
  const about = attestations.filter((row) => row.chain === chain && row.agentId === agentId);
  const standing = about.filter(
    (row) =>
      row.kind === 'feedback' &&
      !about.some(
        (other) =>
          other.kind === 'revocation' &&
          other.client === row.client &&
          other.feedbackIndex === row.feedbackIndex,
      ),
  );
  return {
    chain,
    agentId: String(agentId),
    owner,
    wallet,
    uri,
    registeredAt,
    feedbackCount: standing.length,
    distinctClients: new Set(standing.map(({ client }) => client)).size,
    score: scoreOf(standing),
  };
}

/** Written out by hand, as docs/methodology.md has it. */
const RATING_TAGS = ['', 'starred', 'quality', 'rating', 'score'];
const [HUNDRED, FIFTY, FIVE] = [100n * 10n ** 18n, 50n * 10n ** 18n, 5n];

type Rating = Pick<Attestation, 'client' | 'tag1' | 'value' | 'valueDecimals'>;

/** Of feedback that stands. */
export function scoreOf(standing: readonly Rating[]): string | null {
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

function compareIds(one: string, other: string): number {
  return Number(BigInt(one) - BigInt(other));
}
