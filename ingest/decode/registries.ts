import type { DeadLetter } from '../../clickhouse/tables/ingest-state.ts';
import type { AgentEvent, Attestation } from '../../clickhouse/tables/registries.ts';
import { type Address, type Hash, ZERO_ADDRESS, ZERO_HASH } from '../../core/domain/account.ts';
import { REGISTRY_LIMITS } from '../../core/domain/agent.ts';
import type { BlockRef, RawLog } from '../chain/block-source.ts';
import { abiData, MalformedData } from './abi-data.ts';
import { type DecodeContext, deadLetterOf } from './context.ts';
import { addressInWord } from './hex-word.ts';
import { AGENT_WALLET_KEY, REGISTRY_TOPIC } from './log-kind.ts';

export interface DecodedRegistries {
  readonly agentEvents: AgentEvent[];
  readonly attestations: Attestation[];
  readonly deadLetters: DeadLetter[];
}

/**
 * Turns the logs of the ERC-8004 registries into rows. `logs` are the logs of kind `registry`, ascending; `blocks` contain theirs,
 * ascending. A log that does not match its event's types becomes a dead letter; a missing block is a bug and throws.
 */
export function decodeRegistries(
  logs: readonly RawLog[],
  blocks: readonly BlockRef[],
  context: Pick<DecodeContext, 'chain' | 'registries'>,
): DecodedRegistries {
  const decoded: DecodedRegistries = { agentEvents: [], attestations: [], deadLetters: [] };
  let blockAt = 0;
  for (const log of logs) {
    while ((blocks[blockAt]?.number ?? Number.POSITIVE_INFINITY) < log.blockNumber) blockAt++;
    const block = blocks[blockAt];
    if (block?.number !== log.blockNumber)
      throw new Error(`the batch lacks block ${log.blockNumber}, to which a registry's log belongs`);
    try {
      decodeInto(decoded, log, block, context);
    } catch (error) {
      if (!(error instanceof MalformedData)) throw error;
      decoded.deadLetters.push(deadLetterOf(context.chain, log, 'malformed_log'));
    }
  }
  return decoded;
}

function decodeInto(
  { agentEvents, attestations }: DecodedRegistries,
  log: RawLog,
  block: BlockRef,
  { chain, registries }: Pick<DecodeContext, 'chain' | 'registries'>,
): void {
  const { blockNumber, logIndex, transactionHash: txHash } = log;
  const place = { blockTime: block.time, chain, blockNumber, logIndex, blockHash: block.hash, txHash };
  switch (registries.get(log.address)) {
    case 'identity':
      agentEvents.push({ ...place, ...decodeAgentEvent(log) });
      return;
    case 'reputation':
      attestations.push({ ...place, ...decodeReputation(log) });
      return;
    case 'validation':
      attestations.push({ ...place, ...decodeValidation(log) });
      return;
    default:
      throw new Error(`${log.address} is no registry of ${chain}`);
  }
}

/** The content of an identity log, without its position in the chain. */
type AgentEventFields = Pick<AgentEvent, 'kind' | 'agentId' | 'account' | 'text' | 'data'>;

const EMPTY_DATA = '0x';
/** A wallet is packed, not padded to a word. */
const WALLET_BYTES = 20;

