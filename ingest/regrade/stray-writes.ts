import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine.ts';
import { sql, texts } from '../../clickhouse/sql.ts';

const MAX_SECONDS = 30;
const POLL_MS = 100;
const STATEMENTS_MAX = 10_000;

/**
 * Waits for the inserts of rows that run now, not for those that begin later. A worker that was killed, or an attempt that
 * timed out, can leave one behind in the engine; rows that it graded by an older catalogue must not land behind a regrade.
 */
export async function waitForWritesUnderWay(writer: Writer, signal: AbortSignal): Promise<void> {
  let running = await writesUnderWay(writer);
  while (running.length > 0) {
    await delay(POLL_MS, undefined, { signal });
    running = await stillRunning(writer, running);
  }
}

async function writesUnderWay(writer: Writer): Promise<string[]> {
  const { rows } = await writer.rows({
    name: 'writes-under-way',
    sql: sql`SELECT query_id FROM system.processes WHERE query_kind = 'Insert' AND current_database = currentDatabase()
      AND (startsWith(Settings['log_comment'], 'write-settlements') OR startsWith(Settings['log_comment'], 'regrade-'))`,
    maxSeconds: MAX_SECONDS,
    maxRows: STATEMENTS_MAX,
  });
  return rows.map(([id]) => String(id));
}

async function stillRunning(writer: Writer, ids: readonly string[]): Promise<string[]> {
  const { rows } = await writer.rows({
    name: 'writes-still-under-way',
    sql: sql`SELECT query_id FROM system.processes WHERE has(${texts(ids)}, query_id)`,
    maxSeconds: MAX_SECONDS,
    maxRows: STATEMENTS_MAX,
  });
  return rows.map(([id]) => String(id));
}
