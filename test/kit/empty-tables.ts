import type { Writer } from '../../clickhouse/engine/engine.ts';
import { sql, trustedText } from '../../clickhouse/engine/sql.ts';
import { ALL_TABLES } from '../../clickhouse/tables/all-tables.ts';
import { WALLET_ID_KEYS } from '../../clickhouse/tables/wallet-ids.ts';

const MAX_SECONDS = 30;

/** Makes the database as good as new, so that no test sees the rows of the one before. */
export function emptyTables(writer: Writer): Promise<void> {
  return emptyThose(writer, (table) => isEmptied(table) && ALL_TABLES.some(({ name }) => name === table));
}

/** Empties every table but the history of migrations, and the key of the ids that the views show. */
export function emptyAllTables(writer: Writer): Promise<void> {
  return emptyThose(writer, isEmptied);
}

function isEmptied(table: string): boolean {
  return table !== 'schema_migrations' && table !== WALLET_ID_KEYS.name;
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
        kind: 'other',
        sql: trustedText(`TRUNCATE TABLE ${table}`),
        maxSeconds: MAX_SECONDS,
      }),
    ),
  );
}
