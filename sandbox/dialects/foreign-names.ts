import type { PublicTableName } from '../../core/domain/public-tables.ts';

/**
 * Tables of the public indexes of the field, each with ours that answers the same questions. A table of one chain becomes ours with a
 * condition on the chain. Amounts: where theirs is in tokens or dollars it is our `amount_usd`, where it is in atomic units our `amount`.
 */

export interface ForeignTable {
  readonly index: string;
  /** Where its columns are documented. */
  readonly source: string;
  /** Full names without the project or catalogue, in lower case; `*` is the name of a chain. */
  readonly names: readonly string[];
  readonly ours: PublicTableName;
  /** Ours by theirs. `=` starts a constant: their column has one value in all rows that we hold. */
  readonly columns: Readonly<Record<string, string>>;
}

const TRANSFER = {
  block_timestamp: 'block_time',
  transaction_hash: 'tx_hash',
  from_address: 'payer',
  to_address: 'payee',
  token_address: 'asset',
  token_symbol: 'asset_symbol',
} as const;

const DUNE_TRANSFER = {
  blockchain: 'chain',
  block_date: '@toDate(block_time)',
  block_month: '@toStartOfMonth(block_time)',
  evt_index: 'log_index',
  from: 'payer',
  to: 'payee',
  tx_from: 'relayer',
  contract_address: 'asset',
  token_address: 'asset',
  symbol: 'asset_symbol',
  token_symbol: 'asset_symbol',
  amount_raw: 'amount',
  amount: 'amount_usd',
  token_standard: "='erc20'",
} as const;

export const FOREIGN_TABLES: readonly ForeignTable[] = [
  {
    index: 'x402scan',
    source: 'github.com/Merit-Systems/x402scan packages/internal/databases/transfers/prisma/schema.prisma',
    names: ['transferevent', 'public.transferevent', 'transfer_events'],
    ours: 'settlements',
    columns: {
      sender: 'payer',
      recipient: 'payee',
      transaction_from: 'relayer',
      address: 'asset',
      block_timestamp: 'block_time',
      facilitator_id: 'facilitator',
      decimals: '=6',
      amount: 'amount',
    },
  },
  {
    index: 'Dune',
    source: 'docs.dune.com/data-catalog/curated/payments/agentic-payments',
    names: ['payments.agentic_payments'],
    ours: 'settlements',
    columns: {
      ...DUNE_TRANSFER,
      facilitator_name: 'facilitator',
      facilitator_address: 'relayer',
      sender: 'payer',
      recipient: 'payee',
      payer_address: 'payer',
      recipient_address: 'payee',
      protocol: "='x402'",
    },
  },
  {
    index: 'Dune',
    source:
      'github.com/duneanalytics/spellbook dbt_subprojects/tokens/models/transfers_and_balances/base/_schema.yml',
    names: ['tokens.transfers', 'tokens_*.transfers', 'tokens_*.base_transfers'],
    ours: 'settlements',
    columns: DUNE_TRANSFER,
  },
  {
    index: 'Dune',
    source: 'docs.dune.com/data-catalog/evm/ethereum/decoded (erc20_<chain>.evt_Transfer)',
    names: ['erc20_*.evt_transfer', 'usdc_*.*_evt_transfer'],
    ours: 'settlements',
    columns: {
      evt_block_time: 'block_time',
      evt_block_date: '@toDate(block_time)',
      evt_block_number: 'block_number',
      evt_tx_hash: 'tx_hash',
      evt_tx_from: 'relayer',
      evt_index: 'log_index',
      from: 'payer',
      to: 'payee',
      value: 'amount',
      contract_address: 'asset',
    },
  },
  {
    index: 'Allium',
    source: 'docs.allium.so/historical-data/agents/x402/transfers',
    names: ['crosschain.agents.x402_transfers', '*.agents.x402_transfers', 'agents.x402_transfers'],
    ours: 'settlements',
    columns: {
      ...TRANSFER,
      facilitator_id: 'facilitator',
      facilitator_name: 'facilitator',
      transaction_from_address: 'relayer',
      raw_amount: 'amount',
      amount: 'amount_usd',
      usd_amount: 'amount_usd',
      usd_exchange_rate: '=1',
    },
  },
  {
    index: 'Allium',
    source:
      'docs.allium.so/historical-data/supported-blockchains/evm/base/assets/transfers/erc20-token-transfers',
    names: ['*.assets.erc20_token_transfers', '*.assets.fungible_token_transfers'],
    ours: 'settlements',
    columns: {
      ...TRANSFER,
      transaction_from_address: 'relayer',
      raw_amount: 'amount',
      amount: 'amount_usd',
      usd_amount: 'amount_usd',
      usd_exchange_rate: '=1',
    },
  },
  {
    index: 'Allium',
    source: 'docs.allium.so/historical-data/agents/x402/facilitators',
    names: ['crosschain.agents.x402_facilitators', '*.agents.x402_facilitators', 'agents.x402_facilitators'],
    ours: 'facilitators',
    columns: {
      facilitator_id: 'facilitator',
      facilitator_name: 'facilitator',
      first_transaction_date: 'first_seen',
      first_seen_at: 'first_seen',
    },
  },
  {
    index: 'BigQuery',
    source: 'cloud.google.com/blockchain-analytics/docs/schema (token_transfers)',
    names: ['crypto_*.token_transfers', 'goog_blockchain_*_us.token_transfers'],
    ours: 'settlements',
    columns: { ...TRANSFER, address: 'asset', value: 'amount', quantity: 'amount' },
  },
  {
    index: 'CDP SQL API',
    source: 'docs.cdp.coinbase.com/data/sql-api/schema',
    names: ['base.transfers', 'base.events'],
    ours: 'settlements',
    columns: {
      ...TRANSFER,
      transaction_from: 'relayer',
      address: 'asset',
      value: 'amount',
      amount: 'amount',
      event_name: "='Transfer'",
      event_signature: "='Transfer(address,address,uint256)'",
      'parameters.from': 'payer',
      'parameters.to': 'payee',
      'parameters.value': 'amount',
    },
  },
  {
    index: 'Goldsky',
    source: 'docs.goldsky.com/mirror/guides/token-transfers/ERC-20-transfers',
    names: ['*.erc20_transfers', 'erc20_transfers', '*_erc20_transfers'],
    ours: 'settlements',
    columns: {
      ...TRANSFER,
      sender: 'payer',
      recipient: 'payee',
      from: 'payer',
      to: 'payee',
      amount: 'amount',
      value: 'amount',
      address: 'asset',
      contract_address: 'asset',
    },
  },
];

