import { EVIDENCE_METHODS, EVIDENCE_TIERS } from './evidence.ts';

/**
 * The tables that analysts may query, declared once: the engine's views, `/sql/schema`, docs/sql.md and the sandbox's allow-list
 * derive from it. Addresses and hashes are lower-case hex text, chains are CAIP-2, unknown values are NULL.
 */

export interface PublicColumn {
  readonly name: string;
  /** The engine's type, as `DESCRIBE` prints it. */
  readonly type: string;
  readonly meaning: string;
  /** The values that the column can have; absent if any text can occur. */
  readonly domain?: ColumnDomain;
}

/**
 * The possible values of a column: the sandbox warns when a query compares it with a constant that no row can have. A list is
 * complete; ids of `facilitator` are rows of the table `facilitators` and must be read from it.
 */
export type ColumnDomain = 'address' | 'tx_hash' | 'chain' | 'facilitator' | readonly string[];

export interface PublicTable {
  readonly meaning: string;
  /** Columns for which a constant in WHERE narrows the read, most effective first. */
  readonly cheapBy: readonly string[];
  readonly columns: readonly PublicColumn[];
}

const TEXT = 'String';
const NAME = 'LowCardinality(String)';
const TEXT_OR_NULL = 'Nullable(String)';
const NAME_OR_NULL = 'LowCardinality(Nullable(String))';
const TIME = "DateTime('UTC')";
const USD = 'Decimal(38, 6)';

const column = (name: string, type: string, meaning: string, domain?: ColumnDomain): PublicColumn => ({
  name,
  type,
  meaning,
  ...(domain === undefined ? {} : { domain }),
});
const addressColumn = (name: string, meaning: string, type = TEXT): PublicColumn =>
  column(name, type, meaning, 'address');

const chain = column('chain', NAME, 'CAIP-2 name, such as eip155:8453.', 'chain');
const blockNumber = column('block_number', 'UInt64', 'Height of the block.');
const blockTime = column('block_time', TIME, 'Time of the block, UTC.');
const txHash = column('tx_hash', TEXT, 'Hash of the transaction.', 'tx_hash');
const logIndex = column('log_index', 'UInt32', 'Index of the Transfer log in its block.');
const asset = addressColumn('asset', 'Address of the token.');
const amount = column('amount', 'UInt256', 'Atomic units of the token.');
const amountUsd = column('amount_usd', USD, 'Dollars, exact to six decimals.');
const facilitator = column(
  'facilitator',
  NAME_OR_NULL,
  'Id of the named facilitator; NULL when none is known.',
  'facilitator',
);
const evidenceTier = column(
  'evidence_tier',
  NAME,
  'proven, probable, unproven, not_x402 or ungraded.',
  EVIDENCE_TIERS,
);
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
      addressColumn('payer', 'Address that paid.'),
      addressColumn('payee', 'Address that was paid.'),
      { ...asset, type: NAME },
      column('asset_symbol', NAME, 'Symbol of the token.'),
      amount,
      amountUsd,
      addressColumn('relayer', 'Address that sent the transaction.', NAME),
      facilitator,
      column('is_self_payment', 'Bool', 'Whether payer and payee are the same address.'),
      column('finality', NAME, 'finalized or head.', ['finalized', 'head']),
      evidenceTier,
      evidenceProbability,
      column(
        'evidence_method',
        NAME,
        'The rung of the evidence ladder. Leave channel_deposit out of sums: no seller was paid.',
        EVIDENCE_METHODS,
      ),
    ],
  },
  wallet_settlements: {
    meaning: 'Every settlement once for its payer and once for its payee, ordered by wallet.',
    cheapBy: ['wallet', 'block_time'],
    columns: [
      addressColumn('wallet', 'Address of the party.'),
      column('role', NAME, 'payer or payee: what the wallet was.', ['payer', 'payee']),
      addressColumn('counterparty', 'Address of the other party.'),
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
      addressColumn('owner', 'Address that owns the registration.'),
      addressColumn(
        'wallet',
        'Address that the agent pays and is paid with; NULL when none is set.',
        TEXT_OR_NULL,
      ),
      column('agent_uri', TEXT_OR_NULL, 'Where its card is published; NULL when it names no place.'),
      column('name', TEXT_OR_NULL, 'Name of the card; NULL without one.'),
      column('description', TEXT_OR_NULL, 'Description of the card; NULL without one.'),
      column('x402_support', 'Bool', 'Whether the card declares x402.'),
      column('active', 'Nullable(Bool)', 'Whether the card declares the agent active; NULL without a card.'),
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
      column('kind', NAME, 'feedback, response, revocation, validation_request or validation_response.', [
        'feedback',
        'response',
        'revocation',
        'validation_request',
        'validation_response',
      ]),
      addressColumn('author', 'Address that wrote it.'),
      column('value', 'Nullable(Float64)', 'The value given, scaled by its decimals; NULL where none is.'),
      column('tag1', TEXT_OR_NULL, 'First tag; NULL without one.'),
      column('tag2', TEXT_OR_NULL, 'Second tag; NULL without one.'),
      column('endpoint', TEXT_OR_NULL, 'The endpoint it is about; NULL where it names none.'),
      column('uri', TEXT_OR_NULL, 'Where its file is published; NULL without a file.'),
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
      column('service_name', TEXT_OR_NULL, 'Name of the service; NULL where the listing has none.'),
      column('pay_to', TEXT, 'Address that is paid, as it is listed.'),
      column(
        'chain',
        NAME_OR_NULL,
        'CAIP-2 name of the network; NULL where the listing names one that is unknown here.',
        'chain',
      ),
      column('asset', TEXT, 'The token, as it is listed: an address on EVM chains.'),
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
      addressColumn('address', 'Address of the relayer.'),
      column('facilitator', NAME, 'Id of the facilitator.', 'facilitator'),
      column('first_seen', 'Date', 'First day on which it relayed for the facilitator.'),
    ],
  },
  merchant_days: {
    meaning: 'What each payee was paid on each UTC day: cheap for long ranges.',
    cheapBy: ['payee', 'day'],
    columns: [
      chain,
      column('day', 'Date', 'UTC day.'),
      addressColumn('payee', 'Address that was paid.'),
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
      addressColumn('payer', 'Address that paid.'),
      column('settlement_count', 'UInt64', 'Settlements.'),
      column('settled_usd', USD, 'Dollars.'),
      column('unique_payees', 'UInt64', 'Different payees that day, about one in a hundred off.'),
    ],
  },
} as const satisfies Record<string, PublicTable>;

export type PublicTableName = keyof typeof PUBLIC_TABLES;

export const PUBLIC_TABLE_NAMES = Object.keys(PUBLIC_TABLES) as readonly PublicTableName[];
