import { quForMilliseconds } from '../../../core/domain/plan.ts';
import type { Accepted } from '../../../sandbox/judge/inspect.ts';
import { askedLimits } from '../../../sandbox/policy/settings.ts';
import type { SqlBudget } from '../prices.ts';

/** How far a query may go, and the units that it used. */

/** The lower ones of what the request, its format and the SETTINGS of its text ask for. */
export function boundsOf(
  accepted: Accepted,
  {
    budget,
    maxRows,
    rowsMax,
  }: { readonly budget: SqlBudget; readonly maxRows: number | undefined; readonly rowsMax: number },
): { readonly maxRows: number; readonly seconds: number } {
  const asked = askedLimits(accepted.settings ?? []);
  return {
    maxRows: Math.min(...[maxRows, rowsMax, asked.rows, asked.limit].filter((rows) => rows !== undefined)),
    seconds: Math.min(budget.seconds, asked.seconds ?? budget.seconds),
  };
}

export function unitsFor(engineMs: number, { maxQu }: SqlBudget): number {
  return Math.min(maxQu, quForMilliseconds(engineMs));
}
