import { ACCOUNT_TYPE, expressions } from '../engine/account.ts';
import { type Sql, sql, trustedText } from '../engine/sql.ts';
import { type Definitions, dayOf, type Placement, type Storage, type Table } from './table.ts';

/** What each slice of the settlements adds up to: a UTC day, or an hour of a busy one. The engine computes all of it. */

const sliceOf = (column: string): Placement =>
  dayOf(column, 'computed on the shard of its slice, from the rows there');

type Made = Pick<Table, 'filled' | 'storage' | 'filledBy'>;

const sliceTable = <Name extends string>(name: Name, made: Made, column = 'day') =>
  ({ name, columns: {}, ...made, placement: sliceOf(column), versions: ['gen'] }) as const satisfies Table;

const COUNT = 'UInt64 CODEC(ZSTD(1))';
const USD = 'Decimal(38, 6) CODEC(ZSTD(1))';

/** Settlements and dollars, by what they are. */
const counted = (...names: readonly string[]): Definitions =>
  Object.fromEntries(
    names.flatMap((name) => [
      [`${name}_count`, COUNT],
      [`${name}_usd`, USD],
    ]),
  );
/** Next to those that are proven; what is in no column is not graded yet. */
const OTHER_TIERS = counted('probable', 'unproven', 'not_x402');

/**
 * Not partitioned: a look-up by wallet would touch every partition. Small granules, because a busy wallet has hundreds of rows and a
 * look-up reads whole granules of every part. The generations of one wallet's days are in no order, so that their differences compress
 * worse than they do; its times rise.
 */
const dayOfWallet = (
  wallet: 'payee' | 'payer',
  others: 'payers' | 'payees',
  settings: Storage['settings'],
): Made => ({
  filled: {
    [wallet]: 'String CODEC(ZSTD(1))',
    day: 'Date',
    hour: 'Int8',
    chain: 'LowCardinality(String)',
    settlement_count: COUNT,
    settled_usd: USD,
    ...counted('self', 'proven'),
    [others]: `AggregateFunction(uniqCombined64(12), ${ACCOUNT_TYPE}) CODEC(ZSTD(1))`,
    first_time: "DateTime('UTC') CODEC(Delta, ZSTD(1))",
    last_time: "DateTime('UTC') CODEC(Delta, ZSTD(1))",
    gen: 'UInt64 CODEC(ZSTD(1))',
    ...OTHER_TIERS,
    /** Sorted. */
    assets: `Array(${ACCOUNT_TYPE}) CODEC(ZSTD(1))`,
  },
  storage: {
    engine: 'ReplacingMergeTree(gen)',
    order: `(${wallet}, day, hour, chain)`,
    settings: { index_granularity: 1_024, min_age_to_force_merge_seconds: 86_400, ...settings },
  },
});

// A part is one file: the profile of a busy payee needs most columns of a few granules.
export const PAYEE_DAY = sliceTable(
  'payee_day',
  dayOfWallet('payee', 'payers', { min_bytes_for_wide_part: 1_000_000_000_000 }),
);
export const PAYER_DAY = sliceTable('payer_day', dayOfWallet('payer', 'payees', {}));

/** Still smaller granules: a page asks for 50 relayers all over the key, and states are most of what is read. */
export const RELAYER_DAY = sliceTable('relayer_day', {
  filled: {
    chain: 'LowCardinality(String)',
    relayer: `${ACCOUNT_TYPE} CODEC(ZSTD(1))`,
    day: 'Date',
    hour: 'Int8',
    settlement_count: 'UInt64 CODEC(ZSTD(1))',
    settled_usd: 'Decimal(38, 6) CODEC(ZSTD(1))',
    payers: `AggregateFunction(uniqCombined64(14), ${ACCOUNT_TYPE}) CODEC(ZSTD(1))`,
    payees: `AggregateFunction(uniqCombined64(14), ${ACCOUNT_TYPE}) CODEC(ZSTD(1))`,
    first_time: "DateTime('UTC') CODEC(ZSTD(1))",
    last_time: "DateTime('UTC') CODEC(ZSTD(1))",
    gen: 'UInt64 CODEC(Delta, ZSTD(1))',
  },
  storage: {
    engine: 'ReplacingMergeTree(gen)',
    order: '(chain, relayer, day, hour)',
    settings: { index_granularity: 256 },
  },
});

