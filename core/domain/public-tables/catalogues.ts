import { PROPOSAL_DAYS, PROPOSAL_MIN_SCORE, SHARED_PAYERS_MIN } from '../relayer-proposal.ts';
import { UNOBSERVED_CODES } from '../unobserved.ts';
import {
  addressColumn,
  chain,
  column,
  NAME,
  NAME_OR_NULL,
  type PublicTable,
  TEXT,
  TEXT_OR_NULL,
  TIME,
  USD_OR_NULL,
} from './column.ts';

/** Listed or configured: endpoints, facilitators with their relayers, tokens. */

const TIME_OR_NULL = `Nullable(${TIME})`;

export const ENDPOINTS = {
  meaning:
    'Priced resources that facilitators and sellers publish: one row for each way to pay, and for each source that lists it.',
  cheapBy: ['pay_to', 'resource'],
  columns: [
    column('resource', TEXT, 'URL of the resource.'),
    column('method', NAME, 'HTTP method; GET where the listing does not say.'),
    column('service_name', TEXT_OR_NULL, 'Name of the service; NULL where the listing has none.'),
    column('pay_to', TEXT, 'Address that is paid, as it is listed; empty where the offer names none.'),
    column(
      'chain',
      NAME_OR_NULL,
      'CAIP-2 name of the network; NULL where the listing names one that is unknown here.',
      'chain',
    ),
    column('asset', TEXT, 'The token, as it is listed: an address on EVM chains.'),
    column('price_usd', USD_OR_NULL, 'Price in dollars; NULL when it is not known.'),
    column('tags', 'Array(String)', 'Tags of the listing.'),
    column('last_updated', TIME_OR_NULL, 'When the listing was last updated; NULL where it does not say.'),
    column('description', TEXT_OR_NULL, 'Description of the resource; NULL where the listing has none.'),
    column('mime_type', NAME_OR_NULL, 'Media type of the answer; NULL where the listing does not say.'),
    column('source', NAME, 'What lists it: bazaar:<facilitator id>, well_known:<origin> or file.'),
    column('published_by_domain', 'Bool', 'Whether the domain of the resource itself lists it.'),
    column('network', NAME, 'The network, as it is listed: a short name or CAIP-2.'),
    column('scheme', NAME, 'Payment scheme of x402: exact pays `amount`, others sign it as a ceiling.'),
    column(
      'amount',
      'Nullable(UInt256)',
      'Price in atomic units of the asset; NULL where the listing has none.',
    ),
    column('max_timeout_seconds', 'UInt32', 'Seconds for which the offer is valid; 0 when not listed.'),
    column(
      'capabilities',
      'Array(String)',
      'Slugs of GET /v0/capabilities, from the listing by the published rule.',
    ),
    column('first_seen', TIME, 'When the service first read the offer.'),
    column('terms_since', TIME, 'When the service first read it with these terms.'),
    column(
      'settlement_count_30d',
      'Nullable(UInt64)',
      'Settlements that fit the offer (its pay_to, chain, asset and amount) since anyone first listed it, NULL where none can be observed; today and the 29 UTC days before, graded proven or probable, without self-payments.',
    ),
    column('unique_payers_30d', 'Nullable(UInt64)', 'Different payers of these, about two in a hundred off.'),
    column('settled_usd_30d', USD_OR_NULL, 'Dollars of these.'),
    column(
      'unobserved_reason',
      NAME_OR_NULL,
      'Why no payment for the offer can be observed; NULL where one can.',
      UNOBSERVED_CODES,
    ),
    column('last_settled_at', TIME_OR_NULL, 'Time of the newest of these; NULL without any.'),
    column('counted_at', TIME_OR_NULL, 'When these were last counted; NULL before the first count.'),
  ],
} as const satisfies PublicTable;

