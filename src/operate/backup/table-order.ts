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
const FIRST = ['checkpoints'];
const DONE = [
  'blocks',
  'rollup_state',
  'ring_passes',
  'relayer_total_passes',
  'catalogue_passes',
  'catalogue_changes',
  'regrade_progress',
];
const MARKS = ['retracted_keys', 'hour_ver', 'agent_changes', 'agent_wallets', 'wallet_seen'];

export const GROUPS = ['checkpoints', 'done', 'rows', 'marks'] as const;
export type Group = (typeof GROUPS)[number];

/** The group of a table; one that is not named here holds rows. */
export function groupOf(table: string): Group {
  if (FIRST.includes(table)) return 'checkpoints';
  if (DONE.includes(table)) return 'done';
  return MARKS.includes(table) ? 'marks' : 'rows';
}

/** Tables whose place in the order matters, for the test that they exist. */
export const ORDERED_TABLES: readonly string[] = [...FIRST, ...DONE, ...MARKS];
