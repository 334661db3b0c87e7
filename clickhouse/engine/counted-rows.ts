import { UNCOUNTED_METHOD } from '../../core/domain/evidence.ts';
import { type Sql, trustedText } from './sql.ts';

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
