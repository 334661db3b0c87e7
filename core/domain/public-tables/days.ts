import type { EvidenceTier } from '../evidence.ts';
import {
  addressColumn,
  chain,
  column,
  facilitator,
  facilitatorName,
  isSelfPayment,
  type PublicColumn,
  type PublicTable,
  TIME,
  USD,
  walletId,
} from './column.ts';

/** What settlements add up to by UTC day: of payees, payers, pairs of both, and facilitators. */

const day = column('day', 'Date', 'UTC day.');
const settlementCount = column('settlement_count', 'UInt64', 'Settlements.');
const settledUsd = column('settled_usd', USD, 'Dollars of those whose amount_usd is known.');
const SELF = [
  column('self_payment_count', 'UInt64', 'Those whose payer and payee are the same address.'),
  column('self_payment_usd', USD, 'Dollars of these.'),
] as const;
const PROVEN = ofTier('proven');
const TIMES = [
  column('first_settled_at', TIME, 'Time of the first settlement of the day.'),
  column('last_settled_at', TIME, 'Time of the last settlement of the day.'),
] as const;
const OTHER_TIERS = [
  ...ofTier('probable'),
  ...ofTier('unproven'),
  ...ofTier('not_x402'),
  ...ofTier('ungraded'),
] as const;
const assets = column('assets', 'Array(String)', 'Addresses of the tokens that were paid, sorted.');

function ofTier<Tier extends EvidenceTier>(
  tier: Tier,
): readonly [PublicColumn<`${Tier}_count`>, PublicColumn<`${Tier}_usd`>] {
  return [
    column(`${tier}_count`, 'UInt64', `Settlements whose evidence_tier is ${tier}.`),
    column(`${tier}_usd`, USD, 'Dollars of these.'),
  ];
}

export const MERCHANT_DAYS = {
  meaning: 'What each payee was paid on each UTC day.',
  cheapBy: ['payee', 'day'],
  columns: [
    chain,
    day,
    addressColumn('payee', 'Address that was paid.'),
    settlementCount,
    settledUsd,
    column('unique_payers', 'UInt64', 'Different payers that day, about one in a hundred off.'),
    ...SELF,
    ...PROVEN,
    ...TIMES,
    ...OTHER_TIERS,
    assets,
    walletId('payee_id', 'payee'),
  ],
} as const satisfies PublicTable;

export const PAYER_DAYS = {
  meaning: 'What each payer paid on each UTC day.',
  cheapBy: ['payer', 'day'],
  columns: [
    chain,
    day,
    addressColumn('payer', 'Address that paid.'),
    settlementCount,
    settledUsd,
    column('unique_payees', 'UInt64', 'Different payees that day, about one in a hundred off.'),
    ...SELF,
    ...PROVEN,
    ...TIMES,
    ...OTHER_TIERS,
    assets,
    walletId('payer_id', 'payer'),
  ],
} as const satisfies PublicTable;

export const PAIR_DAYS = {
  meaning: 'What each payer paid each payee on each UTC day.',
  cheapBy: ['day', 'payer'],
  columns: [
    chain,
    day,
    addressColumn('payer', 'Address that paid.'),
    addressColumn('payee', 'Address that was paid.'),
    settlementCount,
    settledUsd,
    isSelfPayment,
    ...PROVEN,
    ...TIMES,
    walletId('payer_id', 'payer'),
    walletId('payee_id', 'payee'),
  ],
} as const satisfies PublicTable;

export const FACILITATOR_DAYS = {
  meaning: 'What each facilitator settled on each UTC day.',
  cheapBy: ['day'],
  columns: [
    chain,
    day,
    facilitator,
    facilitatorName,
    settlementCount,
    settledUsd,
    ...SELF,
    ...PROVEN,
    ...OTHER_TIERS,
  ],
} as const satisfies PublicTable;
