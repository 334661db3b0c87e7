import { expressions } from '../engine/account.ts';
import {
  account,
  chain,
  name,
  named,
  RANDOM,
  RISING,
  stored,
  time,
  transactionId,
  uint32,
  uint64,
  uint256,
  usd128,
  VERSIONED_TAIL,
  ZSTD,
} from './columns.ts';
import { dayOf, STATE, type Table } from './table.ts';

/** What each transaction cost the relayer that sent it, with the facts of its settlements, of final blocks (ingest/fees). */
export const TRANSACTION_FEES = {
  name: 'transaction_fees',
  columns: {
    block_time: stored(time, RISING),
    chain,
    tx_hash: stored(transactionId, RANDOM),
    block_number: stored(uint64, RISING),
    relayer: stored(account, ZSTD),
    facilitator: name,
    settlement_count: stored(uint32, ZSTD),
    /** Without channel deposits. */
    settled_usd: stored(named('settledUsdMicros', usd128), ZSTD),
    gas_used: stored(uint64, ZSTD),
    /** Effective price of a unit of gas, wei. */
    gas_price: stored(uint256, ZSTD),
    /** Fee of an OP-stack chain for the data on its base chain, wei; 0 elsewhere. */
    l1_fee: stored(uint256, ZSTD),
    /** gas_used times gas_price, and l1_fee; wei. */
    fee: stored(uint256, ZSTD),
    ver: stored(VERSIONED_TAIL.ver, RISING),
    del: stored(VERSIONED_TAIL.del, ZSTD),
  },
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    partition: 'toYYYYMM(block_time)',
    order: '(block_time, chain, tx_hash)',
    indexes: {
      ix_tx_text: `${expressions.transactionText('tx_hash')} TYPE bloom_filter(0.001) GRANULARITY 1`,
      ix_relayer_text: `${expressions.accountText('relayer')} TYPE bloom_filter(0.001) GRANULARITY 1`,
    },
    settings: {
      index_granularity: 1024,
      min_age_to_force_merge_seconds: 3600,
      min_age_to_force_merge_on_partition_only: 1,
    },
  },
  placement: dayOf('block_time', 'on the shard of the settlements that they are read with'),
  versions: ['ver'],
  // Rows are of final blocks; one of them goes only where an operator has blocks indexed anew.
  retraction: { tombstones: 'byTime' },
} as const satisfies Table;

/** Hours of a chain whose transactions have their fees, and the count of inserts from before they were read. */
export const FEE_HOURS = {
  name: 'fee_hours',
  columns: {
    chain,
    hour: time,
    writes: uint64,
    ver: VERSIONED_TAIL.ver,
  },
  storage: { engine: 'ReplacingMergeTree(ver)', order: '(chain, hour)' },
  placement: STATE,
  versions: ['ver'],
  backup: 'done',
} as const satisfies Table;
