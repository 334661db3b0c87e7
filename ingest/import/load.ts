import { createReadStream } from 'node:fs';
import { expressions, HASH_BYTES } from '../../clickhouse/engine/account.ts';
import { EngineError, type Writer } from '../../clickhouse/engine/engine.ts';
import { empty, type Sql, sql, texts, trustedText, uint64 } from '../../clickhouse/engine/sql.ts';
import { EVM_BYTES, ZERO_HASH } from '../../core/domain/account.ts';
import type { DecodeContext } from '../decode/context.ts';
import { CHANNEL_TOPICS, emittersOf, REGISTRY_TOPIC, TOPIC } from '../decode/log-kind.ts';
import type { BlockRange } from '../write/checkpoints.ts';
import type { FoundColumn, FoundColumns } from './columns.ts';
import type { ImportFile } from './files.ts';
import { importProblems } from './problem.ts';
import type { Staging } from './staging.ts';

/**
 * Sends the bytes of one Parquet file to the engine, which reads the wanted columns, turns hex into bytes and keeps the relevant rows.
 * JavaScript only passes the file through.
 *
 * The table function `file()` would avoid HTTP, for an embedded engine only; but its Parquet reader pushes our conditions down and then
 * fails on them (26.7: code 10, a column of an expression is not found).
 */

/** One file may be many gigabytes on a slow disk. */
const MAX_SECONDS = 3_600;
const READ_CHUNK_BYTES = 1024 * 1024;
/**
 * throwIf, texts longer than their column, and what the engine says of a file whose pages are damaged: it cannot be read to its end,
 * decompressed or decoded.
 */
const BAD_DATA_CODES: ReadonlySet<number | null> = new Set([
  395, 131, 32, 33, 36, 74, 117, 125, 128, 271, 354, 636, 1_000, 1_001,
]);

/**
 * Of the first rows of each block of the engine (65,000 rows), logs of other contracts and events are kept as well: a sample that
 * shows whether the export was made for some contracts or events only. Their emitter or event has the code 0.
 */
const SAMPLED_PER_BLOCK = 256;

/** The kind of rows that are loaded, the same for every file of a run. */
export interface LoadTarget {
  readonly chainId: number;
  readonly context: DecodeContext;
  readonly staging: Staging;
}

/** The emitters in the order of their codes in the staging table, which begin with 1. */
export function emitterCodes(context: DecodeContext): readonly string[] {
  return emittersOf(context);
}

/** topic0 values in the order of their codes, which begin with 1. */
export const EVENT_CODES: readonly string[] = [
  ...new Set([...Object.values(TOPIC), ...Object.values(REGISTRY_TOPIC), ...CHANNEL_TOPICS]),
];

/** Loads the rows of a file that lie in `blocks`. Throws `UserError` where the data is not what its columns promise. */
export async function loadFile(
  writer: Writer,
  target: LoadTarget,
  file: ImportFile,
  blocks: BlockRange,
): Promise<void> {
  const select = { logs: selectLogs, transactions: selectTransactions, blocks: selectBlocks }[file.kind];
  const table = trustedText(target.staging[file.kind]);
  const body = createReadStream(file.path, { highWaterMark: READ_CHUNK_BYTES });
  try {
    await writer.load(
      {
        name: `import-${file.kind}`,
        sql: sql`INSERT INTO ${table} ${select(file, target, blocks)} FORMAT Parquet`,
        maxSeconds: MAX_SECONDS,
      },
      body,
    );
  } catch (error) {
    if (error instanceof EngineError && BAD_DATA_CODES.has(error.engineCode))
      throw importProblems([`${file.path} (${file.kind}): ${engineTextOf(error)}`]);
    throw error;
  } finally {
    body.destroy();
  }
}

function engineTextOf(error: EngineError): string {
  const said = error.cause instanceof Error ? error.cause.message : '';
  return said.split(': while executing')[0]?.slice(0, 300) ?? '';
}

