import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import type { QueryWarning } from '../../../sandbox/judge/literals/constants.ts';
import { warningsOfNamed } from '../../../sandbox/judge/literals/constants.ts';
import type { OperationDeps } from '../define.ts';
import { WARNINGS } from '../index-state/freshness.ts';

/** What SQL answers warn of: the closed vocabulary, beside that of every answer. */
export const SQL_WARNINGS = {
  format_ignored: 'The query named a FORMAT, which was dropped: the field `format` chooses.',
  totals_left_out:
    'The query asks WITH TOTALS, whose row is not in the answer: WITH ROLLUP gives it as a row.',
  constant_matches_nothing:
    'A column is compared with a constant that no row can have: the answer is that of no match. `replacement` is the literal to write.',
  no_time_filter: 'No condition on block_time or day narrows what is read.',
  no_key_filter: 'No condition on a key of the table narrows what is read: it is read whole.',
  estimate_unavailable: 'The engine did not estimate in time.',
  estimate_needs_key:
    'Without a key only plain queries are estimated: those without subqueries outside FROM, table functions and unusual functions. Send a key for an estimate of this one.',
  tier_too_small: 'The query may need more time than its tier has.',
  budget_too_small: 'The query may need more time than its `max_qu` pays for.',
  ...WARNINGS,
} as const;

export type SqlWarningCode = keyof typeof SQL_WARNINGS;

/** As an answer has it. */
export interface SqlWarning extends Omit<QueryWarning, 'code' | 'message'> {
  readonly code: SqlWarningCode;
  readonly message: string;
}

export function sqlWarning(warning: Omit<SqlWarning, 'message'> & { readonly message?: string }): SqlWarning {
  const { code, message, ...where } = warning;
  return { code, message: message ?? SQL_WARNINGS[code], ...where };
}

/** What the text itself is warned of, and what only those who know what is indexed can tell of it. */
export async function textWarnings(
  { warnings, namedConstants, tables }: Accepted,
  { chains, names }: Pick<OperationDeps, 'chains' | 'names'>,
): Promise<SqlWarning[]> {
  if (namedConstants.length === 0) return warnings.map(sqlWarning);
  const { facilitatorIds } = await names.of([]);
  const known = {
    // The directory lists resources on any chain.
    chains: tables.includes('endpoints') ? [] : chains.map(String),
    facilitators: facilitatorIds(),
  };
  return [...warnings, ...warningsOfNamed(namedConstants, known)].map(sqlWarning);
}
