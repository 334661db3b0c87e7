/** How a call on a priced route is paid for. */
export const LANES = ['credit', 'x402', 'invalid_key', 'no_account', 'upgrade_required'] as const;
export type Lane = (typeof LANES)[number];

/** The surface a call came through. MCP has no x402 door. */
export type Surface = 'http' | 'mcp';

/** Which credential was accepted; with an organization behind a key, the tier of the answer is its plan. */
export type Standing = 'anonymous' | 'trial' | 'oauth' | 'organization';
