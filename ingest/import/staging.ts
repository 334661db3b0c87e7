import { hostname } from 'node:os';
import {
  ACCOUNT_TYPE,
  expressions,
  HASH_BYTES,
  HASH_TYPE,
  hashText,
} from '../../clickhouse/engine/account.ts';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { RowBinary } from '../../clickhouse/engine/row-binary.ts';
import { RowReader } from '../../clickhouse/engine/row-reader.ts';
import { sql, text, trustedText, uint64s } from '../../clickhouse/engine/sql.ts';
import { type Address, EVM_BYTES, type Hash, ZERO_HASH } from '../../core/domain/account.ts';
import type { BlockRange } from '../write/checkpoints.ts';

/**
 * The tables that one import reads files into. They hold raw bytes and small codes, and only what can matter: logs of known
 * contracts and events, transactions and blocks of candidates. They are dropped at the end, and tables of a run that was killed
 * at the next start.
 */
export interface Staging {
  readonly logs: string;
  readonly transactions: string;
  readonly blocks: string;
  readonly payees: string;
}

const PREFIX = 'import_';
const MAX_SECONDS = 60;
const TABLES_MAX = 1_000;
const STALE_AFTER_SECONDS = 86_400;
const NAMES = ['logs', 'transactions', 'blocks', 'payees'] as const;

/** Hashes do not compress, and what lives for a minute need not survive a power cut. */
const COLUMNS: Readonly<Record<(typeof NAMES)[number], string>> = {
  logs: `block_number UInt64 CODEC(Delta, LZ4), log_index UInt32, emitter UInt8, event UInt8, topic_count UInt8,
    candidate UInt8, transaction_hash ${HASH_TYPE} CODEC(NONE), topic1 ${HASH_TYPE}, topic2 ${HASH_TYPE},
    topic3 ${HASH_TYPE}, data String, block_hash ${HASH_TYPE}, block_time UInt32`,
  transactions: `block_number UInt64 CODEC(Delta, LZ4), transaction_hash ${HASH_TYPE} CODEC(NONE),
    sender FixedString(${EVM_BYTES.address}), has_recipient UInt8, recipient FixedString(${EVM_BYTES.address}), input String, block_hash ${HASH_TYPE},
    block_time UInt32`,
  blocks: `block_number UInt64 CODEC(Delta, LZ4), block_hash ${HASH_TYPE} CODEC(NONE), block_time UInt32`,
  payees: `address ${ACCOUNT_TYPE}`,
};
const ORDERS: Readonly<Record<(typeof NAMES)[number], string>> = {
  logs: 'block_number, log_index',
  transactions: 'block_number',
  blocks: 'block_number',
  payees: 'address',
};

/** Creates the tables; the name of the process that owns them stands in their comment. */
export async function createStaging(
  writer: Writer,
  run: string,
  payees: readonly Address[],
): Promise<Staging> {
  for (const name of NAMES) {
    await execute(
      writer,
      `CREATE TABLE ${PREFIX}${run}_${name} (${COLUMNS[name]}) ENGINE = MergeTree ORDER BY (${ORDERS[name]})
       SETTINGS fsync_after_insert = 0, fsync_part_directory = 0 COMMENT '${owner()}'`,
    );
  }
  const staging = Object.fromEntries(NAMES.map((name) => [name, `${PREFIX}${run}_${name}`]));
  const tables = staging as unknown as Staging; // the four names, by the line above
  const rows = new RowBinary();
  for (const payee of payees) rows.account(payee);
  if (payees.length > 0) await writer.insert('import-payees', tables.payees, ['address'], [rows.finish()]);
  return tables;
}

export async function emptyStaging(writer: Writer, staging: Staging): Promise<void> {
  for (const table of [staging.logs, staging.transactions, staging.blocks])
    await execute(writer, `TRUNCATE TABLE ${table} SYNC`);
}

export async function dropStaging(writer: Writer, staging: Staging): Promise<void> {
  for (const table of Object.values(staging)) await execute(writer, `DROP TABLE IF EXISTS ${table} SYNC`);
}

/** Drops what killed imports left behind: their process is gone, or on another machine and a day old. */
export async function dropStaleStaging(writer: Writer): Promise<number> {
  const { rows } = await writer.rows({
    name: 'import-stale-tables',
    sql: sql`SELECT name, comment, dateDiff('second', metadata_modification_time, now()) FROM system.tables
             WHERE database = currentDatabase() AND startsWith(name, ${text(PREFIX)})`,
    maxSeconds: MAX_SECONDS,
    maxRows: TABLES_MAX,
  });
  let dropped = 0;
  for (const [name, comment, age] of rows) {
    if (isOwned(String(comment)) && Number(age) < STALE_AFTER_SECONDS) continue;
    await execute(writer, `DROP TABLE IF EXISTS ${tableName(name)} SYNC`);
    dropped += 1;
  }
  return dropped;
}

const OURS = /^import_[0-9a-f]+_[a-z]+$/;

function tableName(name: unknown): string {
  if (typeof name !== 'string' || !OURS.test(name))
    throw new TypeError(`${String(name)} is no table of an import`);
  return name;
}

