/** Where a deployment serves what, below its public URL. */

/** The two base paths serve identical answers. */
export const BASE_PATHS = ['/v0', '/api/v0'] as const;

/** Where agents find the MCP surface; the same under each base path. */
export const MCP_PATHS = ['/mcp', ...BASE_PATHS.map((base) => `${base}/mcp`)] as const;

/**
 * What an answer can be missing, as `resource` of an error names it: the nouns of the documentation, and nothing of how they are
 * stored or asked for. A closed list; clients may branch on it.
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
  names: 'The names that rows show beside addresses.',
  chains: 'How far each chain is indexed.',
  sql: 'Queries of `POST /v0/sql`, and the tables they read.',
  index: 'The index as a whole: its engine does not answer.',
  accounts: 'Organizations, keys, units and payments.',
  facilitator: 'The facilitator that verifies and settles payments for calls.',
  identity_provider: 'The issuer of bearer tokens.',
} as const;

export type Resource = keyof typeof RESOURCES;

export const RESOURCE_NAMES = Object.keys(RESOURCES) as readonly Resource[]; // Object.keys forgets which
