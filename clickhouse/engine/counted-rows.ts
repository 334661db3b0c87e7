import { DUST_BELOW_USD_MICROS } from '../../core/domain/data-quality.ts';
import { type Sql, sql, trustedText } from './sql.ts';

/**
 * Condition on the rows of `settlements` and `wallet_rows` that count in figures: live rows that are payments. All others are
 * listed but count in no sum, number or ranking: a deposit pays no seller, and a payout pays what was counted. Like `del`, the condition
 * is valid only after versions are merged (FINAL): after a reorg another event can stand in the place of a payment.
 *
 * `prefix` goes before the column names, for statements that need one.
 */
export function countedText(prefix: '' | 's.' = ''): string {
  return `${prefix}del = 0 AND ${prefix}kind = 'payment'`;
}

export const IS_COUNTED: Sql = trustedText(`(${countedText()})`);

const DUST_BELOW = trustedText(`toDecimal64('${Number(DUST_BELOW_USD_MICROS) / 1_000_000}', 6)`);

/** Condition on a row: its payment is too small to count for a signal, a verdict or a reason (core/domain/data-quality.ts). */
export const IS_DUST: Sql = sql`(amount_usd < ${DUST_BELOW})`;
