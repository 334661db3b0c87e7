import type { Writer } from '../engine/engine.ts';
import { sql, text } from '../engine/sql.ts';
import { type LocalNames, localStatement } from './local-ddl.ts';

/**
 * How a further replica of a shard gets its schema. A replicated table must look as the Keeper has it by now: made by the files from
 * the first one on it would be refused (tried with a ZooKeeper: code 122 for other columns, 342 for other indexes). So it is made from
 * the definitions of the replica that was brought up to date before, and what was altered or inserted there comes by itself.
 */

/** What stands for a table or view in `system.tables`, by name. */
export type Definitions = ReadonlyMap<string, string>;

const LOOK_MAX_SECONDS = 30;
const TABLES_MAX = 10_000;
const CREATED = /^CREATE (?:TABLE IF NOT EXISTS|MATERIALIZED VIEW IF NOT EXISTS|OR REPLACE VIEW) (\w+)/;
/** Comes through the Keeper; settings of a table are each replica's own. */
const REPLICATED = /^(?:ALTER TABLE \w+ (?!MODIFY SETTING)|INSERT INTO )/;

/** The definitions in a database of a node that is up to date. */
export async function readDefinitions(writer: Writer, database: string): Promise<Definitions> {
  const { rows } = await writer.rows({
    name: 'definitions',
    sql: sql`SELECT name, create_table_query FROM system.tables WHERE database = ${text(database)}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: TABLES_MAX,
  });
  return new Map(rows.map(([name, definition]) => [String(name), String(definition)]));
}

/** A statement of the files as a further replica runs it; null where it has nothing to do. */
export function replicaStatement(
  statement: string,
  { names, made }: { readonly names: LocalNames; readonly made: Definitions },
): string | null {
  if (REPLICATED.test(statement)) return null;
  const created = CREATED.exec(statement)?.[1];
  if (created === undefined) return localStatement(statement, names);
  // What a later file has dropped is not made again.
  const definition = made.get(created);
  return definition === undefined ? null : repeatable(definition);
}

function repeatable(definition: string): string {
  return definition
    .replace(/^CREATE (TABLE|MATERIALIZED VIEW) /, 'CREATE $1 IF NOT EXISTS ')
    .replace(/^CREATE VIEW /, 'CREATE OR REPLACE VIEW ');
}
