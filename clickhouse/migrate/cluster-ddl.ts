import { createHash } from 'node:crypto';
import { localDatabaseOf, publicDatabaseOf, viewedDatabaseOf } from '../engine/databases.ts';
import type { Writer } from '../engine/engine.ts';
import { sql, text } from '../engine/sql.ts';
import { NODE_VIEWS } from '../guest/public-views.ts';
import { PLACEMENTS } from '../tables/all-tables.ts';
import type { Placement } from '../tables/table.ts';

/** The tables over all nodes, which the program and its guests query. They store no rows themselves. */

/** A table over all nodes, created like the local table behind it. */
export interface DistributedTable {
  /** Database of the table over all nodes. */
  readonly database: string;
  /** Database of the local table behind it, which has the same name. */
  readonly local: string;
  readonly name: string;
  /** Null: read only. */
  readonly key: Placement['key'];
}

/** The shape of a local table. When it changes, the table over all nodes must be created again. */
export type Columns = string;

/** The table's comment records what it was created from, so that an up-to-date table is left alone. */
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

/** The statements running on every node, including the replicas that a read of rows skips. */
export function statementsOfAllNodes(database: string, cluster: string): string {
  const { statements } = NODE_VIEWS;
  return `CREATE OR REPLACE VIEW ${database}.${statements} SQL SECURITY INVOKER AS
SELECT * FROM clusterAllReplicas('${cluster}', ${localDatabaseOf(database)}.${statements})`;
}

/**
 * The engine (26.7) cannot distribute a statement with a correlated subquery; through a view it reads the tables first and joins
 * them on the initiating node. Runs with the rights of the user who queries it.
 */
export function viewOfAllNodes(database: string, name: string): string {
  return `CREATE OR REPLACE VIEW ${viewedDatabaseOf(database)}.${name} SQL SECURITY INVOKER AS
SELECT * FROM ${publicDatabaseOf(database)}.${name}`;
}

/**
 * How a further replica of a shard gets its schema. A replicated table must match its current definition in Keeper; creating it
 * from the first migration on would be refused (tried with a ZooKeeper: code 122 for other columns, 342 for other indexes). So it
 * is created from the definitions of the replica that was migrated before, and replication brings alterations and rows.
 */

/** `create_table_query` of `system.tables`, by name. */
export type Definitions = ReadonlyMap<string, string>;

const LOOK_MAX_SECONDS = 30;
const TABLES_MAX = 10_000;
const CREATED = /^CREATE (?:TABLE IF NOT EXISTS|MATERIALIZED VIEW IF NOT EXISTS|OR REPLACE VIEW) (\w+)/;
/** Statements that Keeper replicates; a table's settings and the query of a view that fills a table are local to each replica. */
const REPLICATED = /^(?:ALTER TABLE \w+ (?!MODIFY (?:SETTING|QUERY))|INSERT INTO )/;
const QUERY_CHANGED = /^ALTER TABLE (\w+) MODIFY QUERY/;

/** The definitions in a database of an up-to-date node. */
export async function readDefinitions(writer: Writer, database: string): Promise<Definitions> {
  const { rows } = await writer.rows({
    name: 'definitions',
    sql: sql`SELECT name, create_table_query FROM system.tables WHERE database = ${text(database)}`,
    maxSeconds: LOOK_MAX_SECONDS,
    maxRows: TABLES_MAX,
  });
  return new Map(rows.map(([name, definition]) => [String(name), String(definition)]));
}

/** A migration statement as a further replica runs it; null if the replica has nothing to do. */
export function replicaStatement(
  statement: string,
  { names, made }: { readonly names: LocalNames; readonly made: Definitions },
): string | null {
  if (REPLICATED.test(statement)) return null;
  const changed = QUERY_CHANGED.exec(statement)?.[1];
  if (changed !== undefined && !made.has(changed)) return null;
  const created = CREATED.exec(statement)?.[1];
  if (created === undefined) return localStatement(statement, names);
  // A later migration dropped it: do not create it again.
  const definition = made.get(created);
  return definition === undefined ? null : repeatable(definition);
}

function repeatable(definition: string): string {
  return definition
    .replace(/^CREATE (TABLE|MATERIALIZED VIEW) /, 'CREATE $1 IF NOT EXISTS ')
    .replace(/^CREATE VIEW /, 'CREATE OR REPLACE VIEW ');
}

/**
 * Migration statements as a cluster node runs them, in its database of local tables. A single engine and a cluster use the same
 * files; only two clauses differ, and the files keep both in a fixed form (a test checks that).
 */
export interface LocalNames {
  /** Database of the tables over all nodes. */
  readonly database: string;
  readonly isReplicated: boolean;
}

const MATERIALIZED_VIEW = /^(CREATE MATERIALIZED VIEW IF NOT EXISTS \w+ TO )(\w+)( AS\s)/;
const TABLE = /^CREATE TABLE IF NOT EXISTS (\w+)/;
const DROPPED = /^DROP TABLE IF EXISTS (\w+)$/;
const MERGE_TREE = /\bENGINE = (\w*MergeTree)(?:\(([^()]*)\))?/;
const SOURCE = /\bFROM (\w+)/;

/** A statement for the local database of a node. */
export function localStatement(statement: string, names: LocalNames): string {
  const targeted = statement.replace(MATERIALIZED_VIEW, (whole, head: string, target: string, as: string) =>
    crosses(statement, target) ? `${head}${names.database}.${target}${as}` : whole,
  );
  return names.isReplicated ? replicated(targeted, localDatabaseOf(names.database)) : targeted;
}

/** The target table of a materialised view that writes to other nodes too; null for every other statement. */
export function crossingTarget(statement: string): string | null {
  const target = MATERIALIZED_VIEW.exec(statement)?.[2];
  return target !== undefined && crosses(statement, target) ? target : null;
}

/** The table that a statement creates, null for every other statement. */
export function createdTable(statement: string): string | null {
  return TABLE.exec(statement)?.[1] ?? null;
}

/** The table that a statement drops, null for every other statement. */
export function droppedTable(statement: string): string | null {
  return DROPPED.exec(statement)?.[1] ?? null;
}

/** Whether a view's rows belong to other shards than its source rows. */
function crosses(statement: string, target: string): boolean {
  const source = SOURCE.exec(statement)?.[1] ?? '';
  const [from, to] = [PLACEMENTS[source]?.key, PLACEMENTS[target]?.key];
  // A table that a later migration dropped has no placement; the view that fills it may write locally.
  if (from === undefined || to === undefined || to === null) return false;
  return shardOf(from) !== shardOf(to);
}

/** Treats sharding keys by time as equal, although the time column has different names. */
function shardOf(key: string | null): string {
  return key === null ? '' : key.replace(/toDate\(\w+\)/, 'day');
}

/** The path identifies the table in Keeper; the macros come from the configuration of each node. */
function replicated(statement: string, database: string): string {
  const table = createdTable(statement);
  if (table === null) return statement;
  return statement.replace(MERGE_TREE, (_, engine: string, parameters: string | undefined) => {
    const own = parameters === undefined || parameters === '' ? '' : `, ${parameters}`;
    return `ENGINE = Replicated${engine}('/clickhouse/tables/{shard}/${database}/${table}', '{replica}'${own})`;
  });
}