/** CAIP-2 names by the names that other indexes use. Source: chainlist.org. */
export const CHAIN_IDS: Readonly<Record<string, string>> = {
  ethereum: 'eip155:1',
  ethereum_mainnet: 'eip155:1',
  base: 'eip155:8453',
  base_mainnet: 'eip155:8453',
  'base-mainnet': 'eip155:8453',
  polygon: 'eip155:137',
  polygon_mainnet: 'eip155:137',
  matic: 'eip155:137',
  arbitrum: 'eip155:42161',
  optimism: 'eip155:10',
  bnb: 'eip155:56',
  bsc: 'eip155:56',
  avalanche: 'eip155:43114',
  avalanche_c: 'eip155:43114',
  gnosis: 'eip155:100',
  celo: 'eip155:42220',
  sei: 'eip155:1329',
  'base-sepolia': 'eip155:84532',
  base_sepolia: 'eip155:84532',
  solana: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
};

export interface FoundTable extends ForeignTable {
  /** CAIP-2 name, where the table holds one chain. */
  readonly chain: string | undefined;
}

/** The foreign table that a name means; a project or catalogue before it is left out. */
export function foreignTable(path: readonly string[]): FoundTable | null {
  const parts = path.map((part) => part.toLowerCase());
  for (let from = 0; from < parts.length; from += 1) {
    const name = parts.slice(from).join('.');
    for (const table of FOREIGN_TABLES) {
      const found = table.names.map((pattern) => matched(pattern, name)).find((match) => match !== null);
      if (found === undefined || found === null) continue;
      const chain = CHAIN_IDS[found] ?? (table.index === 'CDP SQL API' ? CHAIN_IDS['base'] : undefined);
      return { ...table, chain };
    }
  }
  return null;
}

/** What the first star of the pattern stands for, '' where it has none, or null where the name does not match. */
function matched(pattern: string, name: string): string | null {
  const words = name.split('.');
  const parts = pattern.split('.');
  if (parts.length !== words.length) return null;
  const stars = parts.map((part, at) => starIn(part, words[at] ?? ''));
  return stars.includes(null) ? null : (stars.find((star) => star !== '') ?? '');
}

function starIn(part: string, word: string): string | null {
  const [before = '', after] = part.split('*');
  if (after === undefined) return part === word ? '' : null;
  if (!word.startsWith(before) || !word.endsWith(after)) return null;
  const star = word.slice(before.length, word.length - after.length);
  return /^[a-z0-9_-]+$/.test(star) ? star : null;
}
