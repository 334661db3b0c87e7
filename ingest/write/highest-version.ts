import type { Writer } from '../../clickhouse/engine/engine.ts';
import { type Sql, sql, trustedText } from '../../clickhouse/engine/sql.ts';
import { TABLE_FACTS } from '../../clickhouse/tables/table-facts.ts';

/** Reads one well compressed column of every table whole: two seconds at a hundred million rows. */
const MAX_SECONDS = 120;

/** Every table whose rows replace each other by a version, with the column that holds it: a test compares them with the schema. */
export const VERSIONED: readonly (readonly [table: string, column: 'ver' | 'gen'])[] = Object.entries(
  TABLE_FACTS,
).flatMap(([table, { versions = [] }]) => versions.map((column) => [table, column] as const));

/** Nothing that is written from now on may carry a version that a row already has, even if the clock was set back. */
export async function highestVersion(writer: Writer): Promise<bigint> {
  const maxima = VERSIONED.map(
    ([table, column]): Sql => sql`SELECT max(${trustedText(column)}) AS version FROM ${trustedText(table)}`,
  ).reduce((all, next) => sql`${all} UNION ALL ${next}`);
  const { rows } = await writer.rows({
    name: 'highest-version',
    sql: sql`SELECT max(version) FROM (${maxima})`,
    maxSeconds: MAX_SECONDS,
    maxRows: 1,
  });
  return BigInt(String(rows[0]?.[0] ?? 0));
}
