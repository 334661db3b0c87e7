/** The database of the public views, the only one that the engine's `guest` may read. */
export function publicDatabaseOf(database: string): string {
  return `${database}_public`;
}

/** On a cluster: views of the public tables, for statements that the engine does not share out among nodes. */
export function viewedDatabaseOf(database: string): string {
  return `${publicDatabaseOf(database)}_views`;
}

/** On a node of a cluster: where its own rows are, behind the tables of `database` that reach over all nodes. */
export function localDatabaseOf(database: string): string {
  return `${database}_local`;
}
