import { ACCOUNT_TYPE, expressions } from '../engine/account.ts';
import { LISTED_NAMES, SETTLEMENTS } from './settlements.ts';
import { type Definitions, definitionsOf, type Table } from './table.ts';

/** What is kept by wallet. */

const ROLE = "Enum8('payer' = 1, 'payee' = 2)";
const MICROS = "toUInt256(reinterpret(amount_usd, 'Int64'))";
const LISTED: ReadonlySet<string> = new Set(LISTED_NAMES);

/** What lists show of a settlement, with the wallet and the other party in place of payer and payee. */
export const PARTY_COLUMNS: Definitions = {
  wallet: 'String CODEC(ZSTD(3))',
  role: ROLE,
  ...Object.fromEntries(
    Object.entries(definitionsOf(SETTLEMENTS.columns))
      .filter(([name]) => LISTED.has(name) && name !== 'payee')
      .map(([name, definition]) => [name === 'payer' ? 'counterparty' : name, definition]),
  ),
};

/** The query of a view that makes two rows of each row of a table, one for each party. `made`: what stands in place of a column. */
export function partiesOf(
  table: string,
  columns: readonly string[],
  made: Readonly<Record<string, string>> = {},
): string {
  const selected: Readonly<Record<string, string>> = {
    wallet: `${expressions.accountText("if(role = 'payer', payer, payee)")} AS wallet`,
    role: `CAST(role AS ${ROLE}) AS role`,
    counterparty: "if(role = 'payer', payee, payer) AS counterparty",
    ...made,
  };
  const listed = columns.map((name) => selected[name] ?? name);
  return `SELECT\n    ${listed.join(',\n    ')}\nFROM ${table}\nARRAY JOIN ['payer', 'payee'] AS role`;
}

/**
 * One row for each party of a settlement, by wallet. A view fills it from `settlements`.
 *
 * A page needs every column of a few granules, so granules are small and a part is one file (never wide). The column `amount_rest` is
 * what the atomic amount has above the millionths of dollars: nothing for dollar tokens of six decimals, where the amount costs 6 of
 * 140 bytes a settlement. The subtraction wraps, and so does the sum. What is older than a day is merged into one part, at most once a day.
 */
export const WALLET_ROWS = {
  name: 'wallet_rows',
  columns: {},
  filled: {
    ...Object.fromEntries(
      Object.entries(PARTY_COLUMNS).map(([name, type]) => [name === 'amount' ? 'amount_rest' : name, type]),
    ),
    ver: 'UInt64 CODEC(Delta, ZSTD(1))',
    del: 'UInt8 CODEC(ZSTD(1))',
    amount: `UInt256 ALIAS amount_rest + ${MICROS}`,
  },
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    order: '(wallet, block_time, chain, block_number, log_index, role)',
    indexes: { ix_time: 'block_time TYPE minmax GRANULARITY 1' },
    settings: {
      index_granularity: 1024,
      min_bytes_for_wide_part: 1_000_000_000_000,
      min_age_to_force_merge_seconds: 86_400,
    },
  },
  filledBy: {
    wallet_rows_mv: partiesOf('settlements', [...Object.keys(PARTY_COLUMNS), 'ver', 'del'], {
      amount: `amount - ${MICROS} AS amount_rest`,
    }),
  },
  placement: { key: 'cityHash64(wallet)', why: 'a page of a wallet asks one shard, whatever its time' },
  versions: ['ver'],
  // By itself as well: an insert that was cut by a crash can have reached the view and not the table (measured: 2 of 280 kills),
  // and a row of the view alone would have no tombstone to inherit.
  retraction: { tombstones: 'byTime' },
} as const satisfies Table;

/** When each wallet was last seen in a settlement. A view fills it; what a reorg takes back still counts. */
export const WALLET_SEEN = {
  name: 'wallet_seen',
  columns: {},
  filled: {
    wallet: ACCOUNT_TYPE,
    last_time: "SimpleAggregateFunction(max, DateTime('UTC'))",
  },
  storage: { engine: 'AggregatingMergeTree', order: 'wallet', settings: { index_granularity: 256 } },
  filledBy: {
    wallet_seen_mv: `SELECT arrayJoin([payer, payee]) AS wallet, max(block_time) AS last_time FROM settlements WHERE del = 0 GROUP BY wallet`,
  },
  placement: { key: null, why: 'made from the settlements of each shard; the newest of all shards counts' },
  backup: 'marks',
} as const satisfies Table;
