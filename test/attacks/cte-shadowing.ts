import { type Attack, harmless, refused } from './attack.ts';

/** Names of the query's own that hide the engine's, or seem to. */

const ownName = 'the word means what the query declares';

export const cteShadowing: readonly Attack[] = [
  harmless(
    'a CTE called like a public table',
    'it is the CTE',
    'WITH settlements AS (SELECT 1 AS n) SELECT n FROM settlements',
  ),
  harmless(
    'a CTE called like a raw table',
    'it is the CTE',
    'WITH wallet_rows AS (SELECT 1 AS n) SELECT n FROM wallet_rows',
  ),
  harmless(
    'a CTE that reads what it is called',
    'inside it the name is the public table',
    'WITH settlements AS (SELECT payer FROM settlements) SELECT payer FROM settlements',
    'harmless',
  ),
  refused(
    'unknown_table',
    'a CTE out of sight',
    'SELECT * FROM (WITH secrets AS (SELECT 1) SELECT 1 AS a) AS t, vault.secrets',
  ),
  refused(
    'unknown_table',
    'a CTE called system',
    'WITH system AS (SELECT 1 AS users) SELECT * FROM system.users',
    'denied',
  ),
  refused(
    'unknown_table',
    'a CTE with a database in its name',
    'WITH `vault.secrets` AS (SELECT 1 AS n) SELECT n FROM vault.secrets',
    'harmless',
  ),
  refused(
    'unknown_table',
    'a table alias called system',
    'SELECT system.users.name FROM settlements AS system, system.users',
  ),
  refused(
    'table_function',
    'a CTE called like a table function',
    "WITH url AS (SELECT 1) SELECT * FROM url('http://127.0.0.1:1/', 'TSV', 'x String')",
  ),
  refused(
    'function',
    'a CTE called like a function',
    "WITH file AS (SELECT 1) SELECT file('%FILE%')",
    'reads_files',
  ),
  refused(
    'function',
    'a scalar subquery called like a function',
    "WITH (SELECT 1) AS file SELECT file('%FILE%')",
    'reads_files',
  ),
  refused(
    'function',
    'a column called like a function',
    "SELECT file('%FILE%') FROM (SELECT 1 AS file)",
    'reads_files',
  ),
  refused('unknown_table', 'a scalar subquery as a table', 'WITH (SELECT 1) AS s SELECT * FROM s'),
  refused('unknown_table', 'a public column as a table', 'SELECT * FROM payer'),
  refused('unknown_table', 'an alias as a table', 'SELECT 1 AS a FROM a'),
  refused('unknown_table', 'a lambda as a table', 'WITH x -> x AS f SELECT * FROM f'),
  harmless(
    'a recursive CTE called like a public table',
    ownName,
    'WITH RECURSIVE settlements AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM settlements WHERE n < 3) SELECT n FROM settlements',
  ),
  refused(
    'function',
    'a column called user, bare',
    'SELECT payer AS user, count() FROM settlements GROUP BY user ORDER BY user',
    'harmless',
  ),
  harmless(
    'a column called user, by its table',
    ownName,
    'SELECT t.user, count() FROM (SELECT payer AS user FROM settlements) AS t GROUP BY t.user ORDER BY t.user',
  ),
  refused(
    'function',
    'a column called user from a CTE, bare',
    'WITH t AS (SELECT payer AS user FROM settlements) SELECT user FROM t',
    'harmless',
  ),
  refused(
    'function',
    'a column called version from a subquery, bare',
    'SELECT version FROM (SELECT 1 AS version)',
    'harmless',
  ),
  refused(
    'function',
    'the first arm of a union names the columns, bare',
    'SELECT user FROM (SELECT 1 AS user UNION ALL SELECT 2)',
    'harmless',
  ),
  refused(
    'function',
    'the second arm of a union does not',
    'SELECT user FROM (SELECT 1 AS a UNION ALL SELECT 2 AS user)',
    'tells',
  ),
  refused('function', 'user as its own alias', 'SELECT user AS user', 'tells'),
  refused('function', 'user in a call as its own alias', 'SELECT upper(user) AS user', 'tells'),
  refused('function', 'user through two aliases', 'SELECT user AS a, a AS user', 'tells'),
  refused('function', 'user beside a subquery that declares it', 'SELECT user, (SELECT 1 AS user)', 'tells'),
  refused(
    'function',
    'user beside a lambda that declares it',
    'SELECT arrayMap(user -> user, [1]), user',
    'tells',
  ),
  refused(
    'function',
    'user beside an alias in a lambda',
    'SELECT arrayMap(x -> (x AS user), [1]), user',
    'tells',
  ),
  refused('function', 'user from a table called user', 'SELECT user FROM numbers(1) AS user', 'tells'),
  refused('function', 'user from a CTE called user', 'WITH user AS (SELECT 1) SELECT user', 'tells'),
  refused('function', 'user from a lambda called user', 'WITH x -> x AS user SELECT user', 'tells'),
  refused(
    'function',
    'user from a CTE that is not read',
    'SELECT user FROM (WITH q AS (SELECT 5 AS user) SELECT 1 AS b) AS z',
    'tells',
  ),
  refused('function', 'user beside REPLACE', 'SELECT * REPLACE (1 AS a), user FROM (SELECT 1 AS a)', 'tells'),
  refused(
    'function',
    'user where a CTE of a public table’s name has it elsewhere',
    'SELECT user FROM facilitators WHERE (WITH facilitators AS (SELECT 1 AS user) SELECT count() FROM facilitators) = 0',
    'harmless',
  ),
];