/** Decodes a log of an identity registry. Throws `MalformedData`. Source: ERC-8004. */
function decodeAgentEvent(log: RawLog): AgentEventFields {
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

/** The content of a log of the reputation or the validation registry, without its position in the chain. */
type AttestationFields = Omit<
  Attestation,
  'blockTime' | 'chain' | 'blockNumber' | 'logIndex' | 'blockHash' | 'txHash'
>;

type Filled = 'kind' | 'agentId' | 'author';

/** The protocol's own limits: a registry accepts no more. */
const VALUE_DECIMALS_MAX = 18n;
const RESPONSE_MAX = 100n;

const { labelBytesMax, uriBytesMax } = REGISTRY_LIMITS;

/** Decodes a log of a reputation registry. Throws `MalformedData`. Source: ERC-8004. */
function decodeReputation(log: RawLog): AttestationFields {
  switch (log.topics[0]) {
    case REGISTRY_TOPIC.newFeedback:
      return feedback(log);
    case REGISTRY_TOPIC.feedbackRevoked:
      return revocation(log);
    default:
      return feedbackResponse(log);
  }
}

/** Decodes a log of a validation registry. Throws `MalformedData`. Source: ERC-8004. */
function decodeValidation(log: RawLog): AttestationFields {
  return log.topics[0] === REGISTRY_TOPIC.validationRequest
    ? validationRequest(log)
    : validationResponse(log);
}

/** Of the three indexed values the last is the hash of tag1, which the data holds in full. */
function feedback(log: RawLog): AttestationFields {
  const [agentId, client] = requireTopics(log, 3);
  const data = abiData(log.data);
  const author = addressInWord(client);
  return attestation({
    kind: 'feedback',
    agentId: BigInt(agentId),
    author,
    client: author,
    feedbackIndex: data.uint(0, 64),
    value: data.int(1, 128),
    valueDecimals: atMost(data.uint(2, 8), VALUE_DECIMALS_MAX),
    tag1: data.text(3, labelBytesMax),
    tag2: data.text(4, labelBytesMax),
    endpoint: data.text(5, labelBytesMax),
    uri: data.text(6, uriBytesMax),
    fileHash: data.bytes32(7),
  });
}

function revocation(log: RawLog): AttestationFields {
  const [agentId, client, index] = requireTopics(log, 3);
  const author = addressInWord(client);
  const feedbackIndex = abiData(index).uint(0, 64);
  return attestation({ kind: 'revocation', agentId: BigInt(agentId), author, client: author, feedbackIndex });
}

function feedbackResponse(log: RawLog): AttestationFields {
  const [agentId, client, responder] = requireTopics(log, 3);
  const data = abiData(log.data);
  return attestation({
    kind: 'response',
    agentId: BigInt(agentId),
    author: addressInWord(responder),
    client: addressInWord(client),
    feedbackIndex: data.uint(0, 64),
    uri: data.text(1, uriBytesMax),
    fileHash: data.bytes32(2),
  });
}

function validationRequest(log: RawLog): AttestationFields {
  const uri = abiData(log.data).text(0, uriBytesMax);
  return attestation({ kind: 'validation_request', ...validationParties(log), uri });
}

function validationResponse(log: RawLog): AttestationFields {
  const data = abiData(log.data);
  return attestation({
    kind: 'validation_response',
    ...validationParties(log),
    value: BigInt(atMost(data.uint(0, 8), RESPONSE_MAX)),
    uri: data.text(1, uriBytesMax),
    fileHash: data.bytes32(2),
    tag1: data.text(3, labelBytesMax),
  });
}

function validationParties(log: RawLog): Pick<Attestation, 'author' | 'agentId'> & { requestHash: Hash } {
  const [validator, agentId, requestHash] = requireTopics(log, 3);
  return { author: addressInWord(validator), agentId: BigInt(agentId), requestHash };
}

function atMost(value: bigint, max: bigint): number {
  if (value > max) throw new MalformedData(`${value} is above ${max}`);
  return Number(value);
}

function attestation(
  fields: Pick<AttestationFields, Filled> & Partial<Omit<AttestationFields, Filled>>,
): AttestationFields {
  return {
    client: ZERO_ADDRESS,
    feedbackIndex: 0n,
    value: 0n,
    valueDecimals: 0,
    tag1: '',
    tag2: '',
    endpoint: '',
    uri: '',
    fileHash: ZERO_HASH,
    requestHash: ZERO_HASH,
    ...fields,
  };
}

type Indexed<Count extends 2 | 3> = Count extends 2 ? readonly [Hash, Hash] : readonly [Hash, Hash, Hash];

/** The indexed words of an event, exactly `count` of them. Throws `MalformedData`. */
function requireTopics<Count extends 2 | 3>({ topics }: RawLog, count: Count): Indexed<Count> {
  if (topics.length !== count + 1) throw new MalformedData(`${topics.length} topics instead of ${count + 1}`);
  return topics.slice(1) as unknown as Indexed<Count>; // counted just now
}
