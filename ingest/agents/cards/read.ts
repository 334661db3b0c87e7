import type { AgentCard, AgentService } from '../../../core/domain/agent.ts';
import { readChainAccount } from '../../../core/domain/chains.ts';
import { fieldOf, isObject } from '../../fetch/document.ts';
import {
  JSON_PROBLEMS,
  type JsonProblem,
  parseBounded,
  readAgentId,
  readEndpoint,
  readFlag,
  readImage,
  readRegistry,
  readText,
  readWords,
} from '../values.ts';

/** Why a fetched file is not a registration file. */
export const CARD_PROBLEMS = {
  ...JSON_PROBLEMS,
  not_a_card: 'The JSON has none of the fields of a registration file.',
} as const;

export type CardProblem = JsonProblem | 'not_a_card';

/** Cards with an embedded picture have some hundred kilobytes. */
export const CARD_MAX_BYTES = 512 * 1_024;
const NAME_MAX_CHARS = 120;
const DESCRIPTION_MAX_CHARS = 2_000;
const VERSION_MAX_CHARS = 40;
const SERVICES_MAX = 32;
/** Limit on all services together, as JSON: an agent's row is read with many others. */
const SERVICES_MAX_CHARS = 16_000;
const REGISTRATIONS_MAX = 100;
const SKILLS = { itemsMax: 32, maxChars: 100 } as const;
const TRUST = { itemsMax: 16, maxChars: 60 } as const;
/** Every variant has at least one of these. */
const CARD_FIELDS = ['name', 'description', 'services', 'endpoints', 'registrations', 'x402Support'] as const;

/**
 * Reads registration files as found in the wild, beyond the form of ERC-8004: `endpoints` for `services`, a map or a list of bare
 * strings for either, spellings of `x402Support` and `supportedTrust`, strings instead of lists, a missing `type`. An unreadable
 * field counts as absent. docs/identities.md lists the variants.
 */
export function readCard(bytes: Uint8Array): AgentCard | CardProblem {
  const file = parseBounded(bytes);
  if (typeof file === 'string') return file;
  if (fieldOf(file, ...CARD_FIELDS) === undefined) return 'not_a_card';
  const listed = readServices(fieldOf(file, 'services'));
  const services = listed.length > 0 ? listed : readServices(fieldOf(file, 'endpoints'));
  return {
    name: readText(fieldOf(file, 'name'), NAME_MAX_CHARS),
    description: readText(fieldOf(file, 'description'), DESCRIPTION_MAX_CHARS),
    image: readImage(fieldOf(file, 'image')),
    services: [...readWallets(fieldOf(file, 'wallets')), ...services].slice(0, SERVICES_MAX),
    x402Support: readFlag(fieldOf(file, 'x402Support', 'x402support', 'x402_support', 'x402')) ?? false,
    active: readFlag(fieldOf(file, 'active')) ?? true,
    supportedTrust: readWords(fieldOf(file, 'supportedTrust', 'supportedTrusts', 'supported_trust'), TRUST),
    registrations: readRegistrations(file),
  };
}

/** The registrations that a card, or a domain's /.well-known/agent-registration.json, claims. */
export function readRegistrations(file: unknown): AgentCard['registrations'] {
  const claimed = fieldOf(file, 'registrations');
  const entries: readonly unknown[] = Array.isArray(claimed) ? claimed : [claimed];
  return entries.slice(0, REGISTRATIONS_MAX).flatMap((entry) => {
    const agentId = readAgentId(fieldOf(entry, 'agentId', 'agent_id'));
    const registry = readRegistry(fieldOf(entry, 'agentRegistry', 'agent_registry'));
    return agentId === null || registry === '' ? [] : [{ agentId, registry }];
  });
}

function readServices(value: unknown): readonly AgentService[] {
  let chars = 0;
  return entriesOf(value)
    .slice(0, SERVICES_MAX)
    .map(([key, entry]) => readService(key, entry))
    .filter((service) => service.name !== '' || service.endpoint !== '')
    .filter((service) => {
      chars += JSON.stringify(service).length;
      return chars <= SERVICES_MAX_CHARS;
    });
}

const WALLETS_MAX = 8;

/** Accounts that a card names as its own, as ERC-8004 writes its wallet: a service whose endpoint is the account (CAIP-10). */
function readWallets(value: unknown): readonly AgentService[] {
  return entriesOf(value)
    .flatMap(([, entry]) => {
      const account = typeof entry === 'string' ? entry : fieldOf(entry, 'account', 'endpoint', 'address');
      const isAccount = typeof account === 'string' && readChainAccount(account) !== null;
      return isAccount
        ? [{ name: 'agentWallet', endpoint: account, version: '', skills: [], domains: [] }]
        : [];
    })
    .slice(0, WALLETS_MAX);
}

/** Entries of a list without a key, or of a map with their keys. */
function entriesOf(value: unknown): readonly (readonly [key: string, entry: unknown])[] {
  if (Array.isArray(value)) return value.slice(0, SERVICES_MAX).map((entry) => ['', entry]);
  if (isObject(value)) return Object.entries(value);
  return typeof value === 'string' ? [['', value]] : [];
}

function readService(key: string, entry: unknown): AgentService {
  const endpoint = readEndpoint(
    typeof entry === 'string' ? entry : fieldOf(entry, 'endpoint', 'url', 'uri', 'value'),
  );
  const named = fieldOf(entry, 'name', 'type', 'protocol') ?? key;
  const nameless = endpoint.startsWith('http') ? 'web' : '';
  const skills = ['skills', 'a2aSkills', 'mcpTools', 'tools', 'capabilities'].flatMap((field) =>
    readWords(fieldOf(entry, field), SKILLS),
  );
  return {
    name: readText(named, VERSION_MAX_CHARS) || nameless,
    endpoint,
    version: readText(fieldOf(entry, 'version'), VERSION_MAX_CHARS),
    skills: [...new Set(skills)].slice(0, SKILLS.itemsMax),
    domains: readWords(fieldOf(entry, 'domains'), SKILLS),
  };
}