/** Hours are its key, so both forms of a day write the same rows. */
export const CHAIN_HOUR = sliceTable(
  'chain_hour',
  {
    filled: {
      chain: 'LowCardinality(String)',
      hour: "DateTime('UTC')",
      facilitator: 'LowCardinality(String)',
      settlement_count: COUNT,
      settled_usd: USD,
      gen: 'UInt64 CODEC(Delta, ZSTD(1))',
      ...counted('self', 'proven'),
      ...OTHER_TIERS,
    },
    storage: { engine: 'ReplacingMergeTree(gen)', order: '(chain, hour, facilitator)' },
  },
  'hour',
);

/**
 * Columns of pairs. `first_second` and `span` (from the first to the last settlement) count seconds of the UTC day, and dollars are kept
 * apart as proven and other, because most rows stand for one settlement: so a value is stored once and the rest is zeros. Dust
 * (core/domain/data-quality.ts) is counted in every figure, and left out where wallets are judged.
 */
const PAIR: Definitions = {
  day: 'Date CODEC(ZSTD(1))',
  hour: 'Int8 CODEC(ZSTD(1))',
  chain: 'LowCardinality(String) CODEC(ZSTD(1))',
  settlement_count: COUNT,
  proven_count: COUNT,
  proven_usd: USD,
  other_usd: USD,
  dust_count: COUNT,
  dust_proven_usd: USD,
  dust_other_usd: USD,
  first_second: 'UInt32 CODEC(T64, ZSTD(1))',
  span: 'UInt32 CODEC(ZSTD(1))',
  gen: 'UInt64 CODEC(ZSTD(1))',
};

/** The second address of the key hardly repeats within 64 KB, the size of a block by default: larger blocks cost a sixth less of it. */
const hardlyRepeats = (bytes: number): string =>
  `${ACCOUNT_TYPE} CODEC(ZSTD(3)) SETTINGS (min_compress_block_size = ${bytes}, max_compress_block_size = ${bytes})`;

/** By month: readers of one payee ask for the last days, and a month that is over becomes one part, which FINAL need not merge. */
const pairs = (order: string, indexes: Storage['indexes'] = {}): Storage => ({
  engine: 'ReplacingMergeTree(gen)',
  partition: 'toYYYYMM(day)',
  order,
  indexes,
  settings: {
    index_granularity: 1_024,
    min_age_to_force_merge_seconds: 3_600,
    min_age_to_force_merge_on_partition_only: 1,
  },
});

/**
 * What each payer paid each payee. Sorted by day, for questions about all wallets: a span of days is one range of the key, and parts of
 * different days need no merging when they are read. Read through `pairsBetween` (src/operations/index-state/pairs.ts).
 */
export const PAIR_DAY = sliceTable('pair_day', {
  filled: { payer: `${ACCOUNT_TYPE} CODEC(ZSTD(1))`, payee: hardlyRepeats(1_048_576), ...PAIR },
  // For analysts, who name a payer as text: text sorts as its bytes do.
  storage: pairs('(day, hour, payer, payee, chain)', {
    ix_payer_text: `${expressions.accountText('payer')} TYPE minmax GRANULARITY 1`,
  }),
});
/** The same rows sorted by payee, for one of them. A view fills it from `pair_day`. */
export const PAIR_DAY_BY_PAYEE = sliceTable('pair_day_by_payee', {
  filled: { payee: `${ACCOUNT_TYPE} CODEC(ZSTD(1))`, payer: hardlyRepeats(262_144), ...PAIR },
  storage: pairs('(payee, payer, day, hour, chain)'),
  filledBy: { pair_day_by_payee_mv: `SELECT payee, payer, ${Object.keys(PAIR).join(', ')} FROM pair_day` },
});

