import type { StatusSnapshot } from '../../ingest/follow/chain-status.ts';

/** What is known of a chain that nothing was ever written of. */
export const NO_COUNTERS = {
  rowsWritten: 0,
  reorgs: 0,
  deepestReorg: 0,
  retries: 0,
  contradictions: 0,
  deadLetters: 0,
  lastWrittenAt: 0,
  indexedBlock: 0,
  indexedTime: 0,
  finalizedBlock: 0,
} as const satisfies Partial<StatusSnapshot>;
