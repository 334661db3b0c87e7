/**
 * What analysts may query, declared once: the engine's views, `/sql/schema`, docs/sql.md and the sandbox's allow-list are read
 * off it. Addresses and hashes are lower-case hex text, chains are CAIP-2. Source: api.md 5.
 */

export interface PublicColumn {
  readonly name: string;
  /** The engine's type, as `DESCRIBE` prints it. */
  readonly type: string;
  readonly meaning: string;
}

export interface PublicTable {
  readonly meaning: string;
  /** Columns by which a constant in WHERE reads little; in the order in which they help. */
  readonly cheapBy: readonly string[];
  readonly columns: readonly PublicColumn[];
}

const TEXT = 'String';
const NAME = 'LowCardinality(String)';
const TIME = "DateTime('UTC')";
const USD = 'Decimal(38, 6)';

const column = (name: string, type: string, meaning: string): PublicColumn => ({ name, type, meaning });

const chain = column('chain', NAME, 'CAIP-2 name, such as eip155:8453.');
const blockNumber = column('block_number', 'UInt64', 'Height of the block.');
const blockTime = column('block_time', TIME, 'Time of the block, UTC.');
const txHash = column('tx_hash', TEXT, 'Hash of the transaction.');
const logIndex = column('log_index', 'UInt32', 'Index of the Transfer log in its block.');
const asset = column('asset', TEXT, 'Address of the token.');
const amount = column('amount', 'UInt256', 'Atomic units of the token.');
const amountUsd = column('amount_usd', USD, 'Dollars, exact to six decimals.');
const facilitator = column('facilitator', NAME, 'Id of the named facilitator; empty when none is known.');
const evidenceTier = column('evidence_tier', NAME, 'proven, probable, unproven, not_x402 or ungraded.');
const evidenceProbability = column(
  'evidence_probability',
  'Nullable(Float64)',
  'Confidence that it is an x402 settlement, 0 to 1; NULL where nothing was examined.',
);