function selectLogs(
  { columns }: ImportFile,
  { context, chainId, staging }: LoadTarget,
  blocks: BlockRange,
): Sql {
  const topic = (at: number): Sql =>
    columns['topics'] === undefined
      ? optional(columns[`topic${at}`], (name) => sql`ifNull(${name}, '')`, sql`''`)
      : optional(
          columns['topics'],
          (name) => sql`ifNull(${name}[${trustedText(String(at + 1))}], '')`,
          sql`''`,
        );
  const token = sql`x_emitter <= ${uint64(context.tokens.size)}`;
  const transfer = sql`x_event = ${uint64(EVENT_CODES.indexOf(TOPIC.transfer) + 1)}`;
  const toCatalogued = sql`substring(x_topic2, 13, 20) IN (SELECT address FROM ${trustedText(staging.payees)})`;
  // Neither a payment's transfer by itself nor malformed: what most logs of a token are.
  const plain = sql`${token} AND ${transfer} AND (x_topics = 4 OR (x_topics = 3 AND length(x_data) = 32 AND NOT ${toCatalogued}))`;
  return sql`(block_number, log_index, emitter, event, topic_count, candidate, transaction_hash, topic1, topic2, topic3, data, block_hash, block_time)
    SELECT x_number, x_index, x_emitter, x_event, x_topics, x_emitter > 0 AND x_event > 0 AND NOT (${plain}), x_hash, x_topic1, x_topic2, x_topic3, x_data, x_block, x_time
    FROM (
      SELECT ${name(columns, 'blockNumber')} AS x_number, ${name(columns, 'logIndex')} AS x_index,
        indexOf(${unhexed(emitterCodes(context))}, ${bytesOf(name(columns, 'address'), EVM_BYTES.address)}) AS x_emitter,
        indexOf(${unhexed(EVENT_CODES)}, ${bytesOf(topic(0), HASH_BYTES)}) AS x_event,
        (${topic(0)} != '') + (${topic(1)} != '') + (${topic(2)} != '') + (${topic(3)} != '') AS x_topics,
        ${fixedBytes(name(columns, 'transactionHash'), HASH_BYTES)} AS x_hash,
        ${fixedBytes(topic(1), HASH_BYTES)} AS x_topic1, ${fixedBytes(topic(2), HASH_BYTES)} AS x_topic2, ${fixedBytes(topic(3), HASH_BYTES)} AS x_topic3,
        ${variableBytes(name(columns, 'data'), name(columns, 'transactionHash'))} AS x_data,
        ${blockHash(columns)} AS x_block, ${blockTime(columns)} AS x_time, rowNumberInBlock() AS x_row
      FROM input(${structureOf(columns)})
      WHERE ${checks(columns, chainId, [
        ['transactionHash', HASH_BYTES],
        ['address', EVM_BYTES.address],
      ])}
    )
    WHERE (x_emitter > 0 AND x_event > 0 OR x_row < ${uint64(SAMPLED_PER_BLOCK)}) AND ${within(blocks)}`;
}

function selectTransactions(
  { columns, blocks: range }: ImportFile,
  target: LoadTarget,
  blocks: BlockRange,
): Sql {
  const logs = trustedText(target.staging.logs);
  const from = Math.max(blocks.from, range?.from ?? 0);
  const to = Math.min(blocks.to, range?.to ?? Number.MAX_SAFE_INTEGER);
  const recipient = sql`ifNull(${name(columns, 'to')}, '')`;
  return sql`(block_number, transaction_hash, sender, has_recipient, recipient, input, block_hash, block_time)
    SELECT ${name(columns, 'blockNumber')} AS x_number, ${fixedBytes(name(columns, 'transactionHash'), HASH_BYTES)} AS x_hash,
      ${fixedBytes(name(columns, 'from'), EVM_BYTES.address)}, length(${recipient}) > 2, ${fixedBytes(sql`if(length(${recipient}) > 2, ${recipient}, '')`, EVM_BYTES.address)},
      ${variableBytes(name(columns, 'input'), name(columns, 'transactionHash'))},
      ${blockHash(columns)}, ${blockTime(columns)}
    FROM input(${structureOf(columns)})
    WHERE ${checks(columns, target.chainId, [
      ['transactionHash', HASH_BYTES],
      ['from', EVM_BYTES.address],
    ])} AND ${within(blocks)}
      AND x_hash IN (SELECT transaction_hash FROM ${logs} WHERE candidate AND block_number >= ${uint64(from)} AND block_number <= ${uint64(to)})`;
}

