/** The database of the public views, the only one that the engine's `guest` may read. */
export function publicDatabaseOf(database: string): string {
  return `${database}_public`;
}
