import { localDatabaseOf } from '../guest/public-database.ts';
import { PLACEMENTS } from '../tables/all-tables.ts';

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
