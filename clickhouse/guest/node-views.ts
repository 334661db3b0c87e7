import { localDatabaseOf } from './public-database.ts';

/**
 * What an engine does and holds, as views beside our tables: the same question is answered by one engine for itself and by a
 * cluster for all of its nodes (cluster/cluster-ddl.ts). Whoever asks needs the right to read what is behind them.
 */
export const NODE_VIEWS = {
  /** Statements that run now, by the column names of `system.processes`. Also what a node does for another one, as if it ran in our database: nobody else sends it there. */
  statements: 'engine_statements',
  /** Stored parts of tables, by the name of the table that is read. */
  parts: 'engine_parts',
} as const;

/** The statements that make them in `into`, about the tables of `database`. */
export function nodeViewStatements(database: string, into: string = database): string[] {
  const view = (name: string, select: string): string =>
    `CREATE OR REPLACE VIEW ${into}.${name} SQL SECURITY INVOKER AS ${select}`;
  return [
    view(
      NODE_VIEWS.statements,
      `SELECT query_id, query_kind, user, map('log_comment', Settings['log_comment']) AS Settings,
  if(is_initial_query, current_database, '${database}') AS current_database FROM system.processes`,
    ),
    view(
      NODE_VIEWS.parts,
      `SELECT if(database = '${localDatabaseOf(database)}', '${database}', database) AS database, table, active, rows
FROM system.parts`,
    ),
  ];
}
