import { expressions, hashText } from '../../clickhouse/engine/account.ts';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { RowReader } from '../../clickhouse/engine/row-reader.ts';
import { type Sql, sql, trustedText, uint64 } from '../../clickhouse/engine/sql.ts';
import { type Address, type Hash, ZERO_ADDRESS, ZERO_HASH } from '../../core/domain/account.ts';
import type { BlockBatch, BlockRef, RawLog, TransactionFacts } from '../chain/block-source.ts';
import { orderLogs } from '../chain/check-batch.ts';
import { ProviderContradiction } from '../chain/rpc/failure.ts';
import type { BlockRange } from '../write/checkpoints.ts';
import { EVENT_CODES } from './load.ts';
import { importProblems } from './problem.ts';
import type { StagedBlock, Staging } from './staging.ts';

/**
 * Reads a window of the staged blocks as the batch that the RPC path would have made of it: hex text, ascending, with the
 * transactions of candidates. The engine makes the text, because its hex is several times faster than a string made here.
 */

const MAX_SECONDS = 120;
const ROWS_MAX = 20_000_000;
const HASH_CHARS = ZERO_HASH.length;
const ADDRESS_CHARS = ZERO_ADDRESS.length;

export interface StagedWindow extends BlockRange {
  /** Those with candidates, ascending. */
  readonly blocks: readonly StagedBlock[];
}

export async function readWindow(
  writer: Writer,
  staging: Staging,
  emitters: readonly string[],
  window: StagedWindow,
): Promise<BlockBatch> {
  const blocks = window.blocks.map(
    ({ number, hash, time }): BlockRef => ({ number, hash, time, parentHash: ZERO_HASH }),
  );
  if (blocks.length === 0)
    return { from: window.from, to: window.to, blocks, logs: [], transactions: new Map() };
  const [logBytes, transactionBytes] = await Promise.all([
    writer.rowBinary(statementOf('import-window-logs', selectLogs(staging, window))),
    writer.rowBinary(statementOf('import-window-transactions', selectTransactions(staging, window))),
  ]);
  return {
    from: window.from,
    to: window.to,
    blocks,
    logs: inOrder(readLogs(new RowReader(logBytes), blocks, emitters), window),
    transactions: readTransactions(new RowReader(transactionBytes)),
  };
}

/** Throws `UserError` where two files say different things of one log. */
function inOrder(logs: readonly RawLog[], { from, to }: BlockRange): readonly RawLog[] {
  try {
    return orderLogs(logs).logs;
  } catch (error) {
    if (!(error instanceof ProviderContradiction)) throw error;
    throw importProblems([
      `blocks ${from} to ${to}: ${error.message}, which are not the same: two files cover these blocks and differ; leave out the one that was exported before a reorg`,
    ]);
  }
}

function statementOf(name: string, select: Sql): Parameters<Writer['rowBinary']>[0] {
  return { name, sql: select, maxSeconds: MAX_SECONDS, maxRows: ROWS_MAX };
}

function within({ from, to }: BlockRange): Sql {
  return sql`block_number >= ${uint64(from)} AND block_number <= ${uint64(to)}`;
}

function hex(column: string, chars: number): Sql {
  return trustedText(`toFixedString(${expressions.hashText(column)}, ${chars})`);
}

function selectLogs({ logs }: Staging, window: BlockRange): Sql {
  const table = trustedText(logs);
  return sql`SELECT block_number, log_index, emitter, event, topic_count, ${hex('transaction_hash', HASH_CHARS)},
      ${hex('topic1', HASH_CHARS)}, ${hex('topic2', HASH_CHARS)}, ${hex('topic3', HASH_CHARS)}, ${hashText('data')}
    FROM ${table}
    WHERE ${within(window)} AND emitter > 0 AND event > 0 AND transaction_hash IN (SELECT transaction_hash FROM ${table} WHERE ${within(window)} AND candidate)
    ORDER BY block_number, log_index`;
}

function selectTransactions({ transactions }: Staging, window: BlockRange): Sql {
  return sql`SELECT ${hex('transaction_hash', HASH_CHARS)}, ${hex('sender', ADDRESS_CHARS)}, has_recipient,
      ${hex('recipient', ADDRESS_CHARS)}, ${hashText('input')}
    FROM ${trustedText(transactions)} WHERE ${within(window)}`;
}

/** Texts are hex of the right size by the statement, and codes those that the load gave. */
function readLogs(reader: RowReader, blocks: readonly BlockRef[], emitters: readonly string[]): RawLog[] {
  const logs: RawLog[] = [];
  let blockAt = 0;
  while (reader.hasMore) {
    const blockNumber = reader.u64();
    const logIndex = reader.u32();
    const address = emitters[reader.u8() - 1] as Address;
    const topic0 = EVENT_CODES[reader.u8() - 1] as Hash;
    const count = reader.u8();
    const transactionHash = reader.fixed(HASH_CHARS) as Hash;
    const topics: Hash[] = [topic0];
    for (let at = 1; at < 4; at++) {
      if (at < count) topics.push(reader.fixed(HASH_CHARS) as Hash);
      else reader.skip(HASH_CHARS);
    }
    const data = reader.string();
    while ((blocks[blockAt]?.number ?? Number.POSITIVE_INFINITY) < blockNumber) blockAt++;
    const blockHash = blocks[blockAt]?.hash;
    // A block of no candidate, among whose logs is one of a transaction with candidates: two files disagree about the block.
    if (blockHash === undefined || blocks[blockAt]?.number !== blockNumber)
      throw new Error(`the staged logs place transaction ${transactionHash} into two blocks`);
    logs.push({ address, topics, data, blockNumber, blockHash, transactionHash, logIndex });
  }
  return logs;
}

function readTransactions(reader: RowReader): Map<Hash, TransactionFacts> {
  const transactions = new Map<Hash, TransactionFacts>();
  while (reader.hasMore) {
    const hash = reader.fixed(HASH_CHARS) as Hash;
    const from = reader.fixed(ADDRESS_CHARS) as Address;
    const hasRecipient = reader.u8() === 1;
    const to = reader.fixed(ADDRESS_CHARS) as Address;
    transactions.set(hash, { hash, from, to: hasRecipient ? to : null, input: reader.string() });
  }
  return transactions;
}
