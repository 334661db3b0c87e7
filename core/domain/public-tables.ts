import { ENDPOINTS, FACILITATORS, PROPOSED_RELAYERS, RELAYERS, TOKENS } from './public-tables/catalogues.ts';
import { CHANNEL_EVENTS, CHANNELS } from './public-tables/channels.ts';
import {
  addressColumn,
  amount,
  amountUsd,
  asset,
  assetDecimals,
  assetSymbol,
  blockNumber,
  blockTime,
  chain,
  channel,
  column,
  evidenceMethod,
  evidenceProbability,
  evidenceReasons,
  evidenceTier,
  facilitator,
  facilitatorName,
  feeAmount,
  isSelfPayment,
  kind,
  logIndex,
  memo,
  NAME,
  NAME_OR_NULL,
  type PublicTable,
  relayer,
  scheme,
  txHash,
  walletId,
} from './public-tables/column.ts';
import { COVERAGE_DAYS } from './public-tables/coverage.ts';
import { FACILITATOR_DAYS, MERCHANT_DAYS, PAIR_DAYS, PAYER_DAYS } from './public-tables/days.ts';
import { TRANSACTION_FEES } from './public-tables/fees.ts';
import { AGENTS, ATTESTATIONS } from './public-tables/identities.ts';
import { WALLET_NAMES, WALLET_RINGS, WALLET_VERDICTS, WALLETS } from './public-tables/wallets.ts';

export type { ColumnDomain, PublicColumn, PublicTable } from './public-tables/column.ts';

/**
 * The tables that analysts may query, declared once: the engine's views, `/sql/schema`, docs/sql.md and the sandbox's allow-list
 * derive from it. Addresses and transactions are texts, lower-case hex or base58 of Solana, chains are CAIP-2, unknown values are NULL. New columns are appended:
 * queries with `SELECT *` and their readers keep the place of the older ones.
 */
export const PUBLIC_TABLES = {
  settlements: {
    meaning: 'Every settlement once, ordered by time.',
    cheapBy: ['block_time', 'chain', 'payer', 'payee', 'tx_hash'],
    asOf: { leftOut: ['facilitator_name'] },
    columns: [
      chain,
      blockNumber,
      blockTime,
      txHash,
      logIndex,
      addressColumn('payer', 'Address that paid.'),
      addressColumn('payee', 'Address that was paid.'),
      { ...asset, type: NAME },
      assetSymbol,
      amount,
      amountUsd,
      { ...relayer, type: NAME },
      facilitator,
      isSelfPayment,
      column('finality', NAME, 'finalized or head.', ['finalized', 'head']),
      evidenceTier,
      evidenceProbability,
      evidenceMethod,
      facilitatorName,
      assetDecimals,
      evidenceReasons,
      column(
        'builder_facilitator',
        NAME_OR_NULL,
        'ERC-8021 facilitator code in the transaction: a claim of the relayer; NULL without one.',
      ),
      column('builder_apps', 'Array(String)', 'ERC-8021 app codes in the transaction, as they were sent.'),
      walletId('payer_id', 'payer'),
      walletId('payee_id', 'payee'),
      kind,
      scheme,
      channel,
      feeAmount,
      memo,
    ],
  },
  wallet_settlements: {
    meaning: 'Every settlement once for its payer and once for its payee, ordered by wallet.',
    cheapBy: ['wallet', 'block_time'],
    asOf: { leftOut: ['facilitator_name'] },
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
      facilitatorName,
      assetDecimals,
      assetSymbol,
      relayer,
      isSelfPayment,
      evidenceMethod,
      evidenceReasons,
      walletId('wallet_id', 'wallet'),
      walletId('counterparty_id', 'counterparty'),
      kind,
      scheme,
      channel,
      feeAmount,
    ],
  },
  agents: AGENTS,
  attestations: ATTESTATIONS,
  endpoints: ENDPOINTS,
  facilitators: FACILITATORS,
  merchant_days: MERCHANT_DAYS,
  payer_days: PAYER_DAYS,
  pair_days: PAIR_DAYS,
  facilitator_days: FACILITATOR_DAYS,
  wallets: WALLETS,
  wallet_names: WALLET_NAMES,
  wallet_rings: WALLET_RINGS,
  tokens: TOKENS,
  relayers: RELAYERS,
  transaction_fees: TRANSACTION_FEES,
  wallet_verdicts: WALLET_VERDICTS,
  channels: CHANNELS,
  channel_events: CHANNEL_EVENTS,
  proposed_relayers: PROPOSED_RELAYERS,
  coverage_days: COVERAGE_DAYS,
} as const satisfies Record<string, PublicTable>;

export type PublicTableName = keyof typeof PUBLIC_TABLES;

type AsOfTable = {
  [Name in PublicTableName]: (typeof PUBLIC_TABLES)[Name] extends { readonly asOf: unknown } ? Name : never;
}[PublicTableName];

/** The tables that can be asked as of a snapshot. */
export const AS_OF_TABLES: readonly AsOfTable[] = ['settlements', 'wallet_settlements'];

export const PUBLIC_TABLE_NAMES = Object.keys(PUBLIC_TABLES) as readonly PublicTableName[];
