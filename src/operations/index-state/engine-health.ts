import type { Reader } from '../../../clickhouse/engine/engine.ts';
import { sql } from '../../../clickhouse/engine/sql.ts';
import { ask } from '../read/ask.ts';
import { integerField } from '../read/decode.ts';

const MAX_SECONDS = 3;

/** Seconds the engine has been up; throws `upstream_unavailable` when it does not answer. */
export async function readEngineUptime(reader: Reader): Promise<number> {
  const { rows } = await ask(reader, 'index', {
    name: 'engine-uptime',
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
    sql: sql`SELECT uptime()`,
    waitsForRestart: false,
  });
  return integerField(rows[0]?.[0]);
}

/**
 * Throws `upstream_unavailable` until the engine answers and the tables that every list needs exist. The count without a condition
 * reads no row, and on a cluster asks every shard: with one of them away the lists could not be answered either.
 */
export async function checkReady(reader: Reader): Promise<void> {
  await ask(reader, 'index', {
    name: 'ready',
    maxSeconds: MAX_SECONDS,
    maxRows: 10,
    sql: sql`SELECT (SELECT count() FROM settlements), (SELECT count() FROM wallet_log WHERE 0),
      (SELECT count() FROM chain_status WHERE 0), (SELECT count() FROM facilitator_relayers WHERE 0),
      (SELECT count() FROM catalogued_payees WHERE 0)`,
  });
}
