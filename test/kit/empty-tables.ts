import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, trustedText } from '../../clickhouse/engine/sql.ts';

const MAX_SECONDS = 30;

/** Everything that rows, blocks and rollups leave behind, and what the catalogues say of them. */
const FILLED_BY_TESTS = [
  ...['settlements', 'wallet_log', 'blocks', 'chain_status', 'hour_ver', 'retracted_keys', 'wallet_seen'],
  ...['rollup_state', 'payer_day', 'payee_day', 'relayer_day', 'chain_hour'],
  ...['relayer_totals', 'relayer_total_passes'],
  ...['facilitator_relayers', 'catalogued_payees', 'relayer_accounts'],
  ...['endpoint_offers', 'endpoint_sources', 'payee_activity', 'offer_activity', 'endpoint_list'],
];

/** Makes the database as good as new, so that no test sees the rows of the one before. */
export function emptyTables(writer: Writer): Promise<void> {
  return emptyThose(writer, (table) => FILLED_BY_TESTS.includes(table));
}

/** Empties every table but the history of migrations. */
export function emptyAllTables(writer: Writer): Promise<void> {
  return emptyThose(writer, (table) => table !== 'schema_migrations');
}

/** Empties the tables that are wanted and have rows: emptying one that is empty costs as much as emptying a full one. */
export async function emptyThose(writer: Writer, isWanted: (table: string) => boolean): Promise<void> {
  const { rows } = await writer.rows({
    name: 'test-filled',
    sql: sql`SELECT DISTINCT table FROM system.parts WHERE database = currentDatabase() AND active`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1_000,
  });
  const filled = rows.map(([table]) => String(table)).filter(isWanted);
  await Promise.all(
    filled.map((table) =>
      writer.run({
        name: 'test-empty',
        sql: trustedText(`TRUNCATE TABLE ${table}`),
        maxSeconds: MAX_SECONDS,
      }),
    ),
  );
}
