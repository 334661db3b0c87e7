import type { DEAD_LETTER_REASONS } from '../../core/domain/coverage.ts';
import {
  chain,
  enumeration,
  flag,
  float64,
  hash,
  name,
  named,
  nameOf,
  nullable,
  stored,
  text,
  time,
  timeMs,
  transactionId,
  uint32,
  uint64,
  VERSIONED_TAIL,
  ZSTD_3,
} from './columns.ts';
import { type EventRow, onFirst, STATE, type Table, type TableRow } from './table.ts';

/** What ingest knows about its own work on each chain. */

/** Which block stands at each height of the reorg window. A wrong row is replaced by the next one at its height. */
export const BLOCKS = {
  name: 'blocks',
  columns: {
    chain,
    number: uint64,
    hash,
    time,
    ver: VERSIONED_TAIL.ver,
  },
  filled: {
    written_at: "DateTime('UTC') DEFAULT now()",
  },
  storage: {
    engine: 'ReplacingMergeTree(ver)',
    order: '(chain, number)',
    ttl: 'written_at + toIntervalDay(30)',
  },
  placement: onFirst('the reorg window of each chain, at most a month'),
  versions: ['ver'],
  backup: 'done',
} as const satisfies Table;

/** Ranges of blocks whose rows are all acknowledged. */
export const CHECKPOINTS = {
  name: 'checkpoints',
  columns: {
    chain,
    /** Names the set of contracts that was read. */
    contracts: name,
    /** Whether only the transactions of named fee payers were read, and not the whole blocks. */
    is_partial: flag,
    kind: enumeration({ head: 1, backfill: 2 }),
    range_start: uint64,
    range_end: uint64,
    end_hash: hash,
    ...VERSIONED_TAIL,
  },
  storage: { engine: 'ReplacingMergeTree(ver)', order: '(chain, contracts, kind, range_start)' },
  placement: STATE,
  versions: ['ver'],
  backup: 'checkpoints',
} as const satisfies Table;
export type CheckpointRow = TableRow<typeof CHECKPOINTS>;

/**
 * The state of a chain in the API. `incomplete` follows the tip and has logs that could not become rows; `contradicting` has nodes that
 * answer and whose answers fail the checks; `stopped` needs an operator; `imported` has no node.
 */
export type ChainState =
  | 'starting'
  | 'backfilling'
  | 'following'
  | 'incomplete'
  | 'imported'
  | 'contradicting'
  | 'unreachable'
  | 'stopped';

/** A Portal gives final blocks in streams; over JSON-RPC a node is asked for each. */
export type BackfillSource = 'portal' | 'rpc';

/** What ingest last knew of each chain; freshness and telemetry are served from it. */
export const CHAIN_STATUS = {
  name: 'chain_status',
  columns: {
    chain,
    state: nameOf<ChainState>(),
    indexed_block: uint64,
    indexed_time: time,
    head_block: uint64,
    head_time: time,
    /** When the node last gave its head; 0 for never. */
    head_seen_at: time,
    finalized_block: uint64,
    backfill_blocks_done: named('backfillDone', uint64),
    backfill_blocks_total: named('backfillTotal', uint64),
    rows_per_second: float64,
    blocks_per_second: float64,
    rows_written: uint64,
    reorgs: uint64,
    deepest_reorg: uint64,
    retries: uint64,
    contradictions: uint64,
    dead_letters: uint64,
    /** A short public code, '' for none. */
    last_error: name,
    last_written_at: time,
    /** Hours that have transactions without fees, and the oldest of them (0 for none); null where no receipts are read. */
    fee_hours_open: nullable(uint64),
    fee_oldest_open: time,
    /** Where the newest blocks of the backfill came from; '' while there are none. */
    backfill_source: nameOf<BackfillSource | ''>(),
    updated_at: named('updatedAtMs', timeMs),
    ver: VERSIONED_TAIL.ver,
  },
  storage: { engine: 'ReplacingMergeTree(ver)', order: 'chain' },
  placement: STATE,
  versions: ['ver'],
} as const satisfies Table;

/**
 * Why a log of ours did not become a row.
 * - `malformed_log`: the event is ours by address and topic, its layout is not the event's;
 * - `unpaired_authorization`: an EIP-3009 authorization was used, but no Transfer of the same token belongs to it;
 * - `unpaired_proxy`: a Permit2 proxy settled a payment, but its Transfer was not read;
 * - `unknown_channel`: an event of a channel whose parties neither its transaction nor an earlier row names;
 * - `amount_out_of_range`: the dollar amount does not fit the engine's `Decimal(18, 6)`;
 * - `unclear_transfer`: a transfer on Solana whose owners, amount or place its transaction does not show.
 */
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number];

/** Logs that could not become a row, with the reason. */
export const DEAD_LETTERS = {
  name: 'dead_letters',
  columns: {
    chain,
    block_number: uint64,
    block_hash: hash,
    tx_hash: transactionId,
    log_index: uint32,
    reason: nameOf<DeadLetterReason>(),
    /** The log as JSON. */
    raw_log: stored(text, ZSTD_3),
    ...VERSIONED_TAIL,
  },
  filled: {
    written_at: "DateTime('UTC') DEFAULT now()",
  },
  storage: { engine: 'ReplacingMergeTree(ver)', order: '(chain, block_number, log_index, reason)' },
  placement: onFirst('few, and looked for by chain'),
  versions: ['ver'],
  // The block of a log that is none of ours may not have been read, and so its time.
  retraction: { tombstones: 'byNumber' },
} as const satisfies Table;
export type DeadLetter = EventRow<typeof DEAD_LETTERS>;

/** Which process may write what (clickhouse/engine/guard.ts). */
export const FENCES = {
  name: 'fences',
  columns: {},
  filled: {
    scope: 'String',
    token: 'UInt64',
    owner: 'String',
    ended: 'UInt8',
    beat_at: "DateTime64(3, 'UTC') DEFAULT now64(3)",
  },
  storage: { engine: 'ReplacingMergeTree(beat_at)', order: '(scope, token, owner)' },
  placement: onFirst('the highest token counts for all nodes'),
} as const satisfies Table;
