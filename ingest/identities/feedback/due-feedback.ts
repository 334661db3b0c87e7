import type { Writer } from '../../../clickhouse/engine.ts';
import { dateTime, type Sql, sql, uint32, uint64 } from '../../../clickhouse/sql.ts';
import { address } from '../../../src/domain/address.ts';
import { isChain } from '../../../src/domain/chain.ts';
import type { DueQuery } from '../due-cards.ts';
import type { DueFeedback } from './feedback-row.ts';

const MAX_SECONDS = 60;
const SETTINGS = { max_threads: 1 } as const;
const LOOKED_AT_MAX = 2_000;
const PER_HOST_MAX = 20;

/** Feedback files that are due, drawn by lot like cards (due-cards.ts). */
export async function readDueFeedback(
  writer: Writer,
  query: DueQuery,
): Promise<{ readonly due: readonly DueFeedback[]; readonly total: number }> {
  const counted = query.since === 0n ? await countDue(writer, query.now) : null;
  if (counted === 0) return { due: [], total: 0 };
  const { rows } = await writer.rows({
    name: 'feedback-due',
    sql: dueSql(query),
    maxSeconds: MAX_SECONDS,
    maxRows: query.filesMax,
    settings: SETTINGS,
  });
  return { due: rows.flatMap(readRow), total: counted ?? rows.length };
}

async function countDue(writer: Writer, now: number): Promise<number> {
  const { rows } = await writer.rows({
    name: 'feedback-due-count',
    sql: sql`SELECT count() FROM feedback_files FINAL WHERE ${isDue(now)}`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    settings: SETTINGS,
  });
  return Number(rows[0]?.[0] ?? 0);
}

function isDue(now: number): Sql {
  return sql`del = 0 AND status != 'good' AND next_try_at <= ${dateTime(now)}`;
}

function dueSql({ filesMax, now, since }: DueQuery): Sql {
  const lot = sql`cityHash64(chain, block_number, log_index, ${uint32(now)})`;
  const rows =
    since === 0n ? sql`feedback_files FINAL WHERE` : sql`feedback_files WHERE ver > ${uint64(since)} AND`;
  return sql`SELECT chain, block_number, log_index, toString(agent_id), lower(hex(client)), uri, lower(hex(file_hash)), failures, toString(ver)
    FROM feedback_files FINAL
    WHERE ${isDue(now)} AND (chain, block_number, log_index) IN (
      SELECT chain, block_number, log_index FROM ${rows} ${isDue(now)} ORDER BY ${lot} LIMIT ${uint32(LOOKED_AT_MAX)})
    ORDER BY ${lot}
    LIMIT ${uint32(PER_HOST_MAX)} BY if(startsWith(lower(uri), 'http'), domain(uri), toString(tuple(block_number, log_index)))
    LIMIT ${uint32(filesMax)}`;
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
