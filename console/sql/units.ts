import { usdText } from '../format.ts';
import type { Account } from '../wire.ts';

/** Dollars for one Query Unit of SQL, at the price of a single call; null until the account is known. */
export function unitUsd(account: Account | null): number | null {
  const route = account?.metered_routes.find(({ operation }) => operation === 'runSql');
  return route?.range?.x402_usd?.per_unit ?? null;
}

/** `2 QU ($0.10)`, or the units alone where no price is known. */
export function unitsText(units: number, perUnit: number | null): string {
  if (perUnit === null) return `${units} QU`;
  // Prices have at most six decimals.
  return `${units} QU (${usdText(Number((units * perUnit).toFixed(6)))})`;
}