function selectBlocks({ columns }: ImportFile, { chainId }: LoadTarget, blocks: BlockRange): Sql {
  return sql`(block_number, block_hash, block_time)
    SELECT ${name(columns, 'blockNumber')} AS x_number, ${blockHash(columns)}, ${blockTime(columns)}
    FROM input(${structureOf(columns)}) WHERE ${checks(columns, chainId, [])} AND ${within(blocks)}`;
}

/** Each column as the engine shall read it. The names come from columns.ts, never a file's own text. */
function structureOf(columns: FoundColumns): Sql {
  const types = Object.entries(columns).flatMap(([key, column]) =>
    column === undefined ? [] : [`\`${column.name}\` ${typeOf(key, column)}`],
  );
  return trustedText(`'${types.join(', ')}'`);
}

function typeOf(key: string, { kind }: FoundColumn): string {
  if (kind === 'integer') return 'UInt64';
  if (kind === 'timestamp') return "Nullable(DateTime64(3, \\'UTC\\'))";
  if (kind === 'list') return 'Array(Nullable(String))';
  return key === 'to' || key.startsWith('topic') || key === 'blockHash' ? 'Nullable(String)' : 'String';
}

function name(columns: FoundColumns, key: string): Sql {
  const column = columns[key];
  if (column === undefined) throw new Error(`the plan let a file without ${key} pass`);
  return trustedText(`\`${column.name}\``);
}

function optional(column: FoundColumn | undefined, use: (name: Sql) => Sql, otherwise: Sql): Sql {
  return column === undefined ? otherwise : use(trustedText(`\`${column.name}\``));
}

/**
 * Bytes from bytes or from 0x-prefixed hex. The length decides which: a column of fixed size has no third one, and it says so
 * whatever the writer called its type.
 */
function bytesOf(value: Sql, size: number): Sql {
  return sql`if(length(${value}) = ${uint64(2 + 2 * size)}, unhex(substring(${value}, 3)), ${value})`;
}

function fixedBytes(value: Sql, size: number): Sql {
  return sql`toFixedString(${bytesOf(value, size)}, ${trustedText(String(size))})`;
}

/** A text of any size is hex where the hash in its row is. */
function variableBytes(value: Sql, hash: Sql): Sql {
  return sql`if(length(${hash}) = ${uint64(ZERO_HASH.length)}, unhex(substring(${value}, 3)), ${value})`;
}

function blockHash(columns: FoundColumns): Sql {
  return optional(
    columns['blockHash'],
    (column) => fixedBytes(sql`ifNull(${column}, '')`, HASH_BYTES),
    trustedText(expressions.noHash),
  );
}

function blockTime(columns: FoundColumns): Sql {
  const column = columns['blockTime'];
  return optional(
    column,
    (time) => (column?.kind === 'timestamp' ? sql`ifNull(toUnixTimestamp(${time}), 0)` : time),
    sql`0`,
  );
}

/** Evaluated on every row, wanted or not: a file of another chain must not pass merely because none of its logs is wanted. */
function checks(columns: FoundColumns, chainId: number, sizes: readonly (readonly [string, number])[]): Sql {
  const chain = optional(
    columns['chainId'],
    (id) =>
      sql`NOT throwIf(${id} != ${uint64(chainId)}, ${trustedText(`'rows of another chain than ${chainId}'`)})`,
    sql`1`,
  );
  return sizes.reduce(
    (all, [key, size]) =>
      sql`${all} AND NOT throwIf(length(${name(columns, key)}) NOT IN (${uint64(size)}, ${uint64(2 + 2 * size)}), ${trustedText(`'column ${columns[key]?.name} is neither ${size} bytes nor their hex'`)})`,
    chain,
  );
}

function within({ from, to }: BlockRange): Sql {
  return sql`x_number >= ${uint64(from)} AND x_number <= ${uint64(to)}`;
}

function unhexed(values: readonly string[]): Sql {
  return values.length === 0 ? empty : sql`arrayMap(v -> unhex(substring(v, 3)), ${texts(values)})`;
}
