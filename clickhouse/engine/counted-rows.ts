import { DUST_BELOW_USD_MICROS } from '../../core/domain/data-quality.ts';
import { UNCOUNTED_METHOD } from '../../core/domain/evidence.ts';
import { type Sql, sql, trustedText } from './sql.ts';

/**
 * Condition on the rows of `settlements` and `wallet_rows` that count in figures: live rows that are payments. Channel deposits are
 * listed but count in no sum, number or ranking, because they pay no seller. Like `del`, the condition is valid only after versions
 * are merged (FINAL): a regrade changes the method of a row.
 *
 * `prefix` goes before the column names, for statements that need one.
 */
export function countedText(prefix: '' | 's.' = ''): string {
  return `${prefix}del = 0 AND ${prefix}method != '${UNCOUNTED_METHOD}'`;
}

export const IS_COUNTED: Sql = trustedText(`(${countedText()})`);

const DUST_BELOW = trustedText(`toDecimal64('${Number(DUST_BELOW_USD_MICROS) / 1_000_000}', 6)`);

/** Condition on a row: its payment is too small to count for a signal, a verdict or a reason (core/domain/data-quality.ts). */
export const IS_DUST: Sql = sql`(amount_usd < ${DUST_BELOW})`;
