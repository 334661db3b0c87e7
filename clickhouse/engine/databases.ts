/** The database of the public views, the only one that the engine's `guest` may read. */
export function publicDatabaseOf(database: string): string {
  return `${database}_public`;
}

/** Public tables as a snapshot has them, under the same names. */
export function snapshotDatabaseOf(database: string): string {
  return `${publicDatabaseOf(database)}_as_of`;
}

/** The public table `settlements` for statements that bring its constants along (clickhouse/guest/views/current.ts). */
export function currentDatabaseOf(database: string): string {
  return `${publicDatabaseOf(database)}_current`;
}

/** On a cluster: views of the public tables, for statements that the engine cannot distribute. */
export function viewedDatabaseOf(database: string): string {
  return `${publicDatabaseOf(database)}_views`;
}

/** On a cluster node: the database of its own rows, behind the tables of `database` over all nodes. */
export function localDatabaseOf(database: string): string {
  return `${database}_local`;
}
