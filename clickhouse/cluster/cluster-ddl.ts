import { createHash } from 'node:crypto';
import { NODE_VIEWS } from '../guest/node-views.ts';
import { localDatabaseOf, publicDatabaseOf, viewedDatabaseOf } from '../guest/public-database.ts';
import type { Placement } from '../tables/table.ts';

/** The tables that reach over all nodes: the names that the program and its guests use, without a row of their own. */

/** A table over all nodes, made like the local one behind it. */
export interface DistributedTable {
  /** Of the table over all nodes. */
  readonly database: string;
  /** Of the one behind it, which has the same name. */
  readonly local: string;
  readonly name: string;
  /** Null: read only. */
  readonly key: Placement['key'];
}

/** How a local table looks; what is made like it must be made anew when that changes. */
export type Columns = string;

/** Says in its comment what it was made from, so that a table that is right already is left alone. */
export function distributedStatement(
  { database, local, name, key }: DistributedTable,
  cluster: string,
  columns: Columns,
): { readonly statement: string; readonly comment: string } {
  const sharding = key === null ? '' : `, ${key}`;
  const made = `CREATE OR REPLACE TABLE ${database}.${name} AS ${local}.${name}
ENGINE = Distributed('${cluster}', '${local}', '${name}'${sharding})`;
  const comment = createHash('sha256').update(made).update(columns).digest('hex').slice(0, 32);
  return { statement: `${made}\nCOMMENT '${comment}'`, comment };
}

/** What runs on any node: also on the replicas that a reading of the rows leaves out. */
export function statementsOfAllNodes(database: string, cluster: string): string {
  const { statements } = NODE_VIEWS;
  return `CREATE OR REPLACE VIEW ${database}.${statements} SQL SECURITY INVOKER AS
SELECT * FROM clusterAllReplicas('${cluster}', ${localDatabaseOf(database)}.${statements})`;
}

/**
 * The engine (26.7) does not share out a statement with a subquery that depends on the row outside; over a view it reads the
 * tables first and joins where it was asked. Read with the rights of whoever asks.
 */
export function viewOfAllNodes(database: string, name: string): string {
  return `CREATE OR REPLACE VIEW ${viewedDatabaseOf(database)}.${name} SQL SECURITY INVOKER AS
SELECT * FROM ${publicDatabaseOf(database)}.${name}`;
}
