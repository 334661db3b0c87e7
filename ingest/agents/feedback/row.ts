import type { Writer } from '../../../clickhouse/engine/engine.ts';
import { dateTime, type Sql, sql } from '../../../clickhouse/engine/sql.ts';
import { FEEDBACK_FILES, type FeedbackFileRow } from '../../../clickhouse/tables/agents.ts';
import { insertRows, reading } from '../../../clickhouse/tables/table.ts';
import { ZERO_ADDRESS } from '../../../core/domain/address.ts';
import type { FeedbackFile } from '../../../core/domain/agent.ts';
import { ZERO_HASH } from '../../../core/domain/settlement.ts';
import { type DueDocuments, type DueKind, type DueQuery, readDueDocuments } from '../queue.ts';

/** A log of feedback that names a file, with the tries that failed so far and the version of the row that was read. */
export type DueFeedback = Pick<
  FeedbackFileRow,
  'chain' | 'blockNumber' | 'logIndex' | 'agentId' | 'client' | 'uri' | 'fileHash' | 'failures' | 'ver'
>;

/** What came of a try. Times are Unix seconds, UTC. */
export interface FeedbackOutcome
  extends Pick<FeedbackFileRow, 'problem' | 'failures' | 'nextTryAt' | 'hashMatches'> {
  readonly status: 'good' | 'failed';
  readonly proof: FeedbackFile['proofOfPayment'];
}

/**
 * Stores what came of tries. Each row takes the place just above the one that was read, in the room that versions leave for it
 * (ingest/write/versions.ts): if the log was taken back or replaced while its file was fetched, that stays the newest.
 */
export function saveFeedback(
  writer: Writer,
  tried: readonly (readonly [DueFeedback, FeedbackOutcome])[],
): Promise<void> {
  const rows = tried.map(([log, { proof, ...outcome }]) => ({
    ...log,
    ...outcome,
    proofChain: proof?.chain ?? '',
    proofTx: proof?.txHash ?? ZERO_HASH,
    proofFrom: proof?.from ?? ZERO_ADDRESS,
    proofTo: proof?.to ?? ZERO_ADDRESS,
    ver: log.ver + 1n,
  }));
  return insertRows(writer, { name: 'feedback-save', table: FEEDBACK_FILES, rows, fixed: { del: 0 } });
}

const DUE = reading(FEEDBACK_FILES, [
  'chain',
  'block_number',
  'log_index',
  'agent_id',
  'client',
  'uri',
  'file_hash',
  'failures',
  'ver',
]);

const KEY = sql`chain, block_number, log_index`;

const FEEDBACK: DueKind<DueFeedback> = {
  name: 'feedback',
  table: sql`feedback_files`,
  key: KEY,
  sampleBy: KEY,
  isDue,
  select: (chosen, now) =>
    sql`SELECT ${DUE.columns}
    FROM feedback_files FINAL
    WHERE ${isDue(now)} AND (${KEY}) IN ${chosen}`,
  selected: { sampleBy: KEY, uri: sql`uri`, hostless: sql`tuple(block_number, log_index)` },
  read: (row) => [DUE.read(row)],
};

/** Feedback files that are due. */
export function readDueFeedback(writer: Writer, query: DueQuery): Promise<DueDocuments<DueFeedback>> {
  return readDueDocuments(writer, FEEDBACK, query);
}

function isDue(now: number): Sql {
  return sql`del = 0 AND status != 'good' AND next_try_at <= ${dateTime(now)}`;
}
