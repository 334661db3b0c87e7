import type { RegistryRole } from '../../core/domain/chains.ts';
import type { Hash } from '../../core/domain/settlement.ts';

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
 * Which events count from which registry. Everything else that a registry emits (Approval, ERC-4906's MetadataUpdate, Upgraded)
 * says nothing that these do not.
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
