import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, type Sql, sql } from '../../clickhouse/engine/sql.ts';
import { address } from '../../core/domain/address.ts';
import { isChain } from '../../core/domain/chain.ts';
import { type DueDocuments, type DueKind, type DueQuery, readDueDocuments } from './due-documents.ts';
import type { DueFeedback } from './feedback-row.ts';

const KEY = sql`chain, block_number, log_index`;

const FEEDBACK: DueKind<DueFeedback> = {
  name: 'feedback',
  table: sql`feedback_files`,
  key: KEY,
  sampleBy: KEY,
  isDue,
  select: (chosen, now) =>
    sql`SELECT chain, block_number, log_index, toString(agent_id), lower(hex(client)), uri, lower(hex(file_hash)), failures, toString(ver)
    FROM feedback_files FINAL
    WHERE ${isDue(now)} AND (${KEY}) IN ${chosen}`,
  selected: { sampleBy: KEY, uri: sql`uri`, hostless: sql`tuple(block_number, log_index)` },
  read: readRow,
};

/** Feedback files that are due. */
export function readDueFeedback(writer: Writer, query: DueQuery): Promise<DueDocuments<DueFeedback>> {
  return readDueDocuments(writer, FEEDBACK, query);
}

function isDue(now: number): Sql {
  return sql`del = 0 AND status != 'good' AND next_try_at <= ${dateTime(now)}`;
}

function readRow(row: readonly unknown[]): DueFeedback[] {
  const [chain, blockNumber, logIndex, agentId, client, uri, fileHash, failures, ver] = row;
  if (typeof chain !== 'string' || !isChain(chain)) return [];
  return [
    {
      chain,
      blockNumber: Number(blockNumber),
      logIndex: Number(logIndex),
      agentId: BigInt(String(agentId)),
      client: address(`0x${String(client)}`),
      uri: String(uri),
      fileHash: `0x${String(fileHash)}`,
      failures: Number(failures),
      ver: BigInt(String(ver)),
    },
  ];
}