const SAFE = /[^A-Za-z0-9._-]/g;

function owner(): string {
  return `${hostname().replace(SAFE, '')} ${process.pid}`;
}

function isOwned(comment: string): boolean {
  const [host, pid] = comment.split(' ');
  if (host !== hostname().replace(SAFE, '')) return true;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    // Another user's process may not be signalled, but it is there.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function execute(writer: Writer, statement: string): Promise<void> {
  return writer.run({
    name: 'import-staging',
    kind: 'other',
    sql: trustedText(statement),
    maxSeconds: MAX_SECONDS,
  });
}

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

const READ_MAX_SECONDS = 600;
const BLOCKS_MAX = 50_000_000;
/** Both are bytes. */
const CODES_MAX = 65_536;

/** Hash and time come from any file that has them; a hash or a time that no file has is zero. Ascending. */
export async function readStagedBlocks(writer: Writer, staging: Staging): Promise<StagedBlock[]> {
  const logs = trustedText(staging.logs);
  const transactions = trustedText(staging.transactions);
  const bytes = await writer.rowBinary({
    name: 'import-blocks',
    sql: sql`
      SELECT number, toFixedString(${hashText('max(high)')}, ${trustedText(String(ZERO_HASH.length))}), max(time), sum(candidates), sum(missing),
        toUInt8(max(high) != min(low) AND max(high) != ${NO_HASH})
      FROM (
        SELECT block_number AS number, max(block_hash) AS high, min(if(block_hash = ${NO_HASH}, ${ALL_ONES}, block_hash)) AS low,
          max(block_time) AS time, toUInt32(count()) AS candidates, toUInt32(0) AS missing
        FROM ${logs} WHERE candidate GROUP BY number
        UNION ALL
        SELECT block_number, max(block_hash), min(if(block_hash = ${NO_HASH}, ${ALL_ONES}, block_hash)), max(block_time), 0, 0
        FROM ${transactions} GROUP BY block_number
        UNION ALL
        SELECT block_number, max(block_hash), min(if(block_hash = ${NO_HASH}, ${ALL_ONES}, block_hash)), max(block_time), 0, 0
        FROM ${trustedText(staging.blocks)} WHERE block_number IN (SELECT block_number FROM ${logs} WHERE candidate) GROUP BY block_number
        UNION ALL
        SELECT block_number, ${NO_HASH}, ${ALL_ONES}, 0, 0, toUInt32(uniqExact(transaction_hash))
        FROM ${logs} WHERE candidate AND transaction_hash NOT IN (SELECT transaction_hash FROM ${transactions}) GROUP BY block_number
      )
      GROUP BY number HAVING sum(candidates) > 0 ORDER BY number`,
    maxSeconds: READ_MAX_SECONDS,
    maxRows: BLOCKS_MAX,
  });
  const reader = new RowReader(bytes);
  const blocks: StagedBlock[] = [];
  while (reader.hasMore) {
    blocks.push({
      number: reader.u64(),
      hash: reader.fixed(ZERO_HASH.length) as Hash, // 32 bytes as hex, by the statement
      time: reader.u32(),
      candidates: reader.u64(),
      missingTransactions: reader.u64(),
      isContradicted: reader.u8() === 1,
    });
  }
  return blocks;
}

/** Above every hash: what a minimum ignores. */
const NO_HASH = trustedText(expressions.noHash);
const ALL_ONES = trustedText(`toFixedString(unhex('${'ff'.repeat(HASH_BYTES)}'), ${HASH_BYTES})`);

/** Codes of emitter and event of the staged logs, joined by a space; 0 stands for any other than those asked for. */
export async function readSeenCodes(writer: Writer, staging: Staging): Promise<string[]> {
  const { rows } = await writer.rows({
    name: 'import-seen',
    sql: sql`SELECT DISTINCT emitter, event FROM ${trustedText(staging.logs)}`,
    maxSeconds: READ_MAX_SECONDS,
    maxRows: CODES_MAX,
  });
  return rows.map(([emitter, event]) => `${emitter} ${event}`);
}

/** Runs of block numbers without a gap in the blocks files, ascending. */
export async function readBlockRuns(writer: Writer, staging: Staging): Promise<BlockRange[]> {
  const { rows } = await writer.rows({
    name: 'import-block-runs',
    sql: sql`SELECT min(number), max(number) FROM (
               SELECT number, number - rowNumberInAllBlocks() AS run
               FROM (SELECT DISTINCT block_number AS number FROM ${trustedText(staging.blocks)} ORDER BY number)
             ) GROUP BY run ORDER BY 1`,
    maxSeconds: READ_MAX_SECONDS,
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
    sql: sql`SELECT block_number, ${hashText('max(block_hash)')} FROM ${trustedText(staging.blocks)}
             WHERE block_number IN (SELECT arrayJoin(${uint64s(numbers)})) GROUP BY block_number`,
    maxSeconds: READ_MAX_SECONDS,
    maxRows: numbers.length,
  });
  return new Map(rows.map(([number, hash]) => [Number(number), hash as Hash])); // 32 bytes as hex, by the statement
}
