import { type Attack, harmless, refused, sql } from './attack.ts';

/** Names of functions that are not written as calls: in strings, APPLY, lambdas, aliases, words, and the text of `values`. */

const reads = (what: string, text: string) => refused('function', what, text, 'reads_files');
const structure = (what: string, text: string, raw: Attack['raw'] = 'reads_files') =>
  refused('table_function', what, text, raw);

export const hiddenNames: readonly Attack[] = [
  reads('APPLY(f)', "SELECT * APPLY(file) FROM (SELECT '%FILE%' AS a)"),
  reads('APPLY f without parentheses', "SELECT * APPLY file FROM (SELECT '%FILE%' AS a)"),
  reads('APPLY of a pattern', "SELECT COLUMNS('a') APPLY(file) FROM (SELECT '%FILE%' AS a)"),
  reads('APPLY of a list', "SELECT COLUMNS(a) APPLY(file) FROM (SELECT '%FILE%' AS a)"),
  reads('the second APPLY', "SELECT * APPLY(toString) APPLY(file) FROM (SELECT '%FILE%' AS a)"),
  reads('a lambda in APPLY', "SELECT * APPLY(x -> file(x)) FROM (SELECT '%FILE%' AS a)"),
  reads(
    'APPLY behind EXCEPT and REPLACE',
    "SELECT * EXCEPT b REPLACE ('%FILE%' AS a) APPLY file FROM (SELECT 1 AS a, 2 AS b)",
  ),
  reads('REPLACE', "SELECT * REPLACE (file('%FILE%') AS a) FROM (SELECT 1 AS a)"),
  reads('a lambda', "SELECT arrayMap(x -> file(x), ['%FILE%'])"),
  reads('a lambda in a lambda', "SELECT arrayMap(x -> arrayMap(y -> file(y), [x]), ['%FILE%'])"),
  reads('arrayFold', "SELECT arrayFold((a, x) -> file(x), ['%FILE%'], '')"),
  reads('a sort key', "SELECT arraySort(x -> file(x), ['%FILE%'])"),
  reads('a named lambda', "WITH x -> file(x) AS f SELECT f('%FILE%')"),
  reads('a named lambda in parentheses', "WITH (x -> file(x)) AS f SELECT f('%FILE%')"),
  reads('a named lambda behind another', "WITH x -> file(x) AS f, y -> f(y) AS g SELECT g('%FILE%')"),
  reads('a named lambda handed to arrayMap', "WITH x -> file(x) AS f SELECT arrayMap(f, ['%FILE%'])"),
  reads('the function as a word', "SELECT arrayMap(file, ['%FILE%'])"),
  reads(
    'the word, with an alias of that name in a subquery',
    "SELECT arrayMap(file, ['%FILE%']), (SELECT 1 AS file)",
  ),
  reads(
    'the word, with an alias of that name deep in FROM',
    "SELECT arrayMap(file, ['%FILE%']) FROM (SELECT (SELECT 1 AS file) AS z)",
  ),
  reads('the word, with a table of that name', "SELECT arrayMap(file, ['%FILE%']) FROM numbers(1) AS file"),
  reads(
    'the word, with an argument of that name in another lambda',
    "SELECT arrayMap(file, ['%FILE%']), arrayMap(file -> file, [1])",
  ),
  reads(
    'the word, with a CTE that has such a column and is not read',
    "WITH c AS (SELECT 1 AS file) SELECT arrayMap(file, ['%FILE%'])",
  ),
  reads(
    'the word, with a CTE of a public table’s name out of sight',
    "SELECT arrayMap(file, ['%FILE%']) FROM numbers(1) WHERE (WITH settlements AS (SELECT 1 AS file) SELECT count() FROM settlements) = 1",
  ),
  reads(
    'the word, with such a column in the second arm of a union',
    "SELECT arrayMap(file, ['%FILE%']) FROM (SELECT 1 AS a UNION ALL SELECT 2 AS file)",
  ),
  reads('the word, as its own alias', "SELECT arrayMap(file AS file, ['%FILE%'])"),
  reads('the word, through an alias and back', "SELECT arrayMap(a, ['%FILE%']), file AS a, a AS file"),
  refused(
    'function',
    'a lambda that hides the function',
    "WITH x -> x AS file SELECT file('%FILE%')",
    'harmless',
  ),
  refused(
    'function',
    'a word that is a value here',
    'SELECT toInt8(1) AS file, file + 1 FROM numbers(2) WHERE file > 0',
    'harmless',
  ),
  refused(
    'function',
    'a lambda’s argument of that name',
    "SELECT arrayMap(file -> upper(file), ['a'])",
    'harmless',
  ),
  reads(
    'the word, with a column of that name that the table’s alias renames',
    "SELECT arrayMap(file, ['%FILE%'])[1] AS f FROM (SELECT 1 AS file) AS t(a)",
  ),
  reads(
    'the word, with a column that the CTE renames',
    "WITH t(a) AS (SELECT 1 AS file) SELECT arrayMap(file, ['%FILE%']) FROM t",
  ),
  reads(
    'the word, with a column that the recursive CTE renames',
    "WITH RECURSIVE t(a) AS (SELECT 1 AS file UNION ALL SELECT a + 1 FROM t WHERE a < 2) SELECT arrayMap(file, ['%FILE%']) FROM t",
  ),
  reads(
    'the word, with a column of a union that the alias renames',
    "SELECT arrayMap(file, ['%FILE%']) FROM (SELECT 1 AS file UNION ALL SELECT 2) AS t(a)",
  ),
  reads(
    'the word, with a column that untuple spreads',
    "SELECT arrayMap(file, ['%FILE%']) FROM (SELECT untuple((1, 2)) AS file)",
  ),
  reads(
    'the word, with an alias of WITH that is resolved before FROM',
    "WITH arrayMap(file, ['%FILE%']) AS f SELECT f FROM (SELECT 1 AS file) AS t(a)",
  ),
  reads(
    'the word in another case, behind EXCEPT',
    "SELECT arrayMap(file, ['%FILE%']) FROM (SELECT * EXCEPT (file) FROM (SELECT 1 AS file, 2 AS b))",
  ),
  refused('function', 'a quoted name', "SELECT `file`('%FILE%')", 'reads_files'),
  refused('function', 'a name in double quotes', `SELECT "file"('%FILE%')`, 'reads_files'),
  refused('function', 'a name with an escape', sql`SELECT ${'`'}fi\x6ce${'`'}('%FILE%')`, 'reads_files'),
  structure(
    'ALIAS in the structure of values',
    sql`SELECT y FROM values('x UInt8, y String ALIAS file(\'%FILE%\')', 1)`,
  ),
  structure('ALIAS without a type', sql`SELECT y FROM values('x UInt8, y ALIAS file(\'%FILE%\')', 1)`),
  structure(
    'ALIAS behind comments',
    sql`SELECT y FROM values('x/**/UInt8,y/**/ALIAS/**/file(\'%FILE%\')', 1)`,
  ),
  structure(
    'ALIAS behind tabs and line breaks',
    sql`SELECT y FROM values('x UInt8,\ty\nALIAS\tfile(\'%FILE%\')', 1)`,
    'reads_files',
  ),
  structure('ALIAS in another case', sql`SELECT y FROM VALUES('x UInt8, y aLiAs file(\'%FILE%\')', 1)`),
  structure(
    'ALIAS of a quoted name',
    sql`SELECT y FROM values('x UInt8, ${'`'}y${'`'} String ALIAS ${'`'}file${'`'}(\'%FILE%\')', 1)`,
  ),
  structure(
    'ALIAS of a lambda',
    sql`SELECT y FROM values('x UInt8, y ALIAS arrayMap(z -> file(z), [\'%FILE%\'])', 1)`,
  ),
  structure(
    'ALIAS in a tuple’s column',
    sql`SELECT y.1 FROM values('x UInt8, y Tuple(String) ALIAS tuple(file(\'%FILE%\'))', 1)`,
  ),
  structure(
    'DEFAULT in the structure',
    sql`SELECT x FROM values('x UInt8, y String DEFAULT file(\'%FILE%\')', (1, ''))`,
    'harmless',
  ),
  structure(
    'MATERIALIZED in the structure',
    sql`SELECT x FROM values('x UInt8, y String MATERIALIZED file(\'%FILE%\')', 1)`,
    'harmless',
  ),
  structure(
    'EPHEMERAL in the structure',
    sql`SELECT x FROM values('x UInt8, y String EPHEMERAL file(\'%FILE%\')', 1)`,
    'harmless',
  ),
  structure(
    'a structure behind a name',
    sql`WITH 'x UInt8, y ALIAS file(\'%FILE%\')' AS s SELECT y FROM values(s, 1)`,
  ),
  structure(
    'a computed structure',
    "SELECT * FROM values(concat('x UInt8, y ALIAS ', 'version()'), 1)",
    'harmless',
  ),
  structure(
    'a constraint in the structure',
    "SELECT * FROM values('x UInt8, CONSTRAINT c CHECK version() = 1', 1)",
    'denied',
  ),
  structure('a codec in the structure', "SELECT * FROM values('x UInt8 CODEC(ZSTD)', 1)", 'harmless'),
  structure(
    'in a subquery on the right of IN',
    sql`SELECT 'a' IN (SELECT y FROM values('x UInt8, y ALIAS file(\'%FILE%\')', 1))`,
    'harmless',
  ),
  harmless(
    'a plain structure',
    'it has names and types only',
    "SELECT * FROM values('x UInt8, y Array(Tuple(a String, b DateTime(\\'UTC\\')))', (1, []))",
  ),
  harmless(
    'texts that are rows',
    'a single word is no declaration',
    "SELECT * FROM values('coinbase', 'payai')",
  ),
  refused('function', 'a name in arrayReduce', "SELECT arrayReduce('file', ['%FILE%'])"),
  refused('function', 'an aggregate that fails on purpose', "SELECT arrayReduce('aggThrow(1)', [1])"),
  refused(
    'function',
    'a computed name in arrayReduce',
    "SELECT arrayReduce(concat('su', 'm'), [1])",
    'harmless',
  ),
  refused(
    'function',
    'a name behind an alias in arrayReduce',
    "WITH 'sum' AS f SELECT arrayReduce(f, [1])",
    'harmless',
  ),
  refused(
    'function',
    'a name in arrayReduceInRanges',
    "SELECT arrayReduceInRanges('sum', [(1, 1)], [1])",
    'harmless',
  ),
  refused(
    'function',
    'a name in initializeAggregation',
    "SELECT initializeAggregation('sumState', 1)",
    'harmless',
  ),
  refused('function', 'a combinator on a scalar function', 'SELECT sleepIf(1, 1)'),
  refused('function', 'combinators on a refused aggregate', 'SELECT aggThrowIfOrNull(1)(1, 1)'),
  refused('function', 'a combinator in a string', "SELECT arrayReduce('flameGraphIf', [1], [1])"),
  refused('function', 'nobody’s function', 'SELECT my_udf(1)'),
];
