import { createHash } from 'node:crypto';
import type { Writer } from '../engine/engine.ts';
import { sql, text } from '../engine/sql.ts';
import { localDatabaseOf, publicDatabaseOf, viewedDatabaseOf } from '../guest/public-database.ts';
import { NODE_VIEWS } from '../guest/public-views.ts';
import { PLACEMENTS } from '../tables/all-tables.ts';
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

/**
 * Statements of the migrations as a node of a cluster runs them, in its database of local tables. The files are the same for one
 * engine and for many; what differs is two clauses, and both stand in a form that the files keep (a test reads them for it).
 */
export interface LocalNames {
  /** Of the tables that reach over all nodes. */
  readonly database: string;
  readonly isReplicated: boolean;
}

const MATERIALIZED_VIEW = /^(CREATE MATERIALIZED VIEW IF NOT EXISTS \w+ TO )(\w+)( AS\s)/;
const TABLE = /^CREATE TABLE IF NOT EXISTS (\w+)/;
const MERGE_TREE = /\bENGINE = (\w*MergeTree)(?:\(([^()]*)\))?/;
const SOURCE = /\bFROM (\w+)/;

/** A statement for the local database of a node. */
export function localStatement(statement: string, names: LocalNames): string {
  const targeted = statement.replace(MATERIALIZED_VIEW, (whole, head: string, target: string, as: string) =>
    crosses(statement, target) ? `${head}${names.database}.${target}${as}` : whole,
  );
  return names.isReplicated ? replicated(targeted, localDatabaseOf(names.database)) : targeted;
}

/** The table that a materialised view fills on other nodes too; null for every other statement. */
export function crossingTarget(statement: string): string | null {
  const target = MATERIALIZED_VIEW.exec(statement)?.[2];
  return target !== undefined && crosses(statement, target) ? target : null;
}

/** The table that a statement creates, null for every other statement. */
export function createdTable(statement: string): string | null {
  return TABLE.exec(statement)?.[1] ?? null;
}

/** Whether the rows of a view belong to other shards than those it is made from. */
function crosses(statement: string, target: string): boolean {
  const source = SOURCE.exec(statement)?.[1] ?? '';
  const [from, to] = [PLACEMENTS[source]?.key, PLACEMENTS[target]?.key];
  // A table that is gone by a later migration has no placement; what fills it may stay where it runs.
  if (from === undefined || to === undefined || to === null) return false;
  return shardOf(from) !== shardOf(to);
}

/** Keys that give rows of the same time the same shard are one: the column that holds the time has many names. */
function shardOf(key: string | null): string {
  return key === null ? '' : key.replace(/toDate\(\w+\)/, 'day');
}

/** The path names the table once in the Keeper, the macros come from the configuration of each node. */
function replicated(statement: string, database: string): string {
  const table = createdTable(statement);
  if (table === null) return statement;
  return statement.replace(MERGE_TREE, (_, engine: string, parameters: string | undefined) => {
    const own = parameters === undefined || parameters === '' ? '' : `, ${parameters}`;
    return `ENGINE = Replicated${engine}('/clickhouse/tables/{shard}/${database}/${table}', '{replica}'${own})`;
  });
}
