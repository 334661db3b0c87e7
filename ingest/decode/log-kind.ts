import type { Address, Hash } from '../../core/domain/account.ts';
import type { RegistryRole } from '../../core/domain/chains.ts';
import type { EventsOf, LogFilter, RawLog } from '../chain/block-source.ts';
import { BATCH_EVENTS, ESCROW_EVENTS } from './channels/events.ts';
import type { ChannelContract } from './channels/moves.ts';
import type { DecodeContext } from './context.ts';
import { addressInWord, WORD_CHARS } from './hex-word.ts';

/** topic0 values of the events that make a settlement. Source: EIP-3009 (computed with viem, proved on Circle's bytecode). */
export const TOPIC = {
  /** Transfer(address indexed,address indexed,uint256); an ERC-721 Transfer has four topics. */
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  /** EIP-3009 AuthorizationUsed(address indexed authorizer,bytes32 indexed nonce), empty data. */
  authorizationUsed: '0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5',
  /** x402 Permit2 proxies: Settled(). */
  permit2Settled: '0x97088ec3606cfe8cc112180570d03fcde05f9b8e1bfef8e27784eaf5dd5691b6',
  /** x402 Permit2 proxies: SettledWithPermit(). */
  permit2SettledWithPermit: '0xde5b89d10fc800c459329c382fabfcad0be0ed7e5328e01fae04e507b09ef5d8',
} as const satisfies Record<string, Hash>;

/** topic0 values of the ERC-8004 registries' events. Source: ERC-8004 (computed with viem, as the tests do again). */
export const REGISTRY_TOPIC = {
  /** Registered(uint256 indexed agentId,string agentURI,address indexed owner). */
  registered: '0xca52e62c367d81bb2e328eb795f7c7ba24afb478408a26c0e201d155c449bc4a',
  /** URIUpdated(uint256 indexed agentId,string newURI,address indexed updatedBy). */
  uriUpdated: '0x3a2c7fffc2cba7582c690e3b82c453ea02a308326a98a3ad7576c606336409fb',
  /** MetadataSet(uint256 indexed agentId,string indexed indexedMetadataKey,string metadataKey,bytes metadataValue). */
  metadataSet: '0x2c149ed548c6d2993cd73efe187df6eccabe4538091b33adbd25fafdb8a1468b',
  /** Transfer(address indexed,address indexed,uint256 indexed): the topic of a token's, with one topic more. */
  transfer: TOPIC.transfer,
  /** NewFeedback(uint256 indexed,address indexed,uint64,int128,uint8,string indexed,string,string,string,string,bytes32). */
  newFeedback: '0x6a4a61743519c9d648a14e6493f47dbe3ff1aa29e7785c96c8326a205e58febc',
  /** FeedbackRevoked(uint256 indexed agentId,address indexed clientAddress,uint64 indexed feedbackIndex). */
  feedbackRevoked: '0x25156fd3288212246d8b008d5921fde376c71ed14ac2e072a506eb06fde6d09d',
  /** ResponseAppended(uint256 indexed,address indexed client,uint64,address indexed responder,string,bytes32). */
  responseAppended: '0xb1c6be0b5b8aef6539e2fac0fd131a2faa7b49edf8e505b5eb0ad487d56051d4',
  /** ValidationRequest(address indexed validator,uint256 indexed agentId,string,bytes32 indexed requestHash). */
  validationRequest: '0x530436c3634a98e1e626b0898be2f1e9980cc1bd2a78c07a0aba52d0a48a5059',
  /** ValidationResponse(address indexed,uint256 indexed,bytes32 indexed requestHash,uint8,string,bytes32,string). */
  validationResponse: '0xafddf629e874ccc3963b6a888c477bd464a6c8525024fc88759ea3b2326349ae',
} as const satisfies Record<string, Hash>;

/**
 * The relevant events of each registry. Its other events (Approval, ERC-4906's MetadataUpdate, Upgraded) add no information.
 */
