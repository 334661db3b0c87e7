import { expressions } from '../engine/account.ts';
import { account } from './columns.ts';
import { SETTLEMENTS } from './settlements.ts';
import type { ColumnMap, Definitions, Table } from './table.ts';
import { type WalletIdKey, walletIdText } from './wallet-ids.ts';

const NAMES = 'LowCardinality(String)';
/** Columns that are not as in `settlements`: analysts group by texts. A method is a code in place of a name, next to what follows from it. */
const AS_COPIED: Readonly<Record<string, Definitions>> = {
  payer: { payer: 'String' },
  payee: { payee: 'String' },
  asset: { asset: NAMES },
  relayer: { relayer: NAMES },
  // NULL as analysts see it: made of two columns at each read, a sum takes a tenth longer.
  amount_usd: { amount_usd: 'Nullable(Decimal(18, 6))' },
  usd_known: {},
  contract: {},
  method: { method_code: 'UInt8', evidence_tier: NAMES, is_self_payment: 'Bool' },
  // A copy has only rows that live.
  ver: {},
  del: {},
};
/** All others have LZ4, which is read faster than ZSTD. */
const CODECS: Readonly<Record<string, string>> = {
  block_number: 'Delta, LZ4',
  block_time: 'Delta, LZ4',
  amount: 'ZSTD(1)',
  gen: 'Delta, LZ4',
};

/** Past settlements in the form that scans read fastest. The rollup worker copies them, a month at a time. */
export const PLAIN_SETTLEMENTS = {
  name: 'plain_settlements',
  columns: {},
  filled: copiedDefinitions(),
  storage: {
    engine: 'MergeTree',
    partition: 'gen',
    order: '(block_time, chain, block_number, log_index)',
    indexes: {
      ix_asset: 'asset TYPE set(100) GRANULARITY 1',
      ix_payer: 'payer TYPE bloom_filter(0.001) GRANULARITY 1',
      ix_payee: 'payee TYPE bloom_filter(0.001) GRANULARITY 1',
      ix_tx: `${expressions.transactionText('tx_hash')} TYPE bloom_filter(0.001) GRANULARITY 1`,
    },
    settings: { min_age_to_force_merge_seconds: 600, min_age_to_force_merge_on_partition_only: 1 },
  },
  placement: { key: null, why: 'copied on each shard from its own settlements' },
  versions: ['gen'],
  backup: 'derived',
} as const satisfies Table;

/** Which months were copied, and after how many writes. */
export const PLAIN_MONTHS = {
  name: 'plain_months',
  columns: {},
  filled: {
    month: 'Date',
    until: "DateTime('UTC')",
    writes: 'UInt64',
    gen: 'UInt64',
    id_key: 'UInt64',
  },
  storage: { engine: 'ReplacingMergeTree(gen)', order: 'month' },
  placement: { key: null, why: 'written by the shard that holds the copy' },
  versions: ['gen'],
  backup: 'derived',
} as const satisfies Table;

/**
 * Every month that has rows: whether its copy is current, and the hours that must be read from `settlements`. The worker that copies and the
 * public views both ask here, so that there is one definition of current: nothing was written to the copied hours since, and the copy has
 * the ids that these views show. `database`: a prefix of the tables.
 */
export function coverageQuery(database: string, months: string): string {
  return `WITH (
    SELECT (groupArray(month), groupArray(until), groupArray(writes), groupArray(gen))
    FROM ${database}plain_months FINAL WHERE ${months}
) AS made
SELECT
    toStartOfMonth(hour) AS month,
    indexOf(made.1, month) AS place,
    made.2[place] AS until,
    made.4[place] AS gen,
    place > 0 AND sumIf(writes, hour < until) = made.3[place] AS is_plain,
    if(is_plain, groupUniqArrayIf(hour, hour >= until), groupUniqArray(hour)) AS open_hours
FROM ${database}hour_ver
GROUP BY month`;
}

/** A view. Each start makes it again for the key of the ids (clickhouse/guest/views/coverage.ts); until then no copy is current. */
export const PLAIN_COVERAGE = {
  name: 'plain_coverage',
  columns: {},
  storage: { query: coverageQuery('', '0') },
  placement: { key: null, why: 'a view: every shard judges the months whose rows it holds' },
} as const satisfies Table;

function copiedDefinitions(): Definitions {
  const copied = Object.assign(
    {},
    ...Object.entries<ColumnMap[string]>(SETTLEMENTS.columns).map(
      ([name, { type }]) => AS_COPIED[name] ?? { [name]: type },
    ),
    { payer_id: 'UInt64', payee_id: 'UInt64', gen: 'UInt64' },
  );
  return Object.fromEntries(
    Object.entries<string>(copied).map(([name, type]) => [name, `${type} CODEC(${CODECS[name] ?? 'LZ4'})`]),
  );
}

/** Taken from the row in another way, or not at all. */
const NOT_COPIED = ['method', 'usd_known', 'contract', 'ver', 'del'];

/**
 * The columns of plain_settlements, each with what it is made of from a row of `settlements`: the worker copies rows by it, and the public view
 * reads the rows that no copy has.
 */
export function plainColumns(key: WalletIdKey): Readonly<Record<string, string>> {
  const word = (column: string): string => `CAST(${account.select(column)}, 'LowCardinality(String)')`;
  const stored = Object.entries(SETTLEMENTS.columns).filter(([name]) => !NOT_COPIED.includes(name));
  return {
    ...Object.fromEntries(
      stored.map(([name, type]) => [name, type.select === account.select ? account.select(name) : name]),
    ),
    asset: word('asset'),
    amount_usd: 'if(usd_known, amount_usd, NULL)',
    relayer: word('relayer'),
    method_code: 'toUInt8(method)',
    evidence_tier: 'evidence_tier',
    is_self_payment: 'is_self_payment',
    payer_id: walletIdText(key, account.select('payer')),
    payee_id: walletIdText(key, account.select('payee')),
  };
}
