import { UNCOUNTED_METHOD } from '../../core/domain/evidence.ts';
import { type Sql, trustedText } from './sql.ts';

/**
 * Condition on rows of `settlements` and `wallet_log` that add up to figures: live ones that are payments. Channel deposits are
 * listed, but count in no sum, number or ranking, because no seller is paid by one. As `del` alone, it may be asked only after
 * versions are merged (FINAL): a regrade changes the method of a row.
 *
 * `prefix` is that of the table's columns, for statements that need one.
 */
export function countedText(prefix: '' | 's.' = ''): string {
  return `${prefix}del = 0 AND ${prefix}method != '${UNCOUNTED_METHOD}'`;
}

export const IS_COUNTED: Sql = trustedText(`(${countedText()})`);
