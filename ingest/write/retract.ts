import type { Writer } from '../../clickhouse/engine/engine.ts';
import { dateTime, type Sql, sql, text, trustedText, uint64 } from '../../clickhouse/engine/sql.ts';
import { TABLES } from '../../clickhouse/tables/schema.ts';
import type { Chain } from '../../core/domain/chains.ts';
import type { Versions } from './versions.ts';

/** A reorg touches at most the rows of the reorg window; a minute is far more than that ever took (33 ms). */
const MAX_SECONDS = 60;

/**
 * Writes tombstones for everything of a chain that is live above a block. Restart and reorg are this one path, and a repeat
 * changes nothing (docs/design/storage.md).
 *
 * wallet_log is retracted a second time by itself: an insert that was cut by a crash can have reached the view and not the
 * table (measured: 2 of 280 kills), and such a row would have no tombstone to inherit.
 * The filter is in a subquery because the alias `del` would shadow the column.
 */
export async function retractAbove(
  writer: Writer,
  versions: Versions,
  chain: Chain,
  ancestor: { readonly number: number; readonly time: number },
): Promise<void> {
  const above = sql`block_time >= ${dateTime(ancestor.time)} AND chain = ${text(chain)} AND block_number > ${uint64(ancestor.number)}`;
  const aboveNumber = sql`chain = ${text(chain)} AND block_number > ${uint64(ancestor.number)}`;
  const ver = (): ReturnType<typeof uint64> => uint64(versions.next());
  const statements = [
    // Before the tombstones: afterwards it is not known which keys they were.
    sql`INSERT INTO retracted_keys SELECT DISTINCT toStartOfHour(block_time), chain, payer, payee, relayer
        FROM settlements FINAL WHERE ${above} AND del = 0`,
    sql`INSERT INTO settlements SELECT * REPLACE(${ver()} AS ver, 1 AS del)
        FROM (SELECT * FROM settlements FINAL WHERE ${above} AND del = 0)`,
    // Once more by itself, from what the table holds: a crash between the tombstones and the view would leave the hours clean
    // for ever, because a repeat finds nothing live to retract.
    sql`INSERT INTO hour_ver (hour, ver) SELECT toStartOfHour(block_time) AS start, max(ver) FROM settlements WHERE ${above} GROUP BY start`,
    sql`INSERT INTO wallet_log SELECT * REPLACE(${ver()} AS ver, 1 AS del)
        FROM (SELECT * FROM wallet_log FINAL WHERE ${above} AND del = 0)`,
    sql`INSERT INTO dead_letters SELECT * REPLACE(${ver()} AS ver, 1 AS del)
        FROM (SELECT * FROM dead_letters FINAL WHERE ${aboveNumber} AND del = 0)`,
    ...registryTombstones(above, aboveNumber, ver),
  ];
  for (const statement of statements) {
    await writer.run({ name: `retract ${chain}`, sql: statement, maxSeconds: MAX_SECONDS });
  }
}

/**
 * The same for the registries' tables, of which three are fed by a view and retracted by themselves as well. That agents have
 * changed is noted once more from what the tables hold, for the crash between the tombstones and the view.
 */
function registryTombstones(above: Sql, aboveNumber: Sql, ver: () => ReturnType<typeof uint64>): Sql[] {
  const changes = (table: string): Sql =>
    sql`INSERT INTO agent_changes SELECT chain, agent_id, count() AS changes, now('UTC') AS changed_at
        FROM ${trustedText(table)} WHERE ${above} GROUP BY chain, agent_id`;
  const tombstones = (table: string, where: Sql): Sql =>
    sql`INSERT INTO ${trustedText(table)} SELECT * REPLACE(${ver()} AS ver, 1 AS del)
        FROM (SELECT * FROM ${trustedText(table)} FINAL WHERE ${where} AND del = 0)`;
  return [
    tombstones(TABLES.agentEvents, above),
    changes(TABLES.agentEvents),
    tombstones(TABLES.attestations, above),
    tombstones(TABLES.agentAttestations, above),
    tombstones(TABLES.feedbackRevocations, above),
    changes(TABLES.attestations),
    tombstones(TABLES.feedbackFiles, aboveNumber),
  ];
}
