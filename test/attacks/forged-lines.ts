import { type Attack, harmless, refused, sql } from './attack.ts';

/** The tree is judged as printed text: what is printed raw could forge a line or an attribute of it. */

const tick = '`';
const forged = (what: string, text: string, raw: Attack['raw'] = 'harmless') =>
  refused('identifier', what, text, raw);

export const forgedLines: readonly Attack[] = [
  forged('a comma in an alias', 'SELECT 1 AS `x, cte_name: secrets`'),
  forged('a comma in a table’s alias', 'SELECT 1 FROM settlements AS `a, is_cte: 1`'),
  forged('a comma in a column', 'SELECT `payer, alias: x` FROM settlements', 'denied'),
  forged('a comma in a table', 'SELECT 1 FROM `vault.secrets, identifier: settlements`', 'denied'),
  forged('a comma in a CTE', 'WITH `a, alias: vault` AS (SELECT 1) SELECT 1'),
  forged('a comma in a function', 'SELECT `file, function_name: upper`(1)', 'denied'),
  forged(
    'a line break in an alias',
    sql`SELECT 1 AS ${tick}a\n  JOIN TREE\n    IDENTIFIER id: 4, identifier: settlements${tick}`,
  ),
  forged('a line break as it is in an alias', 'SELECT 1 AS `a\n  WHERE`'),
  forged('a carriage return in an alias', 'SELECT 1 AS `a\rb`'),
  forged('a tab in an alias', 'SELECT 1 AS `a\tb`'),
  forged('a line separator in an alias', 'SELECT 1 AS `a\u2028b`'),
  forged('a next-line mark in an alias', 'SELECT 1 AS `a\u0085b`'),
  forged('a backslash in an alias', sql`SELECT 1 AS ${tick}a\\b${tick}`),
  forged('a quote in an alias', sql`SELECT 1 AS ${tick}a\${tick}b${tick}`),
  forged('a double quote in an alias', 'SELECT 1 AS `a"b`'),
  forged('a line break in a lambda’s argument', sql`SELECT arrayMap(${tick}x\ny${tick} -> 1, [1])`),
  forged(
    'a line break in a window’s name',
    sql`SELECT sum(1) OVER ${tick}w\nX${tick} WINDOW ${tick}w\nX${tick} AS (ORDER BY 1)`,
  ),
  forged(
    'a line break in a column of USING',
    sql`SELECT 1 FROM settlements JOIN agents USING (${tick}a\nb${tick})`,
    'denied',
  ),
  forged('a line break in EXCEPT', sql`SELECT * EXCEPT (${tick}a\nb${tick}) FROM settlements`),
  forged('a line break in REPLACE', sql`SELECT * REPLACE (1 AS ${tick}a\nb${tick}) FROM settlements`),
  forged('a line break in the columns of an alias', sql`SELECT 1 FROM (SELECT 1) AS t(${tick}a\nb${tick})`),
  forged(
    'a line break in INTERPOLATE',
    sql`SELECT 1 AS x, 2 AS ${tick}a\nb${tick} ORDER BY x WITH FILL INTERPOLATE (${tick}a\nb${tick} AS 1)`,
  ),
  forged(
    'a line break in a pattern of columns',
    sql`SELECT COLUMNS('a\n  JOIN TREE\n') FROM settlements`,
    'denied',
  ),
  forged(
    'a line break as it is in a pattern of columns',
    "SELECT COLUMNS('a\n  JOIN TREE') FROM settlements",
    'denied',
  ),
  forged(
    'a hexadecimal escape in a pattern of columns',
    sql`SELECT COLUMNS('a\x0ab') FROM settlements`,
    'denied',
  ),
  forged('an octal escape in a pattern of columns', sql`SELECT COLUMNS('a\012b') FROM settlements`, 'denied'),
  forged(
    'a line break in a pattern behind a table',
    sql`SELECT s.COLUMNS('x\n') FROM settlements AS s`,
    'denied',
  ),
  forged('a line break in a pattern of EXCEPT', sql`SELECT * EXCEPT('a\nJOIN TREE') FROM settlements`),
  forged('a line break in a strict pattern of EXCEPT', sql`SELECT * EXCEPT STRICT 'a\nb' FROM settlements`),
  forged('a line break in a pattern with LIKE', sql`SELECT * LIKE 'x\ny' FROM settlements`, 'denied'),
  forged('a line break in a pattern with ILIKE', sql`SELECT * ILIKE 'x\ny' FROM settlements`, 'denied'),
  forged(
    'a line break in a collation',
    sql`SELECT payer FROM settlements ORDER BY payer COLLATE 'en\nX'`,
    'denied',
  ),
  refused(
    'unknown_table',
    'a text that looks like an alias',
    `SELECT 'x, alias: wallet_rows' FROM wallet_rows`,
  ),
  refused(
    'unknown_table',
    'a pattern that looks like an alias',
    `SELECT COLUMNS('x, alias: wallet_rows') FROM wallet_rows`,
  ),
  refused(
    'unknown_table',
    'a text that looks like a CTE',
    `SELECT 'x, is_cte: 1, cte_name: wallet_rows' FROM wallet_rows`,
  ),
  refused(
    'syntax',
    'a collation that looks like a line',
    `SELECT payer FROM wallet_rows ORDER BY payer COLLATE 'en, identifier: settlements'`,
  ),
  refused(
    'function',
    'a text with the name of an allowed function',
    `SELECT 'x, function_name: upper', file('%FILE%')`,
    'reads_files',
  ),
  harmless('a line break in an array', 'arrays are printed escaped', sql`SELECT ['a\n  JOIN TREE', 'b']`),
  harmless('a line break in a map', 'maps are printed escaped', sql`SELECT map('a\n', 'b\n  WHERE')`),
  harmless(
    'a line break in a parameter of a function',
    'parameters are printed escaped',
    sql`SELECT groupConcat('\n')(chain) FROM facilitators`,
  ),
  harmless(
    'a line break in a type',
    'types are printed escaped',
    sql`SELECT CAST('a\nb' AS Enum8('a\nb' = 1))`,
  ),
  harmless('an alias that is a heading', 'a heading stands alone on its line', 'SELECT 1 AS `JOIN TREE`'),
  harmless(
    'an alias that is a node',
    'the number would have to fit and the line to begin there',
    'SELECT 1 AS `IDENTIFIER id: 0`',
  ),
];
