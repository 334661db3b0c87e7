import { type AbiEvent, encodeAbiParameters, encodeEventTopics, type Hex, parseAbi } from 'viem';
import { type Address, address, type Hash } from '../../core/domain/account.ts';
import type { Registries } from '../../core/domain/chains.ts';
import type { Event } from './chain-logs.ts';

/** Logs of the ERC-8004 registries as viem encodes them from the events' declarations. */

export const REGISTRY_EVENTS = parseAbi([
  'event Registered(uint256 indexed agentId, string agentURI, address indexed owner)',
  'event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy)',
  'event MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue)',
  'event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)',
  'event NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, int128 value, uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash)',
  'event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex)',
  'event ResponseAppended(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, address indexed responder, string responseURI, bytes32 responseHash)',
  'event ValidationRequest(address indexed validatorAddress, uint256 indexed agentId, string requestURI, bytes32 indexed requestHash)',
  'event ValidationResponse(address indexed validatorAddress, uint256 indexed agentId, bytes32 indexed requestHash, uint8 response, string responseURI, bytes32 responseHash, string tag)',
  'event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)',
  'event MetadataUpdate(uint256 _tokenId)',
  'event Upgraded(address indexed implementation)',
]);

export const IDENTITY = address('0x8004a169fb4a3325136eb29fa0ceb6d2e539a432');
export const REPUTATION = address('0x8004baa17c55a88189ae136b182e5fda19de9b63');
export const VALIDATION = address('0x8004cc8439f36fd5f9f049d9ff86523df6daab58');
export const REGISTRIES: Registries = {
  identity: IDENTITY,
  reputation: REPUTATION,
  validation: VALIDATION,
};

type EventName = (typeof REGISTRY_EVENTS)[number]['name'];

/** An event by its name and its values by theirs. An indexed text may be left out: it is that of `metadataKey` or `tag1`. */
export function registryEvent(
  emitter: Address,
  eventName: EventName,
  given: Readonly<Record<string, unknown>>,
): Event {
  const events: readonly AbiEvent[] = REGISTRY_EVENTS;
  const { inputs } = events.find(({ name }) => name === eventName) ?? { inputs: [] };
  const values: Record<string, unknown> = {
    indexedMetadataKey: given['metadataKey'],
    indexedTag1: given['tag1'],
    ...given,
  };
  // The declarations above say which values an event has; viem checks each against its type.
  const topics = encodeEventTopics({ abi: REGISTRY_EVENTS, eventName, args: values } as Parameters<
    typeof encodeEventTopics
  >[0]) as Hash[];
  const unindexed = inputs.filter(({ indexed }) => indexed !== true);
  const data = encodeAbiParameters(unindexed, unindexed.map(({ name }) => values[name ?? '']) as never);
  return { address: emitter, topics, data: data.toLowerCase() };
}

export const registered = (agentId: bigint, agentURI: string, owner: Address): Event =>
  registryEvent(IDENTITY, 'Registered', { agentId, agentURI, owner });
export const uriUpdated = (agentId: bigint, newURI: string, updatedBy: Address): Event =>
  registryEvent(IDENTITY, 'URIUpdated', { agentId, newURI, updatedBy });
export const metadataSet = (agentId: bigint, metadataKey: string, metadataValue: Hex): Event =>
  registryEvent(IDENTITY, 'MetadataSet', { agentId, metadataKey, metadataValue });
export const agentMoved = (from: Address, to: Address, tokenId: bigint): Event =>
  registryEvent(IDENTITY, 'Transfer', { from, to, tokenId });

export interface FeedbackArgs {
  readonly agentId: bigint;
  readonly clientAddress: Address;
  readonly feedbackIndex: bigint;
  readonly value: bigint;
  readonly valueDecimals: number;
  readonly tag1: string;
  readonly tag2: string;
  readonly endpoint: string;
  readonly feedbackURI: string;
  readonly feedbackHash: Hash;
}

export const newFeedback = (args: FeedbackArgs): Event =>
  registryEvent(REPUTATION, 'NewFeedback', { ...args });
