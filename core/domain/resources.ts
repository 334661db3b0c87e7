/** Paths below the public URL of a deployment. */

/** The two base paths serve identical answers. */
export const BASE_PATHS = ['/v0', '/api/v0'] as const;

/** Path of the MCP endpoint; the same under each base path. */
export const MCP_PATHS = ['/mcp', ...BASE_PATHS.map((base) => `${base}/mcp`)] as const;

/**
 * The unavailable resource, as `resource` of an error names it: nouns of the documentation that reveal nothing about storage or
 * queries. A closed list; clients may branch on it.
 */
export const RESOURCES = {
  settlements: 'Settlements: the feeds, the pages of a wallet, transactions, and totals over them.',
  wallets: 'Wallets: their list, their profiles, and who they are.',
  facilitators: 'Facilitators and their relayers.',
  graph: 'The payment graph.',
  agents: 'Agents, their cards, and the leaderboard.',
  attestations: 'Feedback, responses, revocations and validations.',
  endpoints: 'The directory of endpoints and its sources.',
  capabilities: 'Capabilities and their going rates.',
  names: 'The names that rows show with addresses.',
  chains: 'How far each chain is indexed.',
  sql: 'Queries of `POST /v0/sql`, and the tables they read.',
  results: 'Kept results of queries.',
  index: 'The index as a whole: its engine does not answer.',
  accounts: 'Organizations, keys, units and payments.',
  facilitator: 'The facilitator that verifies and settles payments for calls.',
  identity_provider: 'The issuer of bearer tokens.',
} as const;

export type Resource = keyof typeof RESOURCES;

export const RESOURCE_NAMES = Object.keys(RESOURCES) as readonly Resource[]; // Object.keys forgets which
