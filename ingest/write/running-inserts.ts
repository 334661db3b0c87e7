import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql, text, texts, trustedText } from '../../clickhouse/engine/sql.ts';
import { NODE_VIEWS } from '../../clickhouse/guest/public-views.ts';

/**
 * Inserts that run in the engine now. A worker that was killed, or an attempt that timed out, can leave one behind; what such a
 * statement was going to write must be stored before any work relies on its absence.
 */

const MAX_SECONDS = 30;
const POLL_MS = 100;
const STATEMENTS_MAX = 10_000;

/** Rows of settlements from any writer, and regrades of them. */
export const ROWS: Sql = sql`(startsWith(Settings['log_comment'], 'write-settlements') OR startsWith(Settings['log_comment'], 'regrade-'))`;

/** Writes under a guard of the scope (clickhouse/engine/guard.ts), and those whose name ends in it. */
export function writesOf(scope: string): Sql {
  return sql`(endsWith(Settings['log_comment'], ${text(` ${scope}`)}) OR has(splitByChar(' ', Settings['log_comment']), ${text(`@${scope}`)}))`;
}

/** Waits for the inserts of this kind that run now, not for those that begin later. Calls `onWait` once when there are any. */
export async function waitForWrites(
  writer: Writer,
  which: Sql,
  signal: AbortSignal,
  onWait: (count: number) => void = () => undefined,
): Promise<void> {
  let running = await writesUnderWay(writer, which);
  if (running.length > 0) onWait(running.length);
  while (running.length > 0) {
    await delay(POLL_MS, undefined, { signal });
    running = await stillRunning(writer, running);
  }
}

async function writesUnderWay(writer: Writer, which: Sql): Promise<string[]> {
  const { rows } = await writer.rows({
    name: 'writes-under-way',
    sql: sql`SELECT query_id FROM ${trustedText(NODE_VIEWS.statements)}
      WHERE query_kind = 'Insert' AND current_database = currentDatabase() AND ${which}`,
    maxSeconds: MAX_SECONDS,
    maxRows: STATEMENTS_MAX,
  });
  return rows.map(([id]) => String(id));
}

async function stillRunning(writer: Writer, ids: readonly string[]): Promise<string[]> {
  const { rows } = await writer.rows({
    name: 'writes-still-under-way',
    sql: sql`SELECT query_id FROM ${trustedText(NODE_VIEWS.statements)} WHERE has(${texts(ids)}, query_id)`,
    maxSeconds: MAX_SECONDS,
    maxRows: STATEMENTS_MAX,
  });
  return rows.map(([id]) => String(id));
}
