import { ACCOUNT_TYPE, expressions, TRANSACTION_TYPE } from '../engine/account.ts';
import { sql } from '../engine/sql.ts';
import { dayOf, type Table } from './table.ts';

/** Marks that each write to `settlements` leaves, for those who follow it. */

/** How long an entry of `settlement_changes` is certain to be kept; the table drops it a day later. */
export const CHANGES_KEPT_DAYS = 29;

/** Keys that lost a row to a tombstone: rollups count them again. */
export const RETRACTED_KEYS = {
  name: 'retracted_keys',
  columns: {},
  filled: {
    hour: "DateTime('UTC')",
    chain: 'LowCardinality(String)',
    payer: ACCOUNT_TYPE,
    payee: ACCOUNT_TYPE,
    relayer: ACCOUNT_TYPE,
  },
  storage: { engine: 'ReplacingMergeTree', order: '(hour, chain, payer, payee, relayer)' },
  placement: dayOf('hour', 'read together with the settlements of its slice'),
  // Before the tombstones: afterwards it is not known which keys they were.
  retraction: {
    notes: ({ byTime }) => [
      sql`INSERT INTO retracted_keys SELECT DISTINCT toStartOfHour(block_time), chain, payer, payee, relayer
        FROM settlements FINAL WHERE ${byTime} AND del = 0`,
    ],
  },
  backup: 'marks',
} as const satisfies Table;

/** The newest change of each hour, and how many there were. A view fills it from `settlements`. */
export const HOUR_VER = {
  name: 'hour_ver',
  columns: {},
  filled: {
    hour: "DateTime('UTC')",
    ver: 'SimpleAggregateFunction(max, UInt64)',
    writes: 'SimpleAggregateFunction(sum, UInt64) MATERIALIZED 1',
  },
  storage: { engine: 'AggregatingMergeTree', order: 'hour' },
  filledBy: {
    hour_ver_mv: `SELECT toStartOfHour(block_time) AS hour, max(ver) AS ver FROM settlements GROUP BY hour`,
  },
  placement: dayOf('hour', 'made from the settlements of its shard, asked when their slices are computed'),
  versions: ['ver'],
  // Once more by itself, from what the table holds: a crash between the tombstones and the view would leave the hours clean
  // for ever, because a repeat finds nothing live to retract.
  retraction: {
    notes: ({ byTime }) => [
      sql`INSERT INTO hour_ver (hour, ver) SELECT toStartOfHour(block_time) AS start, max(ver) FROM settlements WHERE ${byTime} GROUP BY start`,
    ],
  },
  backup: 'marks',
} as const satisfies Table;

/** Which versions each insert into `settlements` wrote, and what each tombstone took, by the engine's clock. A view fills it. */
export const SETTLEMENT_CHANGES = {
  name: 'settlement_changes',
  columns: {},
  filled: {
    at: "DateTime64(6, 'UTC') CODEC(Delta, ZSTD(1))",
    chain: 'LowCardinality(String)',
    hour: "DateTime('UTC') CODEC(Delta, ZSTD(1))",
    gone_block: 'UInt64 CODEC(Delta, ZSTD(1))',
    gone_tx: `${TRANSACTION_TYPE} CODEC(ZSTD(1))`,
    gone_log: 'UInt32 CODEC(ZSTD(1))',
    gone_payer: `SimpleAggregateFunction(any, ${ACCOUNT_TYPE}) CODEC(ZSTD(1))`,
    gone_payee: `SimpleAggregateFunction(any, ${ACCOUNT_TYPE}) CODEC(ZSTD(1))`,
    first_time: "SimpleAggregateFunction(min, DateTime('UTC')) CODEC(Delta, ZSTD(1))",
    last_time: "SimpleAggregateFunction(max, DateTime('UTC')) CODEC(Delta, ZSTD(1))",
    first_ver: 'SimpleAggregateFunction(min, UInt64) CODEC(Delta, ZSTD(1))',
    last_ver: 'SimpleAggregateFunction(max, UInt64) CODEC(Delta, ZSTD(1))',
    first_room: 'SimpleAggregateFunction(min, UInt64) CODEC(ZSTD(1))',
    last_room: 'SimpleAggregateFunction(max, UInt64) CODEC(ZSTD(1))',
  },
  storage: {
    engine: 'AggregatingMergeTree',
    order: '(at, chain, hour, gone_block, gone_tx, gone_log)',
    ttl: `toDateTime(at) + toIntervalDay(${CHANGES_KEPT_DAYS + 1})`,
    settings: { index_granularity: 1024 },
  },
  filledBy: {
    settlement_changes_mv: `SELECT
    now64(6, 'UTC') AS at, chain, toStartOfHour(block_time) AS hour,
    if(del = 1, block_number, 0) AS gone_block,
    if(del = 1, tx_hash, ${expressions.noTransaction}) AS gone_tx,
    if(del = 1, log_index, 0) AS gone_log,
    any(if(del = 1, payer, ${expressions.noAccount})) AS gone_payer,
    any(if(del = 1, payee, ${expressions.noAccount})) AS gone_payee,
    min(block_time) AS first_time, max(block_time) AS last_time,
    min(ver) AS first_ver, max(ver) AS last_ver,
    min(ver % 100000) AS first_room, max(ver % 100000) AS last_room
FROM settlements
GROUP BY chain, hour, gone_block, gone_tx, gone_log`,
  },
  placement: dayOf('hour', 'made from the settlements of its shard'),
  // Once more by itself: a crash between the tombstones and the view leaves events that are gone and were never called so, and
  // a repeat finds nothing live to retract.
  retraction: {
    notes: ({ byTime }) => [
      sql`INSERT INTO settlement_changes SELECT now64(6, 'UTC') AS at, chain, toStartOfHour(block_time) AS hour,
          block_number AS gone_block, tx_hash AS gone_tx, log_index AS gone_log, payer AS gone_payer, payee AS gone_payee,
          block_time AS first_time, block_time AS last_time, ver AS first_ver, ver AS last_ver, ver % 100000 AS first_room, ver % 100000 AS last_room
        FROM settlements FINAL WHERE ${byTime} AND del = 1
          AND (chain, block_number, tx_hash, log_index) NOT IN (SELECT chain, gone_block, gone_tx, gone_log FROM settlement_changes)`,
    ],
  },
  backup: 'marks',
} as const satisfies Table;

/** When each transaction settled, by a prefix of its hash. A view fills it; a time that a reorg took back stays, and finds no row. */
export const TRANSACTION_TIMES = {
  name: 'transaction_times',
  columns: {},
  filled: {
    prefix: 'UInt32 CODEC(Delta, ZSTD(1))',
    block_time: "DateTime('UTC') CODEC(T64, ZSTD(1))",
  },
  storage: {
    engine: 'ReplacingMergeTree',
    order: '(prefix, block_time)',
    settings: { index_granularity: 512, min_age_to_force_merge_seconds: 86_400 },
  },
  filledBy: {
    transaction_times_mv: `SELECT reinterpretAsUInt32(substring(tx_hash, 1, 4)) AS prefix, block_time FROM settlements WHERE del = 0 GROUP BY prefix, block_time`,
  },
  placement: { key: null, why: 'made from the settlements of each shard; a reader asks all of them' },
  backup: 'marks',
} as const satisfies Table;
