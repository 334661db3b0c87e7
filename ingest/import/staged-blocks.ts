import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, trustedText, uint64s } from '../../clickhouse/engine/sql.ts';
import type { Hash } from '../../core/domain/settlement.ts';
import type { BlockRange } from '../write/coverage.ts';
import { RowReader } from './row-reader.ts';
import type { Staging } from './staging.ts';

/** What the staged files say of the blocks that hold candidates. */

export interface StagedBlock {
  readonly number: number;
  readonly hash: Hash;
  /** Unix seconds. */
  readonly time: number;
  /** Logs that may become part of a settlement. */
  readonly candidates: number;
  /** Transactions of candidates that no file holds. */
  readonly missingTransactions: number;
  /** Whether the files name two different hashes for this height. */
  readonly isContradicted: boolean;
}

const MAX_SECONDS = 600;
const BLOCKS_MAX = 50_000_000;
/** Both are bytes. */
const CODES_MAX = 65_536;
const HASH_CHARS = 66;
export const NO_HASH: Hash = `0x${'0'.repeat(64)}`;

/** Hash and time come from whichever file has them; a hash or a time that nobody has is zero. Ascending. */
export async function readStagedBlocks(writer: Writer, staging: Staging): Promise<StagedBlock[]> {
  const logs = trustedText(staging.logs);
  const transactions = trustedText(staging.transactions);
  const bytes = await writer.rowBinary({
    name: 'import-blocks',
    sql: sql`
      SELECT number, toFixedString(concat('0x', lower(hex(max(high)))), 66), max(time), sum(candidates), sum(missing),
        toUInt8(max(high) != min(low) AND max(high) != toFixedString('', 32))
      FROM (
        SELECT block_number AS number, max(block_hash) AS high, min(if(block_hash = toFixedString('', 32), ${ALL_ONES}, block_hash)) AS low,
          max(block_time) AS time, toUInt32(count()) AS candidates, toUInt32(0) AS missing
        FROM ${logs} WHERE candidate GROUP BY number
        UNION ALL
        SELECT block_number, max(block_hash), min(if(block_hash = toFixedString('', 32), ${ALL_ONES}, block_hash)), max(block_time), 0, 0
        FROM ${transactions} GROUP BY block_number
        UNION ALL
        SELECT block_number, max(block_hash), min(if(block_hash = toFixedString('', 32), ${ALL_ONES}, block_hash)), max(block_time), 0, 0
        FROM ${trustedText(staging.blocks)} WHERE block_number IN (SELECT block_number FROM ${logs} WHERE candidate) GROUP BY block_number
        UNION ALL
        SELECT block_number, toFixedString('', 32), ${ALL_ONES}, 0, 0, toUInt32(uniqExact(transaction_hash))
        FROM ${logs} WHERE candidate AND transaction_hash NOT IN (SELECT transaction_hash FROM ${transactions}) GROUP BY block_number
      )
      GROUP BY number HAVING sum(candidates) > 0 ORDER BY number`,
    maxSeconds: MAX_SECONDS,
    maxRows: BLOCKS_MAX,
  });
  const reader = new RowReader(bytes);
  const blocks: StagedBlock[] = [];
  while (reader.hasMore) {
    blocks.push({
      number: reader.u64(),
      hash: reader.fixed(HASH_CHARS) as Hash, // 32 bytes as hex, by the statement
      time: reader.u32(),
      candidates: reader.u64(),
      missingTransactions: reader.u64(),
      isContradicted: reader.u8() === 1,
    });
  }
  return blocks;
}

/** Above every hash: what a minimum ignores. */
const ALL_ONES = sql`toFixedString(unhex('${trustedText('f'.repeat(64))}'), 32)`;

/** Codes of emitter and event of the staged logs, joined by a space; 0 stands for any other than those asked for. */
export async function readSeenCodes(writer: Writer, staging: Staging): Promise<string[]> {
  const { rows } = await writer.rows({
    name: 'import-seen',
    sql: sql`SELECT DISTINCT emitter, event FROM ${trustedText(staging.logs)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: CODES_MAX,
  });
  return rows.map(([emitter, event]) => `${emitter} ${event}`);
}

/** Runs of block numbers of which the blocks files hold every one, ascending. */
export async function readBlockRuns(writer: Writer, staging: Staging): Promise<BlockRange[]> {
  const { rows } = await writer.rows({
    name: 'import-block-runs',
    sql: sql`SELECT min(number), max(number) FROM (
               SELECT number, number - rowNumberInAllBlocks() AS run
               FROM (SELECT DISTINCT block_number AS number FROM ${trustedText(staging.blocks)} ORDER BY number)
             ) GROUP BY run ORDER BY 1`,
    maxSeconds: MAX_SECONDS,
    maxRows: BLOCKS_MAX,
  });
  return rows.map(([from, to]) => ({ from: Number(from), to: Number(to) }));
}

/** Hashes of some blocks, as far as the blocks files have them. */
export async function readHashes(
  writer: Writer,
  staging: Staging,
  numbers: readonly number[],
): Promise<Map<number, Hash>> {
  if (numbers.length === 0) return new Map();
  const { rows } = await writer.rows({
    name: 'import-hashes',
    sql: sql`SELECT block_number, concat('0x', lower(hex(max(block_hash)))) FROM ${trustedText(staging.blocks)}
             WHERE block_number IN (SELECT arrayJoin(${uint64s(numbers)})) GROUP BY block_number`,
    maxSeconds: MAX_SECONDS,
    maxRows: numbers.length,
  });
  return new Map(rows.map(([number, hash]) => [Number(number), hash as Hash])); // 32 bytes as hex, by the statement
}
