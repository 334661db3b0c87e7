import { setTimeout as delay } from 'node:timers/promises';
import type { Writer } from '../../clickhouse/engine/engine.ts';
import { isOfScope } from '../../clickhouse/engine/guard.ts';
import { dateTime, type Sql, sql, text, texts, trustedText, uint64 } from '../../clickhouse/engine/sql.ts';
import { NODE_VIEWS } from '../../clickhouse/guest/public-views.ts';
import { ALL_TABLES } from '../../clickhouse/tables/all-tables.ts';
import type { RowsAbove, Table } from '../../clickhouse/tables/table.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { Versions } from './versions.ts';

/** A reorg touches at most the rows of the reorg window; a minute is far more than that ever took (33 ms). */
const RETRACT_MAX_SECONDS = 60;

/**
 * Takes back everything of a chain that is live above a block, as each table declares it (clickhouse/tables). Restart and reorg are
 * this one path, and a repeat changes nothing (docs/design/storage.md).
 */
export async function retractAbove(
  writer: Writer,
  versions: Versions,
  chain: Chain,
  ancestor: { readonly number: number; readonly time: number },
): Promise<void> {
  const byNumber = sql`chain = ${text(chain)} AND block_number > ${uint64(ancestor.number)}`;
  const above = { byTime: sql`block_time >= ${dateTime(ancestor.time)} AND ${byNumber}`, byNumber };
  for (const statement of ALL_TABLES.flatMap((table) => retractionOf(table, above, versions))) {
    await writer.run({
      name: `retract ${chain}`,
      scopes: [chain],
      sql: statement,
      maxSeconds: RETRACT_MAX_SECONDS,
    });
  }
}

/** The filter is in a subquery because the alias `del` would shadow the column. */
function retractionOf({ name, retraction }: Table, above: RowsAbove, versions: Versions): readonly Sql[] {
  if (retraction === undefined) return [];
  if ('notes' in retraction) return retraction.notes(above);
  const table = trustedText(name);
  return [
    sql`INSERT INTO ${table} SELECT * REPLACE(${uint64(versions.next())} AS ver, 1 AS del)
        FROM (SELECT * FROM ${table} FINAL WHERE ${above[retraction.tombstones]} AND del = 0)`,
  ];
}

/**
 * Inserts that run in the engine now. A worker that was killed, or an attempt that timed out, can leave one behind; the rows that such an
 * statement was going to write must be stored before any work relies on its absence.
 */

const LOOK_MAX_SECONDS = 30;
const POLL_MS = 100;
const STATEMENTS_MAX = 10_000;

/** Waits for the inserts of a scope that run now, not for those that begin later. Calls `onWait` once when there are any. */
export async function waitForWrites(
  writer: Pick<Writer, 'rows'>,
  scope: string,
  signal: AbortSignal,
  onWait: (count: number) => void = () => undefined,
): Promise<void> {
  let running = await runningInserts(writer, scope);
  if (running.length > 0) onWait(running.length);
  while (running.length > 0) {
    await delay(POLL_MS, undefined, { signal });
    running = await stillRunning(writer, running);
  }
}

async function runningInserts(writer: Pick<Writer, 'rows'>, scope: string): Promise<string[]> {
  const { rows } = await writer.rows({
    name: 'running-inserts',
    sql: sql`SELECT query_id FROM ${trustedText(NODE_VIEWS.statements)}
      WHERE query_kind = 'Insert' AND current_database = currentDatabase() AND ${isOfScope(scope)}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: STATEMENTS_MAX,
  });
  return rows.map(([id]) => String(id));
}

async function stillRunning(writer: Pick<Writer, 'rows'>, ids: readonly string[]): Promise<string[]> {
  const { rows } = await writer.rows({
    name: 'running-inserts-left',
    sql: sql`SELECT query_id FROM ${trustedText(NODE_VIEWS.statements)} WHERE has(${texts(ids)}, query_id)`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: STATEMENTS_MAX,
  });
  return rows.map(([id]) => String(id));
}
