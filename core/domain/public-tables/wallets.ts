import {
  DUST_BELOW,
  NEWEST_ROWS_MAX,
  SAMPLE_MIN_SETTLEMENTS,
  SIGNALS,
  VERDICTS,
  WHOLE_WALLET_ROWS_MAX,
} from '../data-quality.ts';
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
  USD,
  walletId,
} from './column.ts';

/** Wallets: sums over all days, their names and their payment rings. */

export const WALLETS = {
  meaning:
    'Every wallet that paid or was paid, with its sums over all chains and days; channel deposits are left out.',
  cheapBy: ['address'],
  columns: [
    addressColumn('address', 'Address of the wallet.'),
    column(
      'name',
      TEXT_OR_NULL,
      'Name that the operator or the table of facilitators gives to it; NULL without one. Claims of others are in wallet_names.',
    ),
    column('name_source', NAME_OR_NULL, 'operator_catalogue or facilitator; NULL without a name.', [
      'operator_catalogue',
      'facilitator',
    ]),
    column('first_settled_at', TIME, 'Time of its first settlement.'),
    column('last_settled_at', TIME, 'Time of its last settlement.'),
    column('paid_count', 'UInt64', 'Settlements that it paid.'),
    column('paid_usd', USD, 'Dollars that it paid, where amount_usd is known.'),
    column('received_count', 'UInt64', 'Settlements that paid it.'),
    column('received_usd', USD, 'Dollars that it was paid, where amount_usd is known.'),
    column('self_payment_count', 'UInt64', 'Settlements from it to itself: counted as paid and as received.'),
    column('self_payment_usd', USD, 'Dollars of these.'),
    column('paid_proven_usd', USD, 'Dollars that it paid in settlements whose evidence_tier is proven.'),
    column(
      'received_proven_usd',
      USD,
      'Dollars that it was paid in settlements whose evidence_tier is proven.',
    ),
    column('chains', 'Array(String)', 'Chains with a settlement of it, sorted.'),
    column('is_agent', 'Bool', 'Whether an ERC-8004 agent uses it now (agents.wallet).'),
    column('is_listed', 'Bool', 'Whether an endpoint is listed as paid to it (endpoints.pay_to).'),
    column('is_relayer', 'Bool', 'Whether a named facilitator relays with it (facilitators.address).'),
    column('in_ring', 'Bool', 'Whether it is in a payment ring (wallet_rings).'),
    walletId('wallet_id', 'address'),
  ],
} as const satisfies PublicTable;

export const WALLET_NAMES = {
  meaning:
    'Every name that is known of a wallet on a chain, with where it is from. Names of agent_card and endpoint_catalogue are claims of those who published them and may imitate others.',
  cheapBy: ['chain'],
  columns: [
    chain,
    addressColumn('address', 'Address of the wallet.'),
    column('name', TEXT, 'The name, made safe to show.'),
    column(
      'name_source',
      NAME,
      'agent_card: of an ERC-8004 agent that uses the wallet, unless its domain refutes it. endpoint_catalogue: of a listing of endpoints. operator_catalogue: of the configuration. facilitator: whose relayer it is.',
      ['agent_card', 'endpoint_catalogue', 'operator_catalogue', 'facilitator'],
    ),
    column('agent_id', 'Nullable(UInt256)', 'The agent of an agent_card; NULL for other sources.'),
    column('resource', TEXT_OR_NULL, 'URL of the resource of a catalogue; NULL for other sources.'),
    column('facilitator', NAME_OR_NULL, 'Id of the facilitator; NULL for other sources.', 'facilitator'),
  ],
} as const satisfies PublicTable;

const SHARE = 'Nullable(Float64)';

export const WALLET_VERDICTS = {
  meaning:
    'How far the figures of each wallet in each role are evidence of real trade: the verdict of GET /v0/entities/{wallet} over all chains, as of the last pass.',
  cheapBy: ['wallet'],
  columns: [
    addressColumn('wallet', 'Address of the wallet.'),
    column(
      'role',
      NAME,
      'payee: judged by who pays it, as a merchant. payer: judged by whom it pays, as an agent.',
      ['payee', 'payer'],
    ),
    column(
      'verdict',
      NAME,
      `insufficient: fewer than ${SAMPLE_MIN_SETTLEMENTS} settlements of ${DUST_BELOW} or more. clean: no reason. mixed: reasons of one kind. suspect: most of the money comes back, or some does and few counterparties account for it.`,
      VERDICTS.filter((verdict) => verdict !== 'unobserved'),
    ),
    column(
      'reasons',
      'Array(String)',
      `The signals that reached their threshold: any of ${Object.keys(SIGNALS).join(', ')}. Also listed where the settlements are too few for a verdict.`,
    ),
    column(
      'rings',
      'Array(Array(String))',
      'Members of each payment ring that the wallet is in, strongest first (wallet_rings); the same for both roles.',
    ),
    column(
      'settlement_count',
      'UInt64',
      `Settlements that were judged, each of ${DUST_BELOW} or more, self-payments included: all of the wallet in the role, of a wallet with more than ${WHOLE_WALLET_ROWS_MAX.toLocaleString('en')} those among its newest ${NEWEST_ROWS_MAX.toLocaleString('en')}.`,
    ),
    column('settled_usd', USD, 'Dollars of these.'),
    column(
      'self_payment_share',
      SHARE,
      'Signal self_payment_share, 0 to 1; NULL without dollars that were judged.',
    ),
    column(
      'concentration',
      SHARE,
      'Signal payer_concentration of a payee, payee_concentration of a payer: 1 is a single counterparty. NULL without dollars of others.',
    ),
    column(
      'largest_share',
      SHARE,
      'Signal single_payer_dominance of a payee, single_payee_dominance of a payer: the share of the largest counterparty.',
    ),
    column(
      'reciprocity',
      SHARE,
      'Signal reciprocity: the share of counterparties that it also dealt with in the other direction.',
    ),
    column('judged_at', TIME, 'When the pass was begun.'),
  ],
} as const satisfies PublicTable;

export const WALLET_RINGS = {
  meaning:
    'Payment rings of the last search: money that passes through two to four wallets back to where it began. A ring is listed under each of its members.',
  cheapBy: ['wallet'],
  columns: [
    addressColumn('wallet', 'A member of the ring.'),
    column('member_count', 'UInt8', 'Wallets in the ring.'),
    column('members', 'Array(String)', 'The wallets in the order in which they pay each other.'),
    column('bottleneck_usd', USD, 'The smallest of the sums that one member paid to the next, dollars.'),
    column('ring_usd', USD, 'All of these sums together, dollars.'),
    column('window_start', TIME, 'Start of the time that was searched.'),
    column('window_end', TIME, 'End of the time that was searched.'),
  ],
} as const satisfies PublicTable;
