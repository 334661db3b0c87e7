import type { Address, TransactionId } from './account.ts';

/** The files that ERC-8004 logs link to, reduced to the fields that we store. Source: ERC-8004. */

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
  /** The registrations that the card claims. */
  readonly registrations: readonly { readonly agentId: bigint; readonly registry: string }[];
}

/** A feedback file: the claims to compare with the log, its comment, and its proof of payment. */
export interface FeedbackFile {
  readonly agentId: bigint | null;
  readonly agentRegistry: string | null;
  readonly client: Address | null;
  /** What the client says in words, bounded and safe to show; '' for nothing. */
  readonly comment: string;
  readonly proofOfPayment: {
    /** CAIP-2. */
    readonly chain: string;
    readonly txHash: TransactionId;
    readonly from: Address;
    readonly to: Address;
  } | null;
}

/** Decoded logs of the three ERC-8004 registries. Source: ERC-8004. */

/**
 * Limits on stored texts of a registry, in bytes on chain. Anyone can write any length there, and gas on an L2 is cheap. A longer
 * value is cut at the limit (a text between two characters), and the log is kept because it also carries the owner or the rating.
 * Invalid UTF-8 becomes U+FFFD.
 */
export const REGISTRY_LIMITS = {
  /** `data:` URIs hold whole cards. */
  uriBytesMax: 65_536,
  /** Tags, endpoints, and keys of metadata. */
  labelBytesMax: 1_024,
  metadataBytesMax: 4_096,
} as const;

export const ATTESTATION_KINDS = [
  'feedback',
  'response',
  'revocation',
  'validation_request',
  'validation_response',
] as const;

export type AttestationKind = (typeof ATTESTATION_KINDS)[number];

/**
 * How ratings of ERC-8004 agents become a score. The registry stores a number, its decimals and a tag, but no scale: a response
 * time of 653 and a quality of 65 look alike. So the scale of each tag is fixed here and never inferred from values, which raters
 * control.
 */

/**
 * tag1 of feedback that rates an agent from 0 to 100: `starred` by the registry's own list of tags, the words in use for the same,
 * and none at all. Compared in lower case. Every other tag is a measure on a scale of its own, and no part of the score.
 */
export const RATING_TAGS = ['', 'starred', 'quality', 'rating', 'score'] as const;

/** The scale of ratings. A value outside it does not count, whatever its tag. */
export const RATING_MAX = 100;

/**
 * The score is a Bayesian mean: this many additional clients are assumed to have rated the middle of the scale. A rating costs only
 * gas, so one client's 100 must rank below many clients' 80, and a hundred ratings by one client count once, as their mean.
 */
export const PRIOR_CLIENTS = 5;
export const PRIOR_MEAN = 50;

/** Tags per agent that get their own score: those that most clients used. Bounded because anyone can invent tags. */
export const TAG_SCORES_MAX = 16;

/** Whether feedback of this tag is a rating, if its value is on the scale. */
export function isRatingTag(tag1: string): boolean {
  return (RATING_TAGS as readonly string[]).includes(tag1.toLowerCase());
}

/** Whether a value of so many decimals is on the scale of ratings. */
export function isOnRatingScale(value: bigint, decimals: number): boolean {
  return value >= 0n && value <= BigInt(RATING_MAX) * 10n ** BigInt(decimals);
}
