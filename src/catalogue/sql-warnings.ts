import { WARNINGS } from '../reads/freshness.ts';

/** What SQL answers warn of: the closed vocabulary, beside that of every answer. */
export const SQL_WARNINGS = {
  format_ignored: 'The query named a FORMAT, which was dropped: the field `format` chooses.',
  sample_ignored: 'The query named a SAMPLE, which has no effect on the public tables: every row was read.',
  totals_left_out:
    'The query asks WITH TOTALS, whose row is not in the answer: WITH ROLLUP gives it as a row.',
  no_time_filter: 'No condition on block_time or day narrows what is read.',
  no_key_filter: 'No condition on a key of the table narrows what is read: it is read whole.',
  estimate_unavailable: 'The engine did not estimate in time.',
  estimate_needs_key:
    'Without a key only plain queries are estimated: those without subqueries outside FROM, table functions and unusual functions. Send a key for an estimate of this one.',
  tier_too_small: 'The query may need more time than its tier has.',
  budget_too_small: 'The query may need more time than its `max_qu` pays for.',
  ...WARNINGS,
} as const;

export type SqlWarning = keyof typeof SQL_WARNINGS;
