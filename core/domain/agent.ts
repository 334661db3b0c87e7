import type { Address } from './address.ts';
import type { Hash, Position } from './settlement.ts';

/** Files that ERC-8004 points to, as far as we keep them. Source: ERC-8004. */

export interface AgentService {
  /** web, A2A, MCP, OASF, ENS, DID, email, …; as the card spells it. */
  readonly name: string;
  readonly endpoint: string;
  readonly version: string;
  readonly skills: readonly string[];
  readonly domains: readonly string[];
}

/** A registration file after tolerant reading: every text is bounded and safe to show (display-text.ts). */
export interface AgentCard {
  readonly name: string;
  readonly description: string;
  /** https, ipfs or data URL; '' when there is none that may be shown. */
  readonly image: string;
  readonly services: readonly AgentService[];
  readonly x402Support: boolean;
  /** True unless the card says otherwise. */
  readonly active: boolean;
  readonly supportedTrust: readonly string[];
  /** Which registrations the card itself claims. */
  readonly registrations: readonly { readonly agentId: bigint; readonly registry: string }[];
}

/** A feedback file: what it says of itself, to be compared with the log, and its proof of payment. */
export interface FeedbackFile {
  readonly agentId: bigint | null;
  readonly agentRegistry: string | null;
  readonly client: Address | null;
  readonly proofOfPayment: {
    /** CAIP-2. */
    readonly chain: string;
    readonly txHash: Hash;
    readonly from: Address;
    readonly to: Address;
  } | null;
}

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

/**
 * How ratings of ERC-8004 agents become a score. The registry stores a number, its decimals and a tag, and no scale: a response time
 * of 653 and a quality of 65 look alike. So a tag's scale is what is written here and never what its values look like: whoever
 * rates cannot change it.
 */

/**
 * tag1 of feedback that rates an agent from 0 to 100: `starred` by the registry's own list of tags, the words in use for the same,
 * and none at all. Compared in lower case. Every other tag is a measure on a scale of its own, and no part of the score.
 */
export const RATING_TAGS = ['', 'starred', 'quality', 'rating', 'score'] as const;

/** A rating outside of it is on another scale, whatever its tag says, and does not count. */
export const RATING_MAX = 100;

/**
 * The score is a Bayesian mean: as if so many clients more had given the middle of the scale. A rating costs only gas, so one
 * client's 100 must stay below many clients' 80, and a hundred ratings by one client are his mean, once.
 */
export const PRIOR_CLIENTS = 5;
export const PRIOR_MEAN = 50;

/** Tags of an agent that keep a score of their own: those that most clients gave. Anybody can invent any number of them. */
export const TAG_SCORES_MAX = 16;

/** Whether feedback of this tag is a rating, if its value is on the scale. */
export function isRatingTag(tag1: string): boolean {
  return (RATING_TAGS as readonly string[]).includes(tag1.toLowerCase());
}

/** Whether a value of so many decimals is on the scale of ratings. */
export function isOnRatingScale(value: bigint, decimals: number): boolean {
  return value >= 0n && value <= BigInt(RATING_MAX) * 10n ** BigInt(decimals);
}
