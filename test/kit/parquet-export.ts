import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineAccess } from '../../clickhouse/engine/engine.ts';
import type { Rpc } from '../../demo/chain/json-rpc.ts';
import { readReceipts } from './oracle/receipts.ts';

/** A chain as export tools see it: everything, in hex. */
export interface ChainExport {
  readonly chainId: number;
  readonly logs: readonly ExportedLog[];
  readonly transactions: readonly ExportedTransaction[];
  readonly blocks: readonly ExportedBlock[];
}

export interface ExportedLog {
  readonly block_number: number;
  readonly block_hash: string;
  readonly timestamp: number;
  readonly transaction_index: number;
  readonly log_index: number;
  readonly transaction_hash: string;
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

export interface ExportedTransaction {
  readonly block_number: number;
  readonly block_hash: string;
  readonly timestamp: number;
  readonly transaction_index: number;
  readonly transaction_hash: string;
  readonly from_address: string;
  readonly to_address: string | null;
  readonly input: string;
}

export interface ExportedBlock {
  readonly block_number: number;
  readonly block_hash: string;
  readonly timestamp: number;
}

interface RpcTransaction {
  readonly hash: string;
  readonly transactionIndex: string;
  readonly from: string;
  readonly to: string | null;
  readonly input: string;
}

interface RpcBlock {
  readonly number: string;
  readonly hash: string;
  readonly timestamp: string;
  readonly transactions: readonly RpcTransaction[];
}

/** Reads blocks [0, head] from receipts and blocks, without eth_getLogs. */
export async function exportChain(rpc: Rpc): Promise<ChainExport> {
  const head = Number(await rpc.call<string>('eth_blockNumber'));
  const blocks = await rpc.batch<RpcBlock>(
    Array.from({ length: head + 1 }, (_, number) => ({
      method: 'eth_getBlockByNumber',
      params: [`0x${number.toString(16)}`, true],
    })),
  );
  const times = new Map(blocks.map((block) => [Number(block.number), Number(block.timestamp)]));
  const receipts = await readReceipts(rpc, 0, head);
  return {
    chainId: Number(await rpc.call<string>('eth_chainId')),
    logs: receipts.flatMap((receipt) =>
      receipt.logs.map((log) => ({
        block_number: Number(log.blockNumber),
        block_hash: log.blockHash,
        timestamp: times.get(Number(log.blockNumber)) ?? 0,
        transaction_index: 0,
        log_index: Number(log.logIndex),
        transaction_hash: log.transactionHash,
        address: log.address,
        topics: log.topics,
        data: log.data,
      })),
    ),
    transactions: blocks.flatMap((block) =>
      block.transactions.map((transaction) => ({
        block_number: Number(block.number),
        block_hash: block.hash,
        timestamp: Number(block.timestamp),
        transaction_index: Number(transaction.transactionIndex),
        transaction_hash: transaction.hash,
        from_address: transaction.from,
        to_address: transaction.to,
        input: transaction.input,
      })),
    ),
    blocks: blocks.map((block) => ({
      block_number: Number(block.number),
      block_hash: block.hash,
      timestamp: Number(block.timestamp),
    })),
  };
}

const SOURCES = {
  logs: `block_number UInt32, block_hash String, timestamp UInt32, transaction_index UInt32, log_index UInt32,
    transaction_hash String, address String, topics Array(String), data String`,
  transactions: `block_number UInt32, block_hash String, timestamp UInt32, transaction_index UInt64,
    transaction_hash String, from_address String, to_address Nullable(String), input String`,
  blocks: 'block_number UInt32, block_hash String, timestamp UInt32',
} as const;

export type ExportKind = keyof typeof SOURCES;

/** The select list over the rows above: the columns of a tool, in its types. */
export type Layout = Readonly<Record<ExportKind, (chainId: number) => string>>;

const bin = (column: string): string => `unhex(substring(${column}, 3)) AS ${column}`;
const topicColumns = (wrap: (topic: string) => string): string =>
  [0, 1, 2, 3]
    .map((at) => `if(length(topics) > ${at}, ${wrap(`topics[${at + 1}]`)}, NULL) AS topic${at}`)
    .join(', ');

/** cryo's default columns, bytes as bytes. Logs have no block hash and nothing but blocks has a time. */
export const CRYO: Layout = {
  logs: (id) =>
    `block_number, transaction_index, log_index, ${bin('transaction_hash')}, ${bin('address')}, ${topicColumns((topic) => `unhex(substring(${topic}, 3))`)}, ${bin('data')}, toUInt32(length(data)) AS n_data_bytes, toUInt64(${id}) AS chain_id`,
  transactions: (id) =>
    `block_number, transaction_index, ${bin('transaction_hash')}, toUInt64(0) AS nonce, ${bin('from_address')}, ${bin('to_address')}, '0' AS value_string, toFloat64(0) AS value_f64, ${bin('input')}, toUInt64(21000) AS gas_limit, true AS success, toUInt64(${id}) AS chain_id`,
  blocks: (id) =>
    `${bin('block_hash')}, '' AS author, block_number, toUInt64(0) AS gas_used, '' AS extra_data, timestamp, toUInt64(1) AS base_fee_per_gas, toUInt64(${id}) AS chain_id`,
};

/** The same with `--hex`. */
export const CRYO_HEX: Layout = {
  logs: (id) =>
    `block_number, transaction_index, log_index, transaction_hash, address, ${topicColumns((topic) => topic)}, data, toUInt64(${id}) AS chain_id`,
  transactions: (id) =>
    `block_number, transaction_index, transaction_hash, from_address, to_address, input, toUInt64(${id}) AS chain_id`,
  blocks: (id) => `block_hash, block_number, timestamp, toUInt64(${id}) AS chain_id`,
};

/** ethereum-etl and the BigQuery public data sets: topics in a list, times and hashes everywhere, no chain id. */
export const ETHEREUM_ETL: Layout = {
  logs: () =>
    "toInt64(log_index) AS log_index, transaction_hash, toInt64(transaction_index) AS transaction_index, block_hash, toInt64(block_number) AS block_number, address, data, topics, toDateTime64(timestamp, 6, 'UTC') AS block_timestamp",
  transactions: () =>
    "transaction_hash AS hash, toInt64(transaction_index) AS transaction_index, from_address, to_address, input, block_hash, toInt64(block_number) AS block_number, toDateTime64(timestamp, 6, 'UTC') AS block_timestamp",
  blocks: () => 'toInt64(block_number) AS number, block_hash AS hash, toInt64(timestamp) AS timestamp',
};

/** Above any export of a test: the rows are part of the statement. */
const STATEMENT_BYTES_MAX = 64 * 1024 * 1024;

/** Writes rows as a Parquet file in a layout, with the engine's own writer. */
export async function writeParquet(
  { url, database, writer }: EngineAccess,
  path: string,
  {
    kind,
    rows,
    select,
  }: { readonly kind: ExportKind; readonly rows: readonly object[]; readonly select: string },
): Promise<void> {
  const address = new URL(url);
  address.searchParams.set('database', database);
  address.searchParams.set('max_query_size', String(STATEMENT_BYTES_MAX));
  address.searchParams.set('output_format_parquet_string_as_string', select.includes('unhex(') ? '0' : '1');
  const lines = rows.map((row) => JSON.stringify(row)).join('\n');
  // `format` finds no columns where there are no rows.
  const source =
    rows.length === 0
      ? `null('${SOURCES[kind]}')`
      : `format(JSONEachRow, '${SOURCES[kind]}', $rows$${lines}$rows$)`;
  const response = await fetch(address, {
    method: 'POST',
    body: `SELECT ${select} FROM ${source} FORMAT Parquet`,
    headers: {
      authorization: `Basic ${Buffer.from(`${writer.user}:${writer.password}`).toString('base64')}`,
    },
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  if (!response.ok) throw new Error(bytes.toString('utf8').slice(0, 500));
  await writeFile(path, bytes);
}

/** Writes an export as files of so many blocks, named as cryo names them, and gives the pattern that finds them. */
export async function writeExport(
  access: EngineAccess,
  directory: string,
  exported: ChainExport,
  {
    layout = CRYO,
    blocksPerFile = 50,
    kinds = ['logs', 'transactions', 'blocks'],
    hasRangeInName = true,
  }: {
    readonly layout?: Layout;
    readonly blocksPerFile?: number;
    readonly kinds?: readonly ExportKind[];
    readonly hasRangeInName?: boolean;
  } = {},
): Promise<string> {
  const pad = (number: number): string => String(number).padStart(8, '0');
  const last = exported.blocks.at(-1)?.block_number ?? 0;
  for (let from = 0; from <= last; from += blocksPerFile) {
    const to = Math.min(from + blocksPerFile - 1, last);
    const range = hasRangeInName ? `${pad(from)}_to_${pad(to)}` : `part${from}`;
    const writeKind = (kind: ExportKind): Promise<void> =>
      writeParquet(access, join(directory, `anvil__${kind}__${range}.parquet`), {
        kind,
        rows: exported[kind].filter(({ block_number }) => block_number >= from && block_number <= to),
        select: layout[kind](exported.chainId),
      });
    await Promise.all(kinds.map(writeKind));
  }
  return join(directory, '*.parquet');
}
