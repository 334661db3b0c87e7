/**
 * Jobs that services offer, and the rule that says which of them a listing or an agent offers. The catalogue is data
 * (capabilities.json), the rule is here, and both are documented in docs/capabilities.md.
 */

export interface Capability {
  /** `^[a-z0-9-]{2,40}$`, stable. */
  readonly slug: string;
  readonly name: string;
  readonly group: string;
  /** What one price buys: call, image, minute, token, … */
  readonly unit: string;
  readonly summary: string;
}

/** What a listing or a service says of itself; every text may be long, hostile or empty. */
export interface CapabilityClues {
  readonly name: string;
  readonly description: string;
  /** URL of the resource or endpoint; only its path counts. */
  readonly url: string;
  readonly tags: readonly string[];
  /** OASF skills and domains, A2A skills, MCP tool names. */
  readonly skills: readonly string[];
}
