import type { Address } from './address.ts';
import type { Hash, Position } from './settlement.ts';

/** What the three ERC-8004 registries' logs say, decoded. Source: ERC-8004. */

/**
 * How much of a registry's text is kept, in bytes on chain. Anybody may write any length there, and gas on an L2 is cheap: what
 * is longer is cut at the limit (a text between two characters) and the log is kept, because it also says who owns the agent or
 * how it was rated. Bytes that are no UTF-8 become U+FFFD.
 */
export const REGISTRY_LIMITS = {
  /** `data:` URIs hold whole cards. */
  uriBytesMax: 65_536,
  /** Tags, endpoints, and keys of metadata. */
  labelBytesMax: 1_024,
  metadataBytesMax: 4_096,
} as const;

interface RegistryLog extends Position {
  readonly blockHash: Hash;
  readonly txHash: Hash;
  /** Token id in the identity registry of the chain; ids start at 0. */
  readonly agentId: bigint;
}

/** A log of the identity registry. The row of table `agent_events`. */
export interface AgentEvent extends RegistryLog {
  readonly kind: 'registered' | 'uri_updated' | 'metadata_set' | 'wallet_set' | 'transferred';
  /**
   * registered, transferred: the owner from now on; uri_updated: who did it; wallet_set: the wallet, `ZERO_ADDRESS` when it was
   * cleared; metadata_set: `ZERO_ADDRESS`.
   */
  readonly account: Address;
  /** registered, uri_updated: the URI; metadata_set: the key; else ''. */
  readonly text: string;
  /** metadata_set: the value as hex; else '0x'. */
  readonly data: `0x${string}`;
}

export const ATTESTATION_KINDS = [
  'feedback',
  'response',
  'revocation',
  'validation_request',
  'validation_response',
] as const;

export type AttestationKind = (typeof ATTESTATION_KINDS)[number];

/** A log of the reputation or the validation registry. The row of table `attestations`; fields that a kind lacks are empty. */
export interface Attestation extends RegistryLog {
  readonly kind: AttestationKind;
  /** feedback, revocation: the client; response: the responder; validations: the validator. */
  readonly author: Address;
  /** Whose feedback it is about; of validations `ZERO_ADDRESS`. */
  readonly client: Address;
  /** 1-based, per agent and client; 0 for validations. */
  readonly feedbackIndex: bigint;
  /** int128; of a validation_response 0 to 100. */
  readonly value: bigint;
  /** 0 to 18. */
  readonly valueDecimals: number;
  readonly tag1: string;
  readonly tag2: string;
  readonly endpoint: string;
  readonly uri: string;
  /** keccak-256 of the file, `ZERO_HASH` when none was given. */
  readonly fileHash: Hash;
  readonly requestHash: Hash;
}
