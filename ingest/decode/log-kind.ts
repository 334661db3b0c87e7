import type { Address } from '../../core/domain/address.ts';
import type { RegistryRole } from '../../core/domain/chains.ts';
import type { Hash } from '../../core/domain/settlement.ts';
import type { EventsOf, LogFilter, RawLog } from '../chain/block-source.ts';
import type { DecodeContext } from './context.ts';
import { addressInWord, WORD_CHARS } from './hex-word.ts';
import { TOPIC, TOPICS_OF_ROLE } from './topics.ts';

/**
 * What a log is to us: decided here alone, for the filter that is read with, for pairing and for decoding. Numbers, so that a
 * batch's kinds are one byte array instead of an object per log.
 */
export const KIND = {
  other: 0,
  transfer: 1,
  authorization: 2,
  proxySettled: 3,
  malformed: 4,
  registry: 5,
} as const;

export type LogKind = (typeof KIND)[keyof typeof KIND];

const EMPTY_DATA = '0x';

type Emitter = 'token' | 'proxy' | RegistryRole | 'other';

type Emitters = Pick<DecodeContext, 'tokens' | 'proxies' | 'registries'>;

const REGISTRY_EVENTS: Readonly<Partial<Record<Emitter, ReadonlySet<Hash | undefined>>>> = {
  identity: new Set(TOPICS_OF_ROLE.identity),
  reputation: new Set(TOPICS_OF_ROLE.reputation),
  validation: new Set(TOPICS_OF_ROLE.validation),
};

function emitterOf(log: RawLog, { tokens, proxies, registries }: Emitters): Emitter {
  if (tokens.has(log.address)) return 'token';
  return proxies.has(log.address) ? 'proxy' : (registries.get(log.address) ?? 'other');
}

/**
 * Tells logs apart by emitter, topic0 and layout. Words are not looked into: most logs are transfers that are not payments,
 * and every string that is not touched is a cache miss saved.
 */
export function kindOf(log: RawLog, emitters: Emitters): LogKind {
  return kindFrom(log, emitterOf(log, emitters));
}

function kindFrom(log: RawLog, emitter: Emitter): LogKind {
  switch (log.topics[0]) {
    case TOPIC.transfer:
      return emitter === 'token' ? transferKind(log) : registryKind(log, emitter);
    case TOPIC.authorizationUsed:
      return emitter === 'token' ? authorizationKind(log) : KIND.other;
    case TOPIC.permit2Settled:
    case TOPIC.permit2SettledWithPermit:
      return emitter === 'proxy' ? proxyKind(log) : KIND.other;
    default:
      return registryKind(log, emitter);
  }
}

/** Topics are all that is looked at: what is not laid out as its event says is found when it is decoded. */
function registryKind({ topics }: RawLog, emitter: Emitter): LogKind {
  return REGISTRY_EVENTS[emitter]?.has(topics[0]) ? KIND.registry : KIND.other;
}

/** Four topics are an ERC-721 transfer: another event with the same topic0, so not ours rather than malformed. */
function transferKind({ topics, data }: RawLog): LogKind {
  if (topics.length === 4) return KIND.other;
  return topics.length === 3 && data.length === WORD_CHARS ? KIND.transfer : KIND.malformed;
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

/** The contracts whose logs are asked for. */
export function emittersOf({ tokens, proxies, registries }: Emitters): Address[] {
  return [...tokens.keys(), ...proxies, ...registries.keys()];
}

/**
 * What to fetch for a chain, and which logs make a transaction worth reading: every settlement has a candidate log in its
 * own transaction, so whatever `decodeBatch` needs of a transaction is there.
 */
export function logFilterOf(context: DecodeContext): LogFilter {
  const matters = whatMatters(context);
  return {
    addresses: emittersOf(context),
    topics: [...new Set(matters.flatMap(({ topics }) => topics))],
    matters,
    isCandidate: (log) => isCandidate(log, context),
  };
}

/** A Permit2 proxy's Transfer would say nothing, nor would a token's registration. */
function whatMatters({ tokens, proxies, registries }: DecodeContext): EventsOf[] {
  return [
    { addresses: [...tokens.keys()], topics: [TOPIC.transfer, TOPIC.authorizationUsed] },
    { addresses: [...proxies], topics: [TOPIC.permit2Settled, TOPIC.permit2SettledWithPermit] },
    ...[...registries].map(([address, role]) => ({ addresses: [address], topics: TOPICS_OF_ROLE[role] })),
  ];
}

/** A registry's log needs its block alone, for the time; that its transaction is read with it costs little: they are rare. */
export function isCandidate(log: RawLog, context: DecodeContext): boolean {
  switch (kindOf(log, context)) {
    case KIND.authorization:
    case KIND.proxySettled:
    case KIND.registry:
      return true;
    case KIND.transfer: {
      const payee = log.topics[2];
      return payee !== undefined && context.isCataloguedPayee(addressInWord(payee));
    }
    default:
      return false;
  }
}
