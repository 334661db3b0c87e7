import { type Attestation, REGISTRY_LIMITS } from '../../core/domain/registry-event.ts';
import type { Hash } from '../../core/domain/settlement.ts';
import type { RawLog } from '../chain/block-source.ts';
import { abiData, MalformedData } from './abi-data.ts';
import { addressInWord } from './hex-word.ts';
import { requireTopics, ZERO_ADDRESS, ZERO_HASH } from './registry-log.ts';
import { REGISTRY_TOPIC } from './registry-topics.ts';

/** What a log of the reputation or the validation registry says, without its place in the chain. */
export type AttestationFields = Omit<
  Attestation,
  'blockTime' | 'chain' | 'blockNumber' | 'logIndex' | 'blockHash' | 'txHash'
>;

type Filled = 'kind' | 'agentId' | 'author';

/** The protocol's own limits: a registry accepts no more. */
const VALUE_DECIMALS_MAX = 18n;
const RESPONSE_MAX = 100n;

const { labelBytesMax, uriBytesMax } = REGISTRY_LIMITS;

/** Decodes a log of a reputation registry. Throws `MalformedData`. Source: protocol.md 4.2. */
export function decodeReputation(log: RawLog): AttestationFields {
  switch (log.topics[0]) {
    case REGISTRY_TOPIC.newFeedback:
      return feedback(log);
    case REGISTRY_TOPIC.feedbackRevoked:
      return revocation(log);
    default:
      return response(log);
  }
}

/** Decodes a log of a validation registry. Throws `MalformedData`. Source: protocol.md 4.2. */
export function decodeValidation(log: RawLog): AttestationFields {
  return log.topics[0] === REGISTRY_TOPIC.validationRequest ? request(log) : validation(log);
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

function response(log: RawLog): AttestationFields {
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

function request(log: RawLog): AttestationFields {
  const uri = abiData(log.data).text(0, uriBytesMax);
  return attestation({ kind: 'validation_request', ...validationParties(log), uri });
}

function validation(log: RawLog): AttestationFields {
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
