import type { Address } from '../../core/domain/address.ts';
import { type AgentEvent, REGISTRY_LIMITS } from '../../core/domain/registry-event.ts';
import type { RawLog } from '../chain/block-source.ts';
import { abiData, MalformedData } from './abi-data.ts';
import { addressInWord } from './hex-word.ts';
import { requireTopics, ZERO_ADDRESS } from './registry-log.ts';
import { AGENT_WALLET_KEY, REGISTRY_TOPIC } from './registry-topics.ts';

/** What an identity log says, without its place in the chain. */
export type AgentEventFields = Pick<AgentEvent, 'kind' | 'agentId' | 'account' | 'text' | 'data'>;

const EMPTY_DATA = '0x';
/** A wallet is packed, not padded to a word. */
const WALLET_BYTES = 20;

/** Decodes a log of an identity registry. Throws `MalformedData`. Source: protocol.md 4.2. */
export function decodeAgentEvent(log: RawLog): AgentEventFields {
  switch (log.topics[0]) {
    case REGISTRY_TOPIC.registered:
      return uriEvent('registered', log);
    case REGISTRY_TOPIC.uriUpdated:
      return uriEvent('uri_updated', log);
    case REGISTRY_TOPIC.metadataSet:
      return metadataEvent(log);
    default:
      return transferEvent(log);
  }
}

/** Registered and URIUpdated: an agent, a URI, and who owns it or has set it. */
function uriEvent(kind: 'registered' | 'uri_updated', log: RawLog): AgentEventFields {
  const [agentId, account] = requireTopics(log, 2);
  const text = abiData(log.data).text(0, REGISTRY_LIMITS.uriBytesMax);
  return { kind, agentId: BigInt(agentId), account: addressInWord(account), text, data: EMPTY_DATA };
}

function metadataEvent(log: RawLog): AgentEventFields {
  const [agent, key] = requireTopics(log, 2);
  const agentId = BigInt(agent);
  const data = abiData(log.data);
  const text = data.text(0, REGISTRY_LIMITS.labelBytesMax);
  const value = data.bytes(1, REGISTRY_LIMITS.metadataBytesMax);
  if (key === AGENT_WALLET_KEY)
    return { kind: 'wallet_set', agentId, account: walletIn(value), text: '', data: EMPTY_DATA };
  return { kind: 'metadata_set', agentId, account: ZERO_ADDRESS, text, data: value.hex };
}

function walletIn({ hex, length }: { readonly hex: string; readonly length: number }): Address {
  if (length === 0) return ZERO_ADDRESS;
  if (length !== WALLET_BYTES) throw new MalformedData('a wallet that is not 20 bytes');
  return hex as Address; // 20 bytes of checked hex
}

function transferEvent(log: RawLog): AgentEventFields {
  const [, to, agentId] = requireTopics(log, 3);
  if (log.data !== EMPTY_DATA) throw new MalformedData('a transfer of a token id with data');
  return {
    kind: 'transferred',
    agentId: BigInt(agentId),
    account: addressInWord(to),
    text: '',
    data: EMPTY_DATA,
  };
}