export const TOPICS_OF_ROLE: Readonly<Record<RegistryRole, readonly Hash[]>> = {
  identity: [
    REGISTRY_TOPIC.registered,
    REGISTRY_TOPIC.uriUpdated,
    REGISTRY_TOPIC.metadataSet,
    REGISTRY_TOPIC.transfer,
  ],
  reputation: [REGISTRY_TOPIC.newFeedback, REGISTRY_TOPIC.feedbackRevoked, REGISTRY_TOPIC.responseAppended],
  validation: [REGISTRY_TOPIC.validationRequest, REGISTRY_TOPIC.validationResponse],
};

/** keccak-256 of `agentWallet`: the indexed key of a MetadataSet that sets or clears the wallet of an agent. */
export const AGENT_WALLET_KEY: Hash = '0x2ac6109326e720d1435c0db66f7e35eda7839f52b6f1f5520a60788e132b4e39';

/**
 * The kind of a log, decided only here, for the filter, for pairing and for decoding. Numbers, so that a batch's kinds are one byte
 * array instead of an object per log.
 */
export const KIND = {
  other: 0,
  transfer: 1,
  authorization: 2,
  proxySettled: 3,
  malformed: 4,
  registry: 5,
  channel: 6,
  /** A transfer of a token that is not listed: read only from the receipt of a transaction in which a proxy settled one. */
  unlistedTransfer: 7,
} as const;

export type LogKind = (typeof KIND)[keyof typeof KIND];

const EMPTY_DATA = '0x';

type Emitter = 'token' | 'proxy' | RegistryRole | ChannelContract['scheme'] | 'other';

type Emitters = Pick<DecodeContext, 'tokens' | 'proxies' | 'registries' | 'channels'>;

/** topic0 of the events of channel contracts. */
const TOPICS_OF_SCHEME: Readonly<Record<ChannelContract['scheme'], readonly Hash[]>> = {
  'batch-settlement': Object.keys(BATCH_EVENTS) as Hash[], // as its type says
  'auth-capture': Object.keys(ESCROW_EVENTS) as Hash[], // likewise
};

export const CHANNEL_TOPICS: readonly Hash[] = Object.values(TOPICS_OF_SCHEME).flat();

const EVENTS: Readonly<Partial<Record<Emitter, ReadonlySet<Hash | undefined>>>> = {
  identity: new Set(TOPICS_OF_ROLE.identity),
  reputation: new Set(TOPICS_OF_ROLE.reputation),
  validation: new Set(TOPICS_OF_ROLE.validation),
  'batch-settlement': new Set(TOPICS_OF_SCHEME['batch-settlement']),
  'auth-capture': new Set(TOPICS_OF_SCHEME['auth-capture']),
};

function emitterOf({ address }: RawLog, { tokens, proxies, registries, channels }: Emitters): Emitter {
  if (tokens.has(address)) return 'token';
  if (proxies.has(address)) return 'proxy';
  return registries.get(address) ?? channels.get(address)?.scheme ?? 'other';
}

/**
 * Classifies logs by emitter, topic0 and layout. Does not read words: most logs are transfers that are not payments, and every string
 * left untouched saves a cache miss.
 */
export function kindOf(log: RawLog, emitters: Emitters): LogKind {
  return kindFrom(log, emitterOf(log, emitters));
}

function kindFrom(log: RawLog, emitter: Emitter): LogKind {
  switch (log.topics[0]) {
    case TOPIC.transfer:
      if (emitter === 'token') return transferKind(log);
      return emitter === 'other' && isTransfer(log) ? KIND.unlistedTransfer : eventKind(log, emitter);
    case TOPIC.authorizationUsed:
      return emitter === 'token' ? authorizationKind(log) : KIND.other;
    case TOPIC.permit2Settled:
    case TOPIC.permit2SettledWithPermit:
      return emitter === 'proxy' ? proxyKind(log) : KIND.other;
    default:
      return eventKind(log, emitter);
  }
}

