import { isIP } from 'node:net';
import type { AgentCard } from '../../core/domain/agent-card.ts';
import type { DocumentFetcher } from '../fetch/document-fetcher.ts';
import { FILE_MEDIA_TYPES } from '../fetch/file-media-types.ts';
import { parseBounded } from './bounded-json.ts';
import type { DomainProof } from './card-row.ts';
import { readRegistrations } from './read-card.ts';

/**
 * Whether the domain that an agent claims says so itself, by /.well-known/agent-registration.json. Source: ERC-8004, protocol.md
 * 4.3. The registration file's own host is no proof: many hold files of strangers, and anyone may point to anybody's file.
 */

const FILE = '/.well-known/agent-registration.json';
/** Platforms may list thousands of agents. */
const FILE_MAX_BYTES = 1024 * 1024;

/** The origin that a card claims: of its web service, else of another service, else of its own URI; null for none. */
export function claimedOrigin(card: AgentCard, uri: string, isTrial: boolean): URL | null {
  const web = card.services.filter((service) => service.name.toLowerCase() === 'web');
  const claimed = [...web, ...card.services].map((service) => service.endpoint);
  for (const text of [...claimed, uri]) {
    const url = URL.canParse(text) ? new URL(text) : null;
    if (url !== null && isProvable(url, isTrial)) return new URL(url.origin);
  }
  return null;
}

/** Plain HTTP proves nothing, and an address is no domain; trials have neither certificates nor names. */
function isProvable(url: URL, isTrial: boolean): boolean {
  if (url.protocol !== 'https:' && !(isTrial && url.protocol === 'http:')) return false;
  return isTrial || (isIP(url.hostname) === 0 && !url.hostname.startsWith('['));
}

/** What domains say, each asked once in the life of this object: one batch of cards. */
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

/** Null when there is no such file: nothing is said, for or against. */
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
