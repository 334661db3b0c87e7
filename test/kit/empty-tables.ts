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
export async function emptyTables(writer: Writer): Promise<void> {
  const { rows } = await writer.rows({
    name: 'test-filled',
    sql: sql`SELECT DISTINCT table FROM system.parts WHERE database = currentDatabase() AND active`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1_000,
  });
  const filled = new Set(rows.map(([table]) => String(table)));
  // Emptying one that is empty costs as much.
  for (const table of FILLED_BY_TESTS.filter((name) => filled.has(name))) {
    await writer.run({
      name: 'test-empty',
      sql: trustedText(`TRUNCATE TABLE ${table}`),
      maxSeconds: MAX_SECONDS,
    });
  }
}
