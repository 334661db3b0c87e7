import { createPublicClient, type Hex, http, parseAbi } from 'viem';
import { type Address, address, type Hash } from '../../core/domain/account.ts';
import { type RegistryAddresses, TESTNET_REGISTRIES } from './registries.ts';

/** What the registries themselves say, by their view functions: the truth that a derivation from events must equal. */

const IDENTITY = parseAbi([
  'function ownerOf(uint256 tokenId) view returns (address)',
  'function tokenURI(uint256 tokenId) view returns (string)',
  'function getAgentWallet(uint256 agentId) view returns (address)',
  'function getMetadata(uint256 agentId, string metadataKey) view returns (bytes)',
]);
const REPUTATION = parseAbi([
  'function getClients(uint256 agentId) view returns (address[])',
  'function getLastIndex(uint256 agentId, address clientAddress) view returns (uint64)',
  'function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex) view returns (int128 value, uint8 valueDecimals, string tag1, string tag2, bool isRevoked)',
  'function readAllFeedback(uint256 agentId, address[] clientAddresses, string tag1, string tag2, bool includeRevoked) view returns (address[] clients, uint64[] feedbackIndexes, int128[] values, uint8[] valueDecimals, string[] tag1s, string[] tag2s, bool[] revokedStatuses)',
  'function getSummary(uint256 agentId, address[] clientAddresses, string tag1, string tag2) view returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals)',
]);
const VALIDATION = parseAbi([
  'function getValidationStatus(bytes32 requestHash) view returns (address validatorAddress, uint256 agentId, uint8 response, bytes32 responseHash, string tag, uint256 lastUpdate)',
]);

export interface FeedbackView {
  readonly client: Address;
  readonly feedbackIndex: bigint;
  readonly value: bigint;
  readonly valueDecimals: number;
  readonly tag1: string;
  readonly tag2: string;
  readonly revoked: boolean;
}

export interface AgentView {
  readonly agentId: bigint;
  readonly owner: Address;
  /** The zero address when it was cleared. */
  readonly wallet: Address;
  readonly uri: string;
}

export interface Summary {
  readonly count: bigint;
  readonly value: bigint;
  readonly valueDecimals: number;
}

export interface ValidationView {
  readonly validator: Address;
  readonly agentId: bigint;
  /** 0 while nothing was answered. */
  readonly response: number;
  readonly responseHash: Hash;
  readonly tag: string;
}

/** Every read throws when the contract reverts: an agent, an index or a request that does not exist. */
export interface RegistryViews {
  agent(agentId: bigint): Promise<AgentView>;
  /** '0x' for a key that was never set. */
  metadata(agentId: bigint, key: string): Promise<Hex>;
  /** In the order of their first feedback. */
  clients(agentId: bigint): Promise<readonly Address[]>;
  /** 0 for a client without feedback. */
  lastIndex(agentId: bigint, client: Address): Promise<bigint>;
  feedback(agentId: bigint, client: Address, feedbackIndex: bigint): Promise<FeedbackView>;
  /** Every feedback, revoked ones too, by client, then index. */
  allFeedback(agentId: bigint): Promise<readonly FeedbackView[]>;
  /** The contract's own mean of the feedback that is not revoked, truncated at the decimals that most of the feedback has. */
  summary(agentId: bigint, clients: readonly Address[]): Promise<Summary>;
  validation(requestHash: Hash): Promise<ValidationView>;
}

/** Reads at the newest block, or at `block`. */
export function createRegistryViews(
  url: string,
  options: { readonly at?: RegistryAddresses; readonly block?: bigint } = {},
): RegistryViews {
  const client = createPublicClient({ transport: http(url, { batch: true }) });
  const at = options.at ?? TESTNET_REGISTRIES;
  const when = options.block === undefined ? {} : { blockNumber: options.block };
  const identity = { ...when, address: at.identity as Hex, abi: IDENTITY }; // Address is a Hex, here and below
  const reputation = { ...when, address: at.reputation as Hex, abi: REPUTATION };
  const validation = { ...when, address: at.validation as Hex, abi: VALIDATION };
  return {
    async agent(agentId) {
      const [owner, wallet, uri] = await Promise.all([
        client.readContract({ ...identity, functionName: 'ownerOf', args: [agentId] }),
        client.readContract({ ...identity, functionName: 'getAgentWallet', args: [agentId] }),
        client.readContract({ ...identity, functionName: 'tokenURI', args: [agentId] }),
      ]);
      return { agentId, owner: lower(owner), wallet: lower(wallet), uri };
    },
    metadata: (agentId, key) =>
      client.readContract({ ...identity, functionName: 'getMetadata', args: [agentId, key] }),
    async clients(agentId) {
      const all = await client.readContract({ ...reputation, functionName: 'getClients', args: [agentId] });
      return all.map(lower);
    },
    lastIndex: (agentId, of) =>
      client.readContract({ ...reputation, functionName: 'getLastIndex', args: [agentId, of as Hex] }),
    async feedback(agentId, of, feedbackIndex) {
      const args = [agentId, of as Hex, feedbackIndex] as const;
      const [value, valueDecimals, tag1, tag2, revoked] = await client.readContract({
        ...reputation,
        functionName: 'readFeedback',
        args,
      });
      return { client: of, feedbackIndex, value, valueDecimals, tag1, tag2, revoked };
    },
    async allFeedback(agentId) {
      const args = [agentId, [], '', '', true] as const;
      return feedbackRows(
        await client.readContract({ ...reputation, functionName: 'readAllFeedback', args }),
      );
    },
    async summary(agentId, of) {
      const args = [agentId, of as readonly Hex[], '', ''] as const;
      const [count, value, valueDecimals] = await client.readContract({
        ...reputation,
        functionName: 'getSummary',
        args,
      });
      return { count, value, valueDecimals };
    },
    async validation(requestHash) {
      const [validator, agentId, response, responseHash, tag] = await client.readContract({
        ...validation,
        functionName: 'getValidationStatus',
        args: [requestHash],
      });
      return { validator: lower(validator), agentId, response, responseHash, tag };
    },
  };
}

const lower = (checksummed: Hex): Address => address(checksummed.toLowerCase());

type FeedbackColumns = readonly [
  readonly Hex[],
  readonly bigint[],
  readonly bigint[],
  readonly number[],
  readonly string[],
  readonly string[],
  readonly boolean[],
];

function feedbackRows(columns: FeedbackColumns): FeedbackView[] {
  const [clients, indexes, values, decimals, tag1s, tag2s, revoked] = columns;
  return clients.map((client, row) => ({
    client: lower(client),
    feedbackIndex: indexes[row] ?? 0n,
    value: values[row] ?? 0n,
    valueDecimals: decimals[row] ?? 0,
    tag1: tag1s[row] ?? '',
    tag2: tag2s[row] ?? '',
    revoked: revoked[row] ?? false,
  }));
}
