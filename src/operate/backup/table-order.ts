import { type BackupGroup, TABLE_FACTS } from '../../../clickhouse/tables/table-facts.ts';

/**
 * The order in which tables are copied while the index is written to. No two tables are copied at the same instant, so each group
 * must be harmless when it is older than the next one:
 *
 * 1. `checkpoints`, alone and first: ranges that were finished later are read from the chain again, which writes the same rows.
 * 2. What says that something was done. Copied before the work itself, it can only ask for the work once more.
 * 3. The rows. What is in one of two tables and not in the other lies above the checkpoint, or in a range that is not finished:
 *    the next start retracts or repeats it, each table by itself (ingest/write/retract.ts).
 * 4. Marks that something changed, and lists of which too much is harmless. Copied after the rows, they miss no row.
 *
 * A regrade changes rows in the middle of the history, which no checkpoint covers: a copy during one is refused (engine-backup.ts).
 */
export const GROUPS = ['checkpoints', 'done', 'rows', 'marks'] as const satisfies readonly BackupGroup[];
export type Group = BackupGroup;

/** The group of a table; one that names none holds rows. */
export function groupOf(table: string): Group {
  return (Object.hasOwn(TABLE_FACTS, table) ? TABLE_FACTS[table]?.backup : undefined) ?? 'rows';
}

/** Tables whose place in the order matters, for the test that they exist. */
export const ORDERED_TABLES: readonly string[] = Object.entries(TABLE_FACTS).flatMap(([table, { backup }]) =>
  backup === undefined ? [] : [table],
);
