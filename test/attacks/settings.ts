import { type Attack, harmless, refused } from './attack.ts';

/** SETTINGS at every depth. The engine checks only the outermost (upstream issue 116028): grants must hold without it. */

const settings = (what: string, text: string, raw?: Attack['raw']) => refused('settings', what, text, raw);

export const nestedSettings: readonly Attack[] = [
  settings('at the end', 'SELECT 1 SETTINGS readonly = 0'),
  settings('behind FORMAT', 'SELECT 1 FORMAT JSON SETTINGS readonly = 0'),
  settings('before FORMAT', 'SELECT 1 SETTINGS readonly = 0 FORMAT JSON'),
  settings('in FROM', 'SELECT * FROM (SELECT 1 SETTINGS readonly = 0)', 'harmless'),
  settings('in FROM of FROM', 'SELECT * FROM (SELECT * FROM (SELECT 1 SETTINGS readonly = 0))', 'harmless'),
  settings('in a CTE', 'WITH x AS (SELECT 1 SETTINGS max_execution_time = 0) SELECT * FROM x', 'harmless'),
  settings('in a scalar subquery', 'SELECT (SELECT 1 SETTINGS max_memory_usage = 0)', 'harmless'),
  settings('in IN', 'SELECT 1 IN (SELECT 1 SETTINGS max_rows_to_read = 0)', 'harmless'),
  settings('in EXISTS', 'SELECT EXISTS(SELECT 1 SETTINGS readonly = 0)', 'harmless'),
  settings(
    'in a join',
    'SELECT * FROM numbers(1) AS a JOIN (SELECT 0 AS n SETTINGS join_use_nulls = 1) AS b ON a.number = b.n',
    'harmless',
  ),
  settings('in an arm of a union', '(SELECT 1 SETTINGS readonly = 0) UNION ALL SELECT 2', 'harmless'),
  settings('in a window', 'SELECT sum(1) OVER (ORDER BY (SELECT 1 SETTINGS readonly = 0))', 'harmless'),
  settings('in LIMIT', 'SELECT 1 LIMIT (SELECT 1 SETTINGS readonly = 0)', 'harmless'),
  settings('in a lambda', 'SELECT arrayMap(x -> (SELECT 1 SETTINGS readonly = 0), [1])', 'harmless'),
  settings(
    'in the arguments of numbers',
    'SELECT * FROM numbers((SELECT 1 SETTINGS readonly = 0))',
    'harmless',
  ),
  settings('in the arguments of view', 'SELECT * FROM view(SELECT 1 SETTINGS readonly = 0)', 'harmless'),
  settings(
    'around a host file',
    "SELECT * FROM (SELECT * FROM file('%FILE%', 'LineAsString') SETTINGS readonly = 0)",
  ),
  settings('around a raw table', 'SELECT * FROM (SELECT * FROM vault.secrets SETTINGS readonly = 0)'),
  settings(
    'around another server',
    "SELECT * FROM (SELECT * FROM remote('127.0.0.1:1', system, one) SETTINGS readonly = 0)",
  ),
  settings(
    'around introspection',
    'SELECT * FROM (SELECT addressToLine(1) SETTINGS allow_introspection_functions = 1)',
  ),
  settings(
    'around eval',
    "SELECT * FROM (SELECT * FROM eval('SELECT 1') SETTINGS allow_experimental_eval_table_function = 1)",
    'harmless',
  ),
  settings(
    'around eval of a raw table',
    "SELECT * FROM (SELECT * FROM eval('SELECT s FROM vault.secrets') SETTINGS allow_experimental_eval_table_function = 1)",
  ),
  settings(
    'around eval of a table of a file',
    "SELECT * FROM (SELECT * FROM eval('SELECT * FROM file(''%FILE%'', ''LineAsString'')') SETTINGS allow_experimental_eval_table_function = 1, readonly = 0)",
  ),
  settings('another dialect', "SELECT 1 SETTINGS dialect = 'kusto'"),
  settings(
    'another dialect inside',
    "SELECT * FROM (SELECT 1 SETTINGS dialect = 'prql', allow_experimental_prql_dialect = 1)",
    'harmless',
  ),
  settings(
    'a row filter',
    "SELECT * FROM (SELECT * FROM settlements SETTINGS additional_table_filters = {'settlements': '1'})",
    'harmless',
  ),
  settings(
    'a filter of the result',
    "SELECT * FROM (SELECT 1 SETTINGS additional_result_filter = '1')",
    'harmless',
  ),
  settings('the old analyzer', 'SELECT 1 SETTINGS enable_analyzer = 0'),
  settings('the old analyzer inside', 'SELECT * FROM (SELECT 1 SETTINGS enable_analyzer = 0)', 'denied'),
  settings('the log of queries', "SELECT * FROM (SELECT 1 SETTINGS log_comment = 'x')", 'harmless'),
  settings('a cache of results', 'SELECT 1 SETTINGS use_query_cache = 1'),
  settings('a setting by its default', 'SELECT 1 SETTINGS readonly = DEFAULT', 'harmless'),
  settings(
    'a setting by its default around a raw table',
    'SELECT * FROM vault.secrets SETTINGS readonly = DEFAULT',
  ),
  refused(
    'not_select',
    'INSERT with a setting by its default',
    "INSERT INTO vault.secrets SETTINGS readonly = DEFAULT VALUES ('x')",
  ),
  settings('a quoted name', 'SELECT 1 SETTINGS `readonly` = 0'),
  settings('a custom setting', 'SELECT 1 SETTINGS SQL_x = 1'),
  refused('syntax', 'a setting without a value', 'SELECT 1 SETTINGS readonly'),
  refused('not_select', 'a statement of its own', 'SET readonly = 0'),
  refused('not_select', 'a role', 'SET ROLE NONE', 'harmless'),
  refused('function', 'a setting’s value', "SELECT getSetting('readonly')", 'tells'),
  refused('function', 'a setting’s value or a default', "SELECT getSettingOrDefault('x', 1)", 'tells'),
  refused(
    'function',
    'a setting of the server',
    "SELECT getServerSetting('max_server_memory_usage')",
    'tells',
  ),
  refused('function', 'a setting of MergeTree', "SELECT getMergeTreeSetting('index_granularity')", 'tells'),
  harmless(
    'a column called settings',
    'no name and equals sign follow',
    'SELECT 1 AS settings, settings = 1',
  ),
];
