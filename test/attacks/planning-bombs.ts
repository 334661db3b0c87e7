import type { AttackLine } from './attack.ts';

/** Texts that cost before anything runs: parsing and analysis are not under the engine's time limit. */

const times = (count: number, part: string): string => part.repeat(count);
const each = (count: number, of: (at: number) => string, between = ', '): string =>
  Array.from({ length: count }, (_, at) => of(at)).join(between);

/** Above what the first wall lets through, and small enough that the second does not keep the engine for minutes: 16 would. */
const LEVELS = 7;
const LAST = `c${LEVELS}`;

/** CTEs; each names the one before twice. */
const doubling = (count: number, first: string): string =>
  `c0 AS (${first}), ${each(count, (at) => `c${at + 1} AS (SELECT l.a FROM c${at} AS l, c${at} AS r)`)}`;

/** The engine sees that the tree grows; it takes seconds where every level is a query of its own. */
const tooComplex = (what: string, sql: string): AttackLine => ({
  refused: 'too_complex',
  raw: 'bounded',
  what,
  sql,
});
const tooDeep = (what: string, sql: string): AttackLine => ({ refused: 'syntax', what, sql });
const bounded = (what: string, sql: string): AttackLine => ({ bounded: true, what, sql });

export const planningBombs: readonly AttackLine[] = [
  tooComplex(
    'CTEs that double',
    `WITH ${doubling(LEVELS, 'SELECT payer AS a FROM settlements')} SELECT count() FROM ${LAST}`,
  ),
  tooComplex(
    'CTEs that double a table function',
    `WITH ${doubling(LEVELS, 'SELECT number AS a FROM numbers(1)')} SELECT count() FROM ${LAST}`,
  ),
  tooComplex(
    'CTEs that double behind harmless ones of the same names',
    `WITH ${each(LEVELS + 1, (at) => `c${at} AS (SELECT 1 AS a)`)} SELECT * FROM (WITH ${doubling(LEVELS, 'SELECT 1 AS a')} SELECT count() FROM ${LAST})`,
  ),
  tooComplex(
    'CTEs that double under one name',
    `${times(LEVELS, 'WITH c AS (')}SELECT 1 AS a${times(LEVELS, ') SELECT l.a FROM c AS l, c AS r')}`,
  ),
  tooComplex(
    'CTEs that double on the right of IN',
    `WITH c0 AS (SELECT 1 AS a), ${each(LEVELS, (at) => `c${at + 1} AS (SELECT 1 AS a WHERE 1 IN c${at} AND 1 IN (SELECT a FROM c${at}))`)} SELECT * FROM ${LAST}`,
  ),
  tooComplex(
    'CTEs that double in scalar subqueries',
    `WITH c0 AS (SELECT 1 AS a), ${each(LEVELS, (at) => `c${at + 1} AS (SELECT (SELECT a FROM c${at}) + (SELECT a FROM c${at}) AS a)`)} SELECT * FROM ${LAST}`,
  ),
  tooComplex(
    'CTEs that double in unions',
    `WITH c0 AS (SELECT 1 AS a), ${each(LEVELS, (at) => `c${at + 1} AS (SELECT * FROM c${at} UNION ALL SELECT * FROM c${at})`)} SELECT count() FROM ${LAST}`,
  ),
  tooComplex(
    'a table joined with itself a hundred times',
    `SELECT count() FROM ${each(100, (at) => `settlements AS t${at}`)}`,
  ),
  bounded(
    'aliases that double',
    `WITH 1 AS a0, ${each(40, (at) => `a${at} + a${at} AS a${at + 1}`)} SELECT a40`,
  ),
  bounded(
    'aliases of columns that double',
    `SELECT number AS a0, ${each(40, (at) => `a${at} + a${at} AS a${at + 1}`)} FROM numbers(1)`,
  ),
  tooComplex(
    'texts that double',
    `SELECT chain AS a0, ${each(40, (at) => `concat(a${at}, a${at}) AS a${at + 1}`)} FROM settlements`,
  ),
  bounded('a named lambda that doubles', `WITH x -> x + x AS f SELECT ${times(40, 'f(')}1${times(40, ')')}`),
  tooComplex(
    'named lambdas that double each other',
    `WITH x -> x + x AS f0, ${each(8, (at) => `x -> f${at}(x) + f${at}(x) AS f${at + 1}`)} SELECT f8(1)`,
  ),
  tooComplex(
    'a named lambda that is called without end',
    `WITH x -> x + 1 AS f SELECT ${each(200, (at) => `f(${at})`)}`,
  ),
  bounded('APPLY that doubles', `SELECT * ${times(40, 'APPLY(x -> x + x) ')}FROM numbers(1)`),
  bounded(
    'scalar subqueries that double',
    `WITH (SELECT 1) AS s0, ${each(30, (at) => `(SELECT s${at} + s${at}) AS s${at + 1}`)} SELECT s30`,
  ),
  bounded(
    'a CTE that names itself without end',
    'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count() FROM r',
  ),
  bounded(
    'a CTE that names itself twice',
    'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT a.n + 1 FROM r AS a, r AS b) SELECT count() FROM r',
  ),
  bounded('CTEs that name each other', 'WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a'),
  bounded('a CTE that names itself without RECURSIVE', 'WITH a AS (SELECT * FROM a) SELECT * FROM a'),
  bounded('lambdas that name each other', 'WITH x -> g(x) AS f, x -> f(x) AS g SELECT f(1)'),
  bounded('aliases that name each other', 'SELECT a + 1 AS b, b + 1 AS a'),
  tooDeep('open parentheses', `SELECT ${times(3_000, '(')}`),
  tooDeep('parentheses', `SELECT ${times(900, '(')}1${times(900, ')')}`),
  tooDeep('parentheses around a SELECT', `${times(900, '(')}SELECT 1${times(900, ')')}`),
  tooDeep('brackets that stay open', `SELECT ${times(3_000, '[')}`),
  tooDeep('braces', `SELECT ${times(3_000, '{')}`),
  tooDeep('queries in queries', `${times(150, 'SELECT * FROM (')}SELECT 1${times(150, ')')}`),
  tooDeep('queries in IN', `${times(90, 'SELECT 1 IN (')}SELECT 1${times(90, ')')}`),
  tooDeep('calls in calls', `SELECT ${times(400, 'f(')}1${times(400, ')')}`),
  tooDeep('indices in indices', `SELECT ${times(300, 'a[')}1${times(300, ']')}`),
  tooDeep('NOT', `SELECT ${times(3_000, 'NOT ')}1`),
  tooDeep('additions', `SELECT 1${times(9_000, '+1')}`),
  tooDeep('CASE in CASE', `SELECT ${times(180, 'CASE WHEN 1 THEN ')}1${times(180, ' END')}`),
  tooDeep('CAST in CAST', `SELECT ${times(180, 'CAST(')}1${times(180, ' AS UInt8)')}`),
  tooDeep('INTERVAL in INTERVAL', `SELECT ${times(300, 'INTERVAL ')}1 DAY`),
  tooDeep('the ternary operator', `SELECT ${times(300, '1 ? ')}1${times(300, ' : 1')}`),
  tooDeep('BETWEEN', `SELECT 1 ${times(300, 'BETWEEN 1 AND 1 ')}`),
  tooDeep('arrows', `SELECT ${times(900, 'x -> ')}1`),
  tooDeep('comments in comments', `${times(16_000, '/*')}SELECT 1`),
  tooDeep('WITH in WITH', times(300, 'WITH x AS (')),
  tooDeep('too many columns', `SELECT ${each(8_000, () => '1', ',')}`),
  tooDeep('EXCEPT without end', `SELECT 1${times(600, ' EXCEPT SELECT 1')}`),
  {
    refused: 'too_long',
    raw: 'bounded',
    what: 'a text of more than 64 KiB',
    sql: `SELECT '${times(70_000, 'x')}'`,
  },
  bounded('an array in arrays', `SELECT ${times(400, '[')}1${times(400, ']')}`),
  bounded('a type in types', `SELECT CAST('[]', '${times(900, 'Array(')}UInt8${times(900, ')')}')`),
  bounded(
    'a tuple of tuples as a type',
    `SELECT CAST('x', '${times(900, 'Tuple(')}UInt8${times(900, ')')}')`,
  ),
  bounded('a long list on the right of IN', `SELECT 1 IN (${each(10_000, String, ',')})`),
  bounded(
    'a long list of texts on the right of IN',
    `SELECT payer IN (${each(4_000, (at) => `'0x${at}'`, ',')}) FROM settlements`,
  ),
  bounded(
    'conditions that are all different',
    `SELECT count() FROM numbers(10) WHERE ${each(800, (at) => `number = ${at}`, ' OR ')}`,
  ),
  bounded(
    'conditions that a normal form would multiply',
    `SELECT count() FROM numbers(10) AS a JOIN numbers(10) AS b ON a.number = b.number AND (${each(80, (at) => `(a.number = ${at} OR b.number > ${at})`, ' AND ')})`,
  ),
  bounded('sixty tables of numbers', `SELECT count() FROM ${each(60, (at) => `numbers(2) AS t${at}`)}`),
  tooComplex(
    'a hundred joins',
    `SELECT count() FROM numbers(1) AS t0 ${each(66, (at) => `JOIN numbers(1) AS t${at + 1} ON t${at + 1}.number = t0.number`, ' ')}`,
  ),
  bounded(
    'a cube of thirty columns',
    `SELECT count() FROM numbers(3) GROUP BY CUBE(${each(30, (at) => `number + ${at}`)})`,
  ),
  bounded(
    'a cube of a hundred columns',
    `SELECT count() FROM numbers(3) GROUP BY CUBE(${each(100, (at) => `number + ${at}`)})`,
  ),
  bounded(
    'three hundred grouping sets',
    `SELECT count() FROM numbers(3) GROUP BY GROUPING SETS (${each(300, (at) => `(number, number + ${at})`)})`,
  ),
  bounded(
    'a hundred windows',
    `SELECT ${each(100, (at) => `sum(number) OVER (ORDER BY number + ${at})`)} FROM numbers(10)`,
  ),
  bounded(
    'fifty ARRAY JOINs',
    `SELECT count() FROM numbers(1) ${each(50, (at) => `ARRAY JOIN [1, 2] AS a${at}`, ' ')}`,
  ),
  { harmless: 'it is one value', what: 'a text near 64 KiB', sql: `SELECT length('${times(60_000, 'x')}')` },
];
