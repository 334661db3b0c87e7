import { hostname } from 'node:os';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { RowBinary } from '../../clickhouse/engine/row-binary.ts';
import { sql, text, trustedText } from '../../clickhouse/engine/sql.ts';
import type { Address } from '../../core/domain/address.ts';

/**
 * The tables that one import reads files into. They hold raw bytes and small codes, and only what can matter: logs of known
 * contracts and events, transactions and blocks of candidates. They are dropped at the end, and those of a run that was killed
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
    candidate UInt8, transaction_hash FixedString(32) CODEC(NONE), topic1 FixedString(32), topic2 FixedString(32),
    topic3 FixedString(32), data String, block_hash FixedString(32), block_time UInt32`,
  transactions: `block_number UInt64 CODEC(Delta, LZ4), transaction_hash FixedString(32) CODEC(NONE),
    sender FixedString(20), has_recipient UInt8, recipient FixedString(20), input String, block_hash FixedString(32),
    block_time UInt32`,
  blocks: 'block_number UInt64 CODEC(Delta, LZ4), block_hash FixedString(32) CODEC(NONE), block_time UInt32',
  payees: 'address FixedString(20)',
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
  for (const payee of payees) rows.hex20(payee);
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
  return writer.run({ name: 'import-staging', sql: trustedText(statement), maxSeconds: MAX_SECONDS });
}
