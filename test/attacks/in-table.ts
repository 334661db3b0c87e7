import { type Attack, harmless, refused, sql } from './attack.ts';

/** The right side of IN may be a table, without any FROM. */

const table = (what: string, right: string, raw?: Attack['raw']) =>
  refused('unknown_table', what, `SELECT 'x' ${right}`, raw);

export const inTable: readonly Attack[] = [
  table('IN', 'IN vault.secrets'),
  table('IN with parentheses', 'IN (vault.secrets)'),
  table('NOT IN', 'NOT IN vault.secrets'),
  table('GLOBAL IN', 'GLOBAL IN vault.secrets'),
  table('GLOBAL NOT IN', 'GLOBAL NOT IN vault.secrets'),
  table('IN a subquery', 'IN (SELECT s FROM vault.secrets)'),
  table('IN a subquery in parentheses', 'IN ((SELECT s FROM vault.secrets))'),
  table('IN a quoted table', 'IN `vault`.`secrets`'),
  table('IN a name with quotes around all', 'IN `vault.secrets`'),
  table('IN an escaped name', sql`IN ${'`'}va\x75lt${'`'}.secrets`),
  table('IN a system table', 'IN system.users'),
  table('IN a raw table', 'IN %DB%.settlements'),
  table('IN behind an alias of the database’s name', 'IN vault.secrets, (SELECT 1 AS vault)'),
  table(
    'IN behind an alias of the database’s name in a lambda',
    'IN vault.secrets, arrayMap(vault -> vault, [1])',
  ),
  table(
    'IN behind a CTE of the database’s name',
    'IN vault.secrets FROM (WITH vault AS (SELECT 1 AS secrets) SELECT 1) AS t',
  ),
  refused('unknown_table', 'the function in()', "SELECT in('x', vault.secrets)"),
  refused('unknown_table', 'the function notIn()', "SELECT notIn('x', vault.secrets)"),
  refused('unknown_table', 'the function globalIn()', "SELECT globalIn('x', vault.secrets)"),
  refused('unknown_table', 'the function nullIn()', "SELECT nullIn('x', vault.secrets)"),
  refused('unknown_table', 'the function globalNullIn()', "SELECT globalNullIn('x', vault.secrets)"),
  refused('unknown_table', 'the function inIgnoreSet()', "SELECT inIgnoreSet('x', vault.secrets)"),
  refused('unknown_table', 'a tuple IN a table', "SELECT ('x', 'y') IN vault.secrets"),
  refused('unknown_table', 'IN in a lambda', "SELECT arrayExists(x -> x IN vault.secrets, ['x'])"),
  refused(
    'unknown_table',
    'IN in a join condition',
    'SELECT 1 FROM settlements AS a JOIN agents AS b ON a.payer = b.owner AND a.payer IN vault.secrets',
  ),
  refused(
    'unknown_table',
    'IN in an argument of -If',
    'SELECT countIf(payer IN vault.secrets) FROM settlements',
  ),
  refused('unknown_table', 'IN in PREWHERE', 'SELECT 1 FROM settlements PREWHERE payer IN vault.secrets'),
  refused('table_function', 'IN file()', "SELECT 'x' IN file('%FILE%')", 'reads_files'),
  refused('table_function', 'IN url()', "SELECT 'x' IN url('http://127.0.0.1:1/', 'TSV', 'x String')"),
  refused(
    'table_function',
    'IN format(), which is a function too',
    "SELECT 'a' IN format('TSV', 'x String', 'a')",
    'harmless',
  ),
  refused(
    'table_function',
    'IN a subquery over file()',
    "SELECT 'x' IN (SELECT * FROM file('%FILE%', 'LineAsString'))",
  ),
  harmless(
    'IN a public table',
    'the guest may read it',
    'SELECT payer IN (SELECT wallet FROM wallet_settlements) FROM settlements',
  ),
  refused(
    'unknown_column',
    'IN a column behind the alias of a database’s name',
    'SELECT 1 IN vault.secrets FROM endpoints AS vault',
    'denied',
  ),
];
