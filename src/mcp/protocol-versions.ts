/** The current protocol, which every request names for itself. */
export const CURRENT_PROTOCOL = '2026-07-28';

/** Those before it, which are agreed on once, newest first. Older ones had batches and no structured answers: not spoken. */
export const EARLIER_PROTOCOLS: readonly string[] = ['2025-11-25', '2025-06-18'];
