import {
  chain,
  enumeration,
  float64,
  hash,
  name,
  named,
  nameOf,
  nullable,
  text,
  time,
  timeMs,
  transactionId,
  uint32,
  uint64,
  VERSIONED_TAIL,
} from './columns.ts';
import { type EventRow, onFirst, STATE, type Table, type TableRow } from './table.ts';

/** What ingest knows about its own work on each chain. */

/** Which block stands at each height of the reorg window. A wrong row is replaced by the next one at its height. */
export const BLOCKS = {
  name: 'blocks',
  columns: { chain, number: uint64, hash, time, ver: VERSIONED_TAIL.ver },
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
    kind: enumeration({ head: 1, backfill: 2 }),
    range_start: uint64,
    range_end: uint64,
    end_hash: hash,
    ...VERSIONED_TAIL,
  },
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
    updated_at: named('updatedAtMs', timeMs),
    ver: VERSIONED_TAIL.ver,
  },
  placement: STATE,
  versions: ['ver'],
} as const satisfies Table;

/**
 * Why a log of ours did not become a row.
 * - `malformed_log`: the event is ours by address and topic, its layout is not the event's;
 * - `unpaired_authorization`: an EIP-3009 authorization was used, but no Transfer of the same token belongs to it;
 * - `amount_out_of_range`: the dollar amount does not fit the engine's `Decimal(18, 6)`.
 */
export type DeadLetterReason = 'malformed_log' | 'unpaired_authorization' | 'amount_out_of_range';

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
    raw_log: text,
    ...VERSIONED_TAIL,
  },
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
  placement: onFirst('the highest token counts for all nodes'),
} as const satisfies Table;