export const FACILITATORS = {
  meaning: 'Addresses that named facilitators relay with, each from the day it was first seen.',
  cheapBy: ['chain', 'address'],
  columns: [
    chain,
    addressColumn('address', 'Address of the relayer.'),
    column('facilitator', NAME, 'Id of the facilitator.', 'facilitator'),
    column('first_seen', 'Date', 'First day on which it relayed for the facilitator.'),
    column('name', NAME, 'Display name of the facilitator.'),
    column(
      'source',
      NAME,
      'Where the entry is from: built-in table, configuration, catalogue file, the /supported answer of the facilitator, or proposed_relayers, where the service accepts by itself.',
      ['built-in', 'configured', 'file', 'supported', 'proposed'],
    ),
  ],
} as const satisfies PublicTable;

export const RELAYERS = {
  meaning:
    'Accounts of facilitators’ relayers as they were last read from the chain: what they hold to pay for gas.',
  cheapBy: ['chain', 'address'],
  columns: [
    chain,
    addressColumn('address', 'Address of the relayer.'),
    column('transaction_count', 'UInt64', 'Transactions that the account ever sent: its nonce.'),
    column('gas_balance', 'UInt256', 'Native currency of the chain that it holds, in wei.'),
    column('read_at', TIME, 'When the account was read.'),
  ],
} as const satisfies PublicTable;

export const TOKENS = {
  meaning: 'Tokens whose transfers are indexed, from the built-in table of chains and the configuration.',
  cheapBy: ['chain'],
  columns: [
    chain,
    addressColumn('address', 'Address of the token.'),
    column('symbol', NAME, 'Symbol of the token.'),
    column('decimals', 'UInt8', 'Decimals: so many digits of an amount are behind the point.'),
    column('kind', NAME, 'How it is paid: eip3009, by TransferWithAuthorization, or permit2 alone.', [
      'eip3009',
      'permit2',
    ]),
    column('eip712_name', TEXT_OR_NULL, 'Name in its EIP-712 domain; NULL where none is known.'),
    column('eip712_version', TEXT_OR_NULL, 'Version in its EIP-712 domain; NULL where none is known.'),
    column('currency', NAME, 'Money that it stands for, ISO 4217.'),
    column(
      'usd_rate',
      'Nullable(Decimal(38, 9))',
      'Dollars for one whole token: 1 for dollars, else the configured rate; NULL without one, as amount_usd is then.',
    ),
    column('usd_rate_source', TEXT_OR_NULL, 'Where a configured rate is from.'),
  ],
} as const satisfies PublicTable;

export const PROPOSED_RELAYERS = {
  meaning: `Relayers that no catalogue names and that behave as a facilitator's do, by their payments of the last ${PROPOSAL_DAYS} days. A guess with its evidence: the methodology says what the score cannot tell.`,
  cheapBy: ['chain', 'address'],
  columns: [
    chain,
    addressColumn('address', 'Address of the relayer.'),
    column(
      'score',
      'Float64',
      `${PROPOSAL_MIN_SCORE} to 1: how much it behaves as a facilitator. Not a probability.`,
    ),
    column('accepted', 'Bool', 'Whether the service accepted it by itself: it then counts as a facilitator.'),
    column('settlement_count', 'UInt64', 'Payments in transactions that it sent.'),
    column('relayed_count', 'UInt64', 'Of these, signed by others and relayed for them.'),
    column('payer_count', 'UInt64', 'Different payers.'),
    column(
      'payer_spread',
      'Float64',
      'As how many payers of equal size they count: 1 where one makes nearly all payments.',
    ),
    column('shared_payer_count', 'UInt64', 'Payers that also pay through named facilitators.'),
    column('payee_count', 'UInt64', 'Different payees.'),
    column(
      'shared_payee_count',
      'UInt64',
      `Of these, paid by ${SHARED_PAYERS_MIN} payers or more through named facilitators, too.`,
    ),
    column('shared_settlement_count', 'UInt64', 'Payments to these.'),
    column('shared_with', 'Array(String)', 'Ids of those facilitators.'),
    column('supported_by', 'Array(String)', 'Ids of facilitators whose /supported answer lists the address.'),
    column(
      'funded_with',
      NAME,
      'Id of the facilitator whose relayers got their first gas money from the same account; empty: none.',
    ),
    column('first_seen', TIME, 'Its first payment.'),
    column('last_seen', TIME, 'Its newest payment.'),
  ],
} as const satisfies PublicTable;
