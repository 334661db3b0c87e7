/** Why an item of a listing is no offer of the directory, and what its publisher can do. */
export const UNREAD_REASONS = {
  plain_url: 'A URL alone says neither price nor payee: publish it with its `accepts`.',
  mcp_tool: 'A tool of an MCP server: this directory lists resources on HTTP.',
  not_http: 'No http or https URL, or one with credentials or beyond 2,000 characters.',
  other_origin: 'A resource of another origin than the file: an origin publishes prices for itself alone.',
  no_offer:
    'No entry of `accepts` has a scheme, a network, an asset and a payee that can be paid, and `x-payment-info` has no offer of the Machine Payments Protocol.',
} as const;

export type UnreadReason = keyof typeof UNREAD_REASONS;

export const UNREAD_CODES = Object.keys(UNREAD_REASONS) as readonly UnreadReason[];
