import { type Sql, sql } from './sql.ts';

/**
 * What a wallet paid back, over payments of it with others (docs/methodology.md, "Whether to pay an address"): one definition for the API and
 * for the passes of the worker. The payments have the columns `inbound` (1: the wallet was paid), `n`, `usd`, `first_time` and `last_time`.
 */

/**
 * Of one other wallet. Which payment answers which is not on the chain, so it was refunded if the wallet paid it after its first payment, with
 * what it was paid in all, up to what it had paid.
 */
export const REFUND_FIGURES: Sql = sql`sumIf(usd, inbound = 1) AS paid_usd, sumIf(usd, inbound = 0) AS back_usd, sumIf(n, inbound = 0) AS back_n,
  countIf(inbound = 1) > 0 AND maxIf(last_time, inbound = 0) >= minIf(first_time, inbound = 1) AS is_refunded`;

/** Over all others: payers that got money back, settlements by which they did, and dollars. */
export const REFUND_SUMS: Sql = sql`countIf(is_refunded), sumIf(back_n, is_refunded), sumIf(least(paid_usd, back_usd), is_refunded)`;
