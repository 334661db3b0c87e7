import { type Attack, harmless, refused } from './attack.ts';

/** What tables can and views cannot, and clauses that reach below a view. */

export const views: readonly Attack[] = [
  refused(
    'function',
    'PREWHERE with a host file',
    "SELECT 1 FROM settlements PREWHERE file('%FILE%') != ''",
    'denied',
  ),
  refused('forbidden_clause', 'PREWHERE', "SELECT 1 FROM settlements PREWHERE chain = 'x'"),
  harmless('FINAL', 'the view is final by itself', 'SELECT count() FROM settlements FINAL'),
  harmless('SAMPLE', 'a view ignores it', 'SELECT count() FROM settlements SAMPLE 1/10'),
  harmless(
    'SAMPLE with an offset',
    'a view ignores it',
    'SELECT count() FROM settlements SAMPLE 1/10 OFFSET 1/2',
  ),
  refused('syntax', 'SAMPLE with a subquery', 'SELECT count() FROM settlements SAMPLE (SELECT 1)'),
  harmless('a column of the raw table', 'the view does not have it', 'SELECT del FROM settlements', 'denied'),
  harmless('the alias inside the view', 'it ends with the view', 'SELECT t.del FROM settlements', 'denied'),
  harmless(
    'a column of another chain’s state',
    'the view does not have it',
    'SELECT rolled_ver FROM merchant_days',
    'denied',
  ),
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
