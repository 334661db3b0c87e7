import { type Sql, sql, text } from './sql.ts';

/**
 * What the rows of one wallet say of its counterparties, as expressions over wallet_rows: one definition for the profiles, which the API
 * reads, and for the passes of the worker.
 */

/**
 * What the rows with one counterparty add up to: `mine` in the judged direction, `back` in the other one. As whole millionths
 * in 256 bits, squares of sums are exact, and a wallet would have to move 10^32 dollars to overflow them.
 */
export function partnerFigures(wallet: string, role: 'payee' | 'payer'): Sql {
  return sql`counterparty = unhex(${text(wallet.slice(2))}) AS is_self,
    countIf(role = ${text(role)}) AS mine_count, countIf(role != ${text(role)}) AS back_count,
    toInt256(toDecimal256(sumIf(amount_usd, role = ${text(role)}), 6) * 1000000) AS mine`;
}

/** Over all counterparties: settlements in both directions, a payment to oneself once, and other wallets; then of the judged direction alone. */
export const SCAN_SUMS: readonly Sql[] = [
  sql`sum(mine_count) + sum(back_count) - sumIf(mine_count, is_self)`,
  sql`countIf(NOT is_self)`,
  sql`sum(mine_count)`,
  sql`sum(mine)`,
  sql`sumIf(mine, is_self)`,
  sql`maxIf(mine, NOT is_self)`,
  sql`sumIf(mine * mine, NOT is_self)`,
  sql`sumIf(mine, NOT is_self AND back_count > 0)`,
];
