import { type Attack, harmless, refused } from './attack.ts';

/** What tables can and views cannot, and clauses that reach below a view. */

export const views: readonly Attack[] = [
  refused(
    'function',
    'PREWHERE with a host file',
    "SELECT 1 FROM settlements PREWHERE file('%FILE%') != ''",
    'denied',
  ),
  harmless('PREWHERE', 'it is read as WHERE', "SELECT 1 FROM settlements PREWHERE chain = 'x'", 'denied'),
  harmless('FINAL', 'the view is final by itself', 'SELECT count() FROM settlements FINAL'),
  refused('forbidden_clause', 'SAMPLE', 'SELECT count() FROM settlements SAMPLE 1/10', 'harmless'),
  refused(
    'forbidden_clause',
    'SAMPLE with an offset',
    'SELECT count() FROM settlements SAMPLE 1/10 OFFSET 1/2',
    'harmless',
  ),
  refused('syntax', 'SAMPLE with a subquery', 'SELECT count() FROM settlements SAMPLE (SELECT 1)'),
  refused('unknown_column', 'a column of the raw table', 'SELECT del FROM settlements'),
  harmless('the alias inside the view', 'it ends with the view', 'SELECT t.del FROM settlements', 'denied'),
  refused('unknown_column', 'a column of another chain’s state', 'SELECT rolled_ver FROM merchant_days'),
  harmless(
    'all columns by a pattern',
    'a pattern sees what an asterisk sees',
    "SELECT COLUMNS('.*') FROM facilitators",
  ),
  harmless(
    'a subcolumn of storage',
    'the view does not have it',
    'SELECT payer.size0 FROM settlements',
    'denied',
  ),
  refused(
    'function',
    'a predicate that fails on hidden rows',
    "SELECT count() FROM settlements WHERE throwIf(facilitator LIKE 'canary%')",
    'harmless',
  ),
  harmless(
    'a division by what the view hides',
    'hidden rows are filtered by grants of the definer, and a division gives no error here',
    "SELECT count() FROM facilitators WHERE 1 / (address != '%DB%') > 0",
  ),
  harmless(
    'a conversion that names a hidden row',
    'no hidden row has a value that differs',
    'SELECT countIf(toUInt8OrZero(address) = 1) FROM facilitators',
  ),
];
