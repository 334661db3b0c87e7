import type { SqlTierId } from '../../core/domain/plan.ts';
import { type AuthorShare, isCovered, type Sale } from '../../core/domain/sale.ts';
import type { Log } from '../../core/log.ts';
import type { CallTerms, PreparedCall } from '../operations/define.ts';

/** The sold call, as it is stored when the money is claimed: a call that is resumed is the one that was paid for, at its price. */

interface SoldCall {
  readonly qu: number | null;
  readonly usdMicros: string;
  readonly byUse: boolean;
  readonly tier: SqlTierId | null;
  readonly describes?: string;
  /** Of `PreparedCall.item`. */
  readonly item: string | null;
}

/** The terms that matter, as text. A call that was made from a text gives the same text. */
export function soldText({ terms: { price, byUse, tier, describes }, item }: PreparedCall): string {
  const sold: SoldCall = {
    qu: price.qu,
    usdMicros: String(price.x402UsdMicros),
    byUse,
    tier,
    ...(describes === undefined ? {} : { describes }),
    item: item ?? null,
  };
  return JSON.stringify(sold);
}

export function readSold(text: string): SoldCall {
  return JSON.parse(text) as SoldCall; // written by `soldText`
}

/** The call at the price that was paid. */
export function atSoldTerms(call: PreparedCall, { qu, usdMicros, byUse, tier }: SoldCall): PreparedCall {
  const price = { ...call.terms.price, qu, x402UsdMicros: BigInt(usdMicros) };
  return { ...call, terms: { ...call.terms, price, byUse, tier } };
}

/** The call that a payment is claimed for. */
export function saleOf(call: PreparedCall, units: number, share: AuthorShare | undefined, log: Log): Sale {
  return { units, sold: soldText(call), share: coveredShare(share, units, log) ?? null };
}

/**
 * The share, where the paid units cover it and the units of the run. One that is not covered is our bug: it is not granted, and the
 * caller is answered. The store refuses it once more.
 */
export function coveredShare(
  share: AuthorShare | undefined,
  paidUnits: number,
  log: Log,
): AuthorShare | undefined {
  if (share === undefined || isCovered(share, paidUnits)) return share;
  log.error({ share, paidUnits }, 'what was paid for does not cover the share of its author');
  return undefined;
}

/** The units that a call costs at most. */
export function unitsOf({ price }: CallTerms): number {
  return price.qu ?? 0;
}
