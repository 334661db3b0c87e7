/** How long the store remembers what is over. The ledger is the books, and kept for good. */

const DAY_MS = 24 * 60 * 60_000;

/**
 * A resolved hold can be replayed for so long after it would have been overdue, by the time of the holds that come after it. Far
 * above the day for which an Idempotency-Key may name it.
 */
export const HOLD_KEPT_MS = 7 * DAY_MS;
/** With every hold. More than one, so that the pile shrinks after a rush; few, so that no caller waits. */
export const HOLDS_FORGOTTEN_PER_HOLD = 2;

/**
 * A payment that was served is remembered for so long after its authorization ended. Nobody can settle an authorization that has
 * ended, so what is forgotten then cannot be used again.
 */
export const PAYMENT_KEPT_MS = 90 * DAY_MS;
/** With every claim. */
export const PAYMENTS_FORGOTTEN_PER_CLAIM = 2;
