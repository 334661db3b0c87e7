/** When slices are closed, and how much is done at once. Tests shorten them; nothing else should need to. */
export interface RollupLimits {
  /** Pause between two looks for dirty slices. */
  readonly pollMs: number;
  /**
   * How long ago a slice must have ended. Blocks arrive late and reorgs reach back minutes: a slice closed sooner would only
   * be computed twice.
   */
  readonly closeAfterMs: number;
  /** How long nothing must have been written to a slice, so that a backfill does not have the same day computed for ever. */
  readonly quietMs: number;
  /** A slice that is never quiet is computed this long after it was first seen dirty, and again as often. */
  readonly closeAnywayAfterMs: number;
  /** A day with more rows is closed by hours: a late row then costs an hour's computation (engine.md 4.4 rule 10). */
  readonly splitAboveRows: number;
  /** Slices computed before the list is asked for again: what became dirty meanwhile and is newer goes first. */
  readonly slicesPerPassMax: number;
  /** How often the totals of relayers are merged anew at most, when nothing is left to close. Until then slices are read. */
  readonly totalsEveryMs: number;
}

export const ROLLUP_LIMITS: RollupLimits = {
  pollMs: 5_000,
  closeAfterMs: 15 * 60_000,
  quietMs: 5_000,
  closeAnywayAfterMs: 5 * 60_000,
  splitAboveRows: 1_000_000,
  slicesPerPassMax: 32,
  totalsEveryMs: 60_000,
};