/** Checks only topics; decoding finds logs with a wrong layout. */
function eventKind({ topics }: RawLog, emitter: Emitter): LogKind {
  if (!EVENTS[emitter]?.has(topics[0])) return KIND.other;
  return emitter in TOPICS_OF_SCHEME ? KIND.channel : KIND.registry;
}

/** Four topics are an ERC-721 transfer, another event with the same topic0: not ours, and not malformed. */
function transferKind(log: RawLog): LogKind {
  if (log.topics.length === 4) return KIND.other;
  return isTransfer(log) ? KIND.transfer : KIND.malformed;
}

function isTransfer({ topics, data }: RawLog): boolean {
  return topics.length === 3 && data.length === WORD_CHARS;
}

function authorizationKind({ topics, data }: RawLog): LogKind {
  return topics.length === 3 && data === EMPTY_DATA ? KIND.authorization : KIND.malformed;
}

function proxyKind({ topics, data }: RawLog): LogKind {
  return topics.length === 1 && data === EMPTY_DATA ? KIND.proxySettled : KIND.malformed;
}

/** The kind of every log, by position. */
export function kindsOf(logs: readonly RawLog[], emitters: Emitters): Uint8Array {
  const kinds = new Uint8Array(logs.length);
  // Neighbours mostly share their emitter: comparing with the last one is several times cheaper than hashing each address.
  let address = '';
  let emitter: Emitter = 'other';
  for (let at = 0; at < logs.length; at++) {
    const log = logs[at];
    if (log === undefined) continue;
    if (log.address !== address) {
      address = log.address;
      emitter = emitterOf(log, emitters);
    }
    kinds[at] = kindFrom(log, emitter);
  }
  return kinds;
}

/** The contracts whose logs are requested. */
export function emittersOf({ tokens, proxies, registries, channels }: Emitters): Address[] {
  return [...tokens.keys(), ...proxies, ...registries.keys(), ...channels.keys()];
}

/**
 * The logs to fetch for a chain, and those whose transactions are read: every settlement has a candidate log in its own transaction,
 * so `decodeBatch` has every transaction that it needs.
 */
export function logFilterOf(context: DecodeContext): LogFilter {
  const matters = whatMatters(context);
  return {
    addresses: emittersOf(context),
    topics: [...new Set(matters.flatMap(({ topics }) => topics))],
    matters,
    // A bare transfer is one only where its payee is catalogued.
    alwaysCandidates: [...new Set(matters.flatMap(({ topics }) => topics))].filter(
      (topic) => topic !== TOPIC.transfer,
    ),
    isCandidate: (log) => isCandidate(log, context),
  };
}

/** A Transfer from a Permit2 proxy, or a registration from a token, would mean nothing. */
function whatMatters({ tokens, proxies, registries, channels }: DecodeContext): EventsOf[] {
  return [
    { addresses: [...tokens.keys()], topics: [TOPIC.transfer, TOPIC.authorizationUsed] },
    { addresses: [...proxies], topics: [TOPIC.permit2Settled, TOPIC.permit2SettledWithPermit] },
    ...[...registries].map(([address, role]) => ({ addresses: [address], topics: TOPICS_OF_ROLE[role] })),
    ...[...channels.values()].map(({ address, scheme }) => ({
      addresses: [address],
      topics: TOPICS_OF_SCHEME[scheme],
    })),
  ];
}

/** A registry's log needs only its block, for the time; reading its transaction too costs little, because such logs are rare. */
export function isCandidate(log: RawLog, context: DecodeContext): boolean {
  switch (kindOf(log, context)) {
    case KIND.authorization:
    case KIND.proxySettled:
    case KIND.registry:
    case KIND.channel:
      return true;
    case KIND.transfer: {
      const payee = log.topics[2];
      return payee !== undefined && context.isCataloguedPayee(addressInWord(payee));
    }
    default:
      return false;
  }
}
