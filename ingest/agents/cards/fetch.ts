import { isIP } from 'node:net';
import type { AgentCard } from '../../../core/domain/agent.ts';
import { CAPABILITY_RULE_VERSION, capabilitiesOf } from '../../../core/domain/capability.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { type DocumentFetcher, FILE_MEDIA_TYPES } from '../../fetch/document.ts';
import {
  isMutable,
  isWorthATry,
  NEVER,
  type RetryTimes,
  refreshAt,
  retryAt,
} from '../../fetch/retry-times.ts';
import { parseBounded } from '../values.ts';
import { CARD_MAX_BYTES, readCard, readRegistrations } from './read.ts';
import type { CardRow, DomainProof, DueCard, StoredCard } from './row.ts';

export interface FetchCardDeps {
  readonly fetcher: DocumentFetcher;
  readonly prover: DomainProver;
  /** The chain's identity registry; undefined for a chain that is no longer configured. */
  readonly registryOf: (chain: Chain) => string | undefined;
  /** `identities.allowPrivateHosts`: domains may be loopback, without certificates. */
  readonly isTrial: boolean;
  readonly times: RetryTimes;
  /** Unix seconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Makes one attempt and returns the row to write, for success and failure alike. Throws only when the signal aborts. */
export async function fetchCard(due: DueCard, deps: FetchCardDeps): Promise<CardRow> {
  const { fetcher, signal } = deps;
  const document = await fetcher.fetch(due.uri, {
    maxBytes: CARD_MAX_BYTES,
    mediaTypes: FILE_MEDIA_TYPES,
    signal,
  });
  if (!document.ok) return failedRow(due, document.problem, deps);
  const card = readCard(document.bytes);
  return typeof card === 'string' ? failedRow(due, card, deps) : goodRow(due, card, deps);
}

/** The row of a failed attempt, which keeps the last good card. */
export function failedRow(due: DueCard, problem: string, { times, now }: FetchCardDeps): CardRow {
  const failures = due.failures + 1;
  const triedAt = now();
  const nextTryAt = isWorthATry(due.uri, problem) ? retryAt(triedAt, failures, times) : NEVER;
  const { chain, agentId, uri, card } = due;
  return { chain, agentId, uri, status: 'failed', problem, failures, triedAt, nextTryAt, card };
}

async function goodRow(due: DueCard, card: AgentCard, deps: FetchCardDeps): Promise<CardRow> {
  const { chain, agentId, uri } = due;
  const triedAt = deps.now();
  const stored = await storedCard(due, card, triedAt, deps);
  // An immutable file is read once, but a domain may withdraw its proof.
  const nextTryAt = isMutable(uri) || stored.domain !== '' ? refreshAt(triedAt, deps.times) : NEVER;
  return { chain, agentId, uri, status: 'good', problem: '', failures: 0, triedAt, nextTryAt, card: stored };
}

async function storedCard(
  { chain, agentId, uri }: DueCard,
  card: AgentCard,
  goodAt: number,
  { prover, registryOf, isTrial }: FetchCardDeps,
): Promise<StoredCard> {
  const contract = registryOf(chain);
  const registry = contract === undefined ? null : `${chain}:${contract}`;
  const origin = claimedOrigin(card, uri, isTrial);
  const { name, description, image, services, supportedTrust, x402Support, active } = card;
  return {
    ...{ goodUri: uri, goodAt, name, description, image, supportedTrust, x402Support, active },
    services: JSON.stringify(services),
    capabilities: cardCapabilities(card),
    ruleVersion: CAPABILITY_RULE_VERSION,
    claimsAgent: card.registrations.some((one) => one.agentId === agentId && one.registry === registry),
    domain: origin?.host ?? '',
    domainProof:
      origin === null || registry === null ? 'unchecked' : await prover.prove(origin, { agentId, registry }),
  };
}

/** The capabilities of a card, by the rule of docs/capabilities.md. */
export function cardCapabilities(card: Pick<AgentCard, 'name' | 'description' | 'services'>): string[] {
  return capabilitiesOf({
    name: card.name,
    description: card.description,
    url: card.services.find((service) => service.endpoint.startsWith('http'))?.endpoint ?? '',
    tags: [],
    skills: card.services.flatMap((service) => [...service.skills, ...service.domains]),
  });
}

/**
 * Whether the domain that an agent claims confirms it in /.well-known/agent-registration.json. Source: ERC-8004. The host of the
 * registration file is no proof: many hosts serve files of others, and any agent may point to any file.
 */

const FILE = '/.well-known/agent-registration.json';
/** Platforms may list thousands of agents. */
const FILE_MAX_BYTES = 1024 * 1024;

/** The origin that a card claims: that of its web service, else of another service, else of its own URI; null for none. */
export function claimedOrigin(card: AgentCard, uri: string, isTrial: boolean): URL | null {
  const web = card.services.filter((service) => service.name.toLowerCase() === 'web');
  const claimed = [...web, ...card.services].map((service) => service.endpoint);
  for (const text of [...claimed, uri]) {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url !== null && isProvable(url, isTrial)) return new URL(url.origin);
  }
  return null;
}

/** Plain HTTP proves nothing, and an IP address is not a domain; trials have neither certificates nor names. */
function isProvable(url: URL, isTrial: boolean): boolean {
  if (url.protocol !== 'https:' && !(isTrial && url.protocol === 'http:')) return false;
  return isTrial || (isIP(url.hostname) === 0 && !url.hostname.startsWith('['));
}

/** Answers of domains. This object serves one batch of cards and asks each domain once. */
export interface DomainProver {
  prove(origin: URL, agent: { readonly agentId: bigint; readonly registry: string }): Promise<DomainProof>;
}

export function createDomainProver(fetcher: DocumentFetcher, signal: AbortSignal): DomainProver {
  const asked = new Map<string, Promise<AgentCard['registrations'] | null>>();
  return {
    async prove(origin, agent) {
      const claimed = asked.get(origin.host) ?? readClaims(origin, fetcher, signal);
      asked.set(origin.host, claimed);
      const registrations = await claimed;
      if (registrations === null) return 'unreachable';
      return registrations.some((one) => one.agentId === agent.agentId && one.registry === agent.registry)
        ? 'proven'
        : 'refuted';
    },
  };
}

/** Null if there is no such file, which neither proves nor disproves the claim. */
async function readClaims(
  origin: URL,
  fetcher: DocumentFetcher,
  signal: AbortSignal,
): Promise<AgentCard['registrations'] | null> {
  const options = { maxBytes: FILE_MAX_BYTES, mediaTypes: FILE_MEDIA_TYPES, signal };
  const document = await fetcher.fetch(new URL(FILE, origin).href, options);
  if (!document.ok) return null;
  const file = parseBounded(document.bytes);
  return typeof file === 'string' ? null : readRegistrations(file);
}
