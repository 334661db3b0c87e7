import { accountBytes } from './account.ts';
import { IS_DUST } from './counted-rows.ts';
import { type Sql, sql, text } from './sql.ts';

/**
 * What the rows of one wallet say of its counterparties, as expressions over wallet_rows: one definition for the profiles, which the API
 * reads, and for the passes of the worker.
 */

/**
 * What the rows with one counterparty add up to: `mine` in the judged direction, `back` in the other one; `judged` without dust. As whole
 * millionths in 256 bits, squares of sums are exact, and a wallet would have to move 10^32 dollars to overflow them.
 */
export function partnerFigures(wallet: string, role: 'payee' | 'payer'): Sql {
  return sql`counterparty = ${accountBytes(text(wallet))} AS is_self,
    countIf(role = ${text(role)}) AS mine_count, countIf(role != ${text(role)}) AS back_count,
    countIf(role = ${text(role)} AND NOT ${IS_DUST}) AS judged_count, countIf(role != ${text(role)} AND NOT ${IS_DUST}) AS judged_back_count,
    toInt256(toDecimal256(sumIf(amount_usd, role = ${text(role)} AND NOT ${IS_DUST}), 6) * 1000000) AS judged`;
}

/**
 * Over all counterparties: settlements in both directions, a payment to oneself once, and other wallets; then what is judged, of its direction
 * alone and without dust.
 */
export const SCAN_SUMS: readonly Sql[] = [
  sql`sum(mine_count) + sum(back_count) - sumIf(mine_count, is_self)`,
  sql`countIf(NOT is_self)`,
  sql`sum(judged_count)`,
  sql`sum(judged)`,
  sql`sumIf(judged, is_self)`,
  sql`maxIf(judged, NOT is_self)`,
  sql`sumIf(judged * judged, NOT is_self)`,
  sql`sumIf(judged, NOT is_self AND judged_back_count > 0)`,
];
