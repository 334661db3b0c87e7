import { quForMilliseconds } from '../../../core/domain/plan.ts';
import { askedLimits, type SqlSetting } from '../../../sandbox/policy/settings.ts';
import type { RunFigures } from '../../../sandbox/sandbox.ts';
import type { SqlBudget } from '../prices.ts';

/** How far a query may go, and the units that it used. */

interface Bounds {
  readonly maxRows: number;
  /** Whether a result with more rows is an error: it is cut only where the caller named the number of rows. */
  readonly mustBeWhole: boolean;
  readonly seconds: number;
}

/** The lower ones of what the request, its format and the SETTINGS of its text ask for. */
export function boundsOf(
  settings: readonly SqlSetting[],
  {
    budget,
    maxRows,
    rowsMax,
  }: { readonly budget: SqlBudget; readonly maxRows: number | undefined; readonly rowsMax: number },
): Bounds {
  const { rows, limit, cuts, seconds } = askedLimits(settings);
  const named = [maxRows, limit, cuts ? (rows ?? rowsMax) : undefined].filter((one) => one !== undefined);
  const least = Math.min(rowsMax, rows ?? rowsMax, ...named);
  return {
    maxRows: least,
    mustBeWhole: !named.includes(least),
    seconds: Math.min(budget.seconds, seconds ?? budget.seconds),
  };
}

export function unitsFor({ chargedMs }: Pick<RunFigures, 'chargedMs'>, { maxQu }: SqlBudget): number {
  return Math.min(maxQu, quForMilliseconds(chargedMs));
}
