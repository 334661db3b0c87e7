import type { Address } from './address.ts';
import type { Hash } from './settlement.ts';

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
