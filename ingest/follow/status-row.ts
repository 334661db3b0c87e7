import type { Writer } from '../../clickhouse/engine/engine.ts';
import { RowBinary } from '../../clickhouse/engine/row-binary.ts';
import { sql, text } from '../../clickhouse/engine/sql.ts';
import type { Chain } from '../../core/domain/chain.ts';
import type { Versions } from '../write/versions.ts';
import type { Counters, StatusSnapshot } from './chain-status.ts';

/** Table `chain_status`: how what ingest knows reaches the API. */

const MAX_SECONDS = 10;

const STATUS_COLUMNS = [
  'chain',
  'state',
  'indexed_block',
  'indexed_time',
  'head_block',
  'head_time',
  'head_seen_at',
  'finalized_block',
  'backfill_blocks_done',
  'backfill_blocks_total',
  'rows_per_second',
  'blocks_per_second',
  'rows_written',
  'reorgs',
  'deepest_reorg',
  'retries',
  'contradictions',
  'dead_letters',
  'last_error',
  'last_written_at',
  'updated_at',
  'ver',
] as const;

/** Writes the rows of any number of chains in one insert. */
export async function saveStatuses(
  writer: Writer,
  versions: Versions,
  snapshots: readonly StatusSnapshot[],
  nowMs: number = Date.now(),
): Promise<void> {
  const ver = versions.next();
  const rows = snapshots.map((snapshot) => encodeStatus(snapshot, nowMs, ver));
  await writer.insert('save-status', 'chain_status', STATUS_COLUMNS, rows);
}

/** In the order of STATUS_COLUMNS. */
function encodeStatus(status: StatusSnapshot, nowMs: number, ver: bigint): Uint8Array {
  return new RowBinary()
    .string(status.chain)
    .string(status.state)
    .u64(status.indexedBlock)
    .dateTime(status.indexedTime)
    .u64(status.headBlock)
    .dateTime(status.headTime)
    .dateTime(Math.floor(status.headSeenAtMs / 1000))
    .u64(status.finalizedBlock)
    .u64(status.backfillDone)
    .u64(status.backfillTotal)
    .float64(status.rowsPerSecond)
    .float64(status.blocksPerSecond)
    .u64(status.rowsWritten)
    .u64(status.reorgs)
    .u64(status.deepestReorg)
    .u64(status.retries)
    .u64(status.contradictions)
    .u64(status.deadLetters)
    .string(status.lastError)
    .dateTime(status.lastWrittenAt)
    .dateTime64(nowMs)
    .u64(ver)
    .finish();
}

/** The counters of the last stored row, zero for a chain that was never indexed. */
export async function loadCounters(writer: Writer, chain: Chain): Promise<Counters> {
  const { rows } = await writer.rows({
    name: `load-status ${chain}`,
    sql: sql`SELECT rows_written, reorgs, deepest_reorg, retries, contradictions, dead_letters,
               toUnixTimestamp(last_written_at), indexed_block, toUnixTimestamp(indexed_time), finalized_block
             FROM chain_status FINAL WHERE chain = ${text(chain)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  const counts = (rows[0] ?? []).map(Number);
  const count = (column: number): number => counts[column] ?? 0;
  return {
    rowsWritten: count(0),
    reorgs: count(1),
    deepestReorg: count(2),
    retries: count(3),
    contradictions: count(4),
    deadLetters: count(5),
    lastWrittenAt: count(6),
    indexedBlock: count(7),
    indexedTime: count(8),
    finalizedBlock: count(9),
  };
}
