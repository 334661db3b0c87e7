import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, trustedText } from '../../clickhouse/engine/sql.ts';
import { ALL_TABLES } from '../../clickhouse/tables/all-tables.ts';

const MAX_SECONDS = 30;

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
  for (const { name } of ALL_TABLES.filter((table) => filled.has(table.name))) {
    await writer.run({
      name: 'test-empty',
      kind: 'other',
      sql: trustedText(`TRUNCATE TABLE ${name}`),
      maxSeconds: MAX_SECONDS,
    });
  }
}