/**
 * Which tables and columns a computation fills, recorded with it: a slice that was computed by an older release counts as open until it
 * is computed again. Raise it when a table or column is added here; view `rollup_slices` asks for it.
 */
export const ROLLUP_FIGURES = 2;

/** What each slice was computed from. */
export const ROLLUP_STATE = {
  name: 'rollup_state',
  columns: {},
  filled: {
    day: 'Date',
    hour: 'Int8',
    ver: 'UInt64',
    gen: 'UInt64',
    writes: 'UInt64 DEFAULT 0',
    figures: 'UInt8 DEFAULT 0',
  },
  storage: { engine: 'ReplacingMergeTree(gen)', order: '(day, hour)' },
  placement: sliceOf('day'),
  versions: ['gen', 'ver'],
  backup: 'done',
} as const satisfies Table;

/**
 * A view: every slice that has rows, in the form that its day is closed in, with the version that it was computed from: its own where every
 * write to it is rolled up, else 0. Changes are counted, because two chains write at once, and the insert with the lower `ver` may land last.
 */
export const ROLLUP_SLICES = {
  name: 'rollup_slices',
  columns: {},
  storage: {
    query: `SELECT day, slice AS hour, changed.ver AS ver, changed.writes AS writes, if(changed.writes = done.writes, changed.ver, 0) AS rolled_ver
FROM
(
    SELECT toDate(hour) AS day,
        if(day IN (SELECT day FROM rollup_state WHERE hour >= 0), toInt8(toHour(hour)), toInt8(-1)) AS slice,
        max(hour_ver.ver) AS ver,
        sum(hour_ver.writes) AS writes
    FROM hour_ver
    GROUP BY day, slice
) AS changed
LEFT JOIN (SELECT day, hour AS slice, if(figures = ${ROLLUP_FIGURES}, writes, 0) AS writes FROM rollup_state FINAL) AS done USING (day, slice)`,
  },
  placement: { key: null, why: 'a view: every shard judges the slices whose rows it holds' },
} as const satisfies Table;

/**
 * Which slices of the rollups are open, over the columns of view `rollup_slices`: `day`, `hour` (-1 for the whole day), `ver` and
 * `rolled_ver`. An open slice has changes that are not rolled up, and is read from the rows; every other one is closed. As texts
 * too, because the statements that make views are texts.
 */
export const IS_OPEN_TEXT = 'ver > rolled_ver';
export const IS_OPEN: Sql = trustedText(IS_OPEN_TEXT);
export const IS_CLOSED_TEXT = 'ver <= rolled_ver';

/** When the slice of a row with the columns `day` and `hour` begins. */
export const SLICE_START_TEXT = "(toDateTime(day, 'UTC') + if(hour < 0, 0, hour) * 3600)";
export const sliceStart: Sql = trustedText(SLICE_START_TEXT);
export const SLICE_SECONDS_TEXT = 'if(hour < 0, 86400, 3600)';

/**
 * A text that changes with every write to the slices before `until`, from `from` on (DateTimes), and with every computation of one of them.
 * While it stays the same and none of them is dirty, what was merged from their rollups is what they still say. The worker that
 * merges and the API that reads both ask with this, so that there is one definition of it.
 */
export function rollupBasis(until: Sql, from: Sql = sql`toDateTime(0, 'UTC')`): Sql {
  return sql`concat(
    toString((SELECT sum(writes) FROM hour_ver WHERE hour >= ${from} AND hour < ${until})), '/',
    toString((SELECT groupBitXor(cityHash64(day, hour, gen)) FROM rollup_state FINAL WHERE ${sliceStart} >= ${from} AND ${sliceStart} < ${until})))`;
}