export const PUBLIC_TABLES = {
  settlements: {
    meaning: 'Every settlement once, ordered by time.',
    cheapBy: ['block_time', 'chain', 'payer', 'payee', 'tx_hash'],
    columns: [
      chain,
      blockNumber,
      blockTime,
      txHash,
      logIndex,
      column('payer', TEXT, 'Address that paid.'),
      column('payee', TEXT, 'Address that was paid.'),
      asset,
      column('asset_symbol', NAME, 'Symbol of the token.'),
      amount,
      amountUsd,
      column('relayer', TEXT, 'Address that sent the transaction.'),
      facilitator,
      column('is_self_payment', 'Bool', 'Whether payer and payee are the same address.'),
      column('finality', NAME, 'finalized or head.'),
      evidenceTier,
      evidenceProbability,
      column('evidence_method', NAME, 'The rung of the evidence ladder.'),
    ],
  },
  wallet_settlements: {
    meaning: 'Every settlement once for its payer and once for its payee, ordered by wallet.',
    cheapBy: ['wallet', 'block_time'],
    columns: [
      column('wallet', TEXT, 'Address of the party.'),
      column('role', NAME, 'payer or payee: what the wallet was.'),
      column('counterparty', TEXT, 'Address of the other party.'),
      chain,
      blockNumber,
      blockTime,
      txHash,
      logIndex,
      asset,
      amount,
      amountUsd,
      facilitator,
      evidenceTier,
      evidenceProbability,
    ],
  },
  agents: {
    meaning: 'Agents registered with ERC-8004, with their newest card and score.',
    cheapBy: ['chain', 'agent_id'],
    columns: [
      chain,
      column('agent_id', 'UInt256', 'Token id in the identity registry of the chain.'),
      column('owner', TEXT, 'Address that owns the registration.'),
      column('wallet', TEXT, 'Address that the agent pays and is paid with; empty when none is set.'),
      column('agent_uri', TEXT, 'Where its card is published.'),
      column('name', TEXT, 'Name of the card.'),
      column('description', TEXT, 'Description of the card.'),
      column('x402_support', 'Bool', 'Whether the card declares x402.'),
      column('active', 'Bool', 'Whether the card declares the agent active.'),
      column(
        'score',
        'Nullable(Float64)',
        'Ratings from 0 to 100 that were not revoked, each client once, drawn to 50 by few clients; NULL without one.',
      ),
      column('feedback_count', 'UInt64', 'Feedback that was not revoked.'),
      column('registered_at', TIME, 'Time of the registration.'),
      column('updated_at', TIME, 'Time of the newest change.'),
    ],
  },
  attestations: {
    meaning: 'ERC-8004 feedback, responses, revocations and validations.',
    cheapBy: ['chain', 'agent_id'],
    columns: [
      chain,
      column('agent_id', 'UInt256', 'The agent it is about.'),
      column('kind', NAME, 'feedback, response, revocation, validation_request or validation_response.'),
      column('author', TEXT, 'Address that wrote it.'),
      column('value', 'Nullable(Float64)', 'The value given, scaled by its decimals.'),
      column('tag1', TEXT, 'First tag.'),
      column('tag2', TEXT, 'Second tag.'),
      column('endpoint', TEXT, 'The endpoint it is about.'),
      column('uri', TEXT, 'Where its file is published.'),
      column('revoked', 'Bool', 'Whether it was revoked.'),
      blockTime,
      txHash,
      logIndex,
    ],
  },
  endpoints: {
    meaning:
      'Priced resources that facilitators and sellers publish: one row for each way to pay, and for each source that lists it.',
    cheapBy: ['pay_to', 'resource'],
    columns: [
      column('resource', TEXT, 'URL of the resource.'),
      column('method', NAME, 'HTTP method; GET where the listing does not say.'),
      column('service_name', TEXT, 'Name of the service.'),
      column('pay_to', TEXT, 'Address that is paid.'),
      chain,
      asset,
      column('price_usd', 'Nullable(Decimal(38, 6))', 'Price in dollars; NULL when it is not known.'),
      column('tags', 'Array(String)', 'Tags of the listing.'),
      column(
        'last_updated',
        `Nullable(${TIME})`,
        'When the listing was last updated; NULL where it does not say.',
      ),
    ],
  },
  facilitators: {
    meaning: 'Addresses that named facilitators relay with, each from the day it was first seen.',
    cheapBy: ['chain', 'address'],
    columns: [
      chain,
      column('address', TEXT, 'Address of the relayer.'),
      column('facilitator', NAME, 'Id of the facilitator.'),
      column('first_seen', 'Date', 'First day on which it relayed for the facilitator.'),
    ],
  },
  merchant_days: {
    meaning: 'What each payee was paid on each UTC day: cheap for long ranges.',
    cheapBy: ['payee', 'day'],
    columns: [
      chain,
      column('day', 'Date', 'UTC day.'),
      column('payee', TEXT, 'Address that was paid.'),
      column('settlement_count', 'UInt64', 'Settlements.'),
      column('settled_usd', USD, 'Dollars.'),
      column('unique_payers', 'UInt64', 'Different payers that day, about one in a hundred off.'),
    ],
  },
  payer_days: {
    meaning: 'What each payer paid on each UTC day: cheap for long ranges.',
    cheapBy: ['payer', 'day'],
    columns: [
      chain,
      column('day', 'Date', 'UTC day.'),
      column('payer', TEXT, 'Address that paid.'),
      column('settlement_count', 'UInt64', 'Settlements.'),
      column('settled_usd', USD, 'Dollars.'),
      column('unique_payees', 'UInt64', 'Different payees that day, about one in a hundred off.'),
    ],
  },
} as const satisfies Record<string, PublicTable>;

export type PublicTableName = keyof typeof PUBLIC_TABLES;

export const PUBLIC_TABLE_NAMES = Object.keys(PUBLIC_TABLES) as readonly PublicTableName[];
