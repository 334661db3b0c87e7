import { type Attack, harmless, refused, sql } from './attack.ts';

/** Placeholders: names through them, values that try to break out, wrong types. */

type Params = Readonly<Record<string, string>>;
const refusedWith = (
  code: 'parameter' | 'function' | 'type' | 'unknown_table' | 'table_function' | 'syntax',
  what: string,
  text: string,
  params: Params,
  raw: Attack['raw'] = 'denied',
) => refused(code, what, text, raw, params);
const value = (what: string, text: string, params: Params) =>
  harmless(what, 'it is a value, whatever it holds', text, 'harmless', params);

export const parameters: readonly Attack[] = [
  refusedWith('parameter', 'a table', 'SELECT * FROM {t:Identifier}', { t: 'settlements' }, 'harmless'),
  refusedWith('parameter', 'a raw table', 'SELECT * FROM {d:Identifier}.{t:Identifier}', {
    d: 'vault',
    t: 'secrets',
  }),
  refusedWith('parameter', 'a column', 'SELECT {c:Identifier} FROM settlements', { c: '_database' }, 'tells'),
  refusedWith('parameter', 'an alias', 'SELECT 1 AS {a:Identifier}', { a: 'x' }, 'harmless'),
  refusedWith('parameter', 'a table on the right of IN', "SELECT 'x' IN {t:Identifier}", {
    t: 'vault.secrets',
  }),
  refusedWith('syntax', 'a name in small letters', 'SELECT * FROM {t:identifier}', { t: 'settlements' }),
  refusedWith(
    'parameter',
    'a state',
    'SELECT {s:AggregateFunction(sum, UInt64)}',
    { s: 'aaaaaaaa' },
    'harmless',
  ),
  refusedWith('parameter', 'a state in an array', 'SELECT {s:Array(AggregateFunction(uniq, String))}', {
    s: "['a']",
  }),
  refusedWith('parameter', 'a dynamic value', 'SELECT {d:Dynamic}', { d: '1' }, 'harmless'),
  refusedWith('parameter', 'a missing value', 'SELECT {a:UInt8}', {}),
  refusedWith('parameter', 'a value too many', 'SELECT 1', { a: '1' }, 'harmless'),
  refusedWith('parameter', 'a value by another case', 'SELECT {a:UInt8}', { A: '1' }),
  refusedWith('parameter', 'a value by the prototype', 'SELECT {toString:String}', {}),
  refusedWith(
    'type',
    'a type',
    "SELECT CAST(unhex('0101010101010101'), {t:String})",
    { t: 'AggregateFunction(sum, UInt64)' },
    'harmless',
  ),
  refusedWith('function', 'the name of an aggregate function', 'SELECT arrayReduce({f:String}, [1])', {
    f: 'aggThrow(1)',
  }),
  refusedWith('function', 'the path of a file', 'SELECT file({f:String})', { f: '%FILE%' }, 'reads_files'),
  refusedWith(
    'table_function',
    'the path of a table of a file',
    "SELECT * FROM file({f:String}, 'LineAsString')",
    { f: '%FILE%' },
  ),
  refusedWith(
    'table_function',
    'a structure',
    'SELECT y FROM values({s:String}, 1)',
    { s: "x UInt8, y ALIAS file('%FILE%')" },
    'reads_files',
  ),
  refusedWith('unknown_table', 'a value beside a raw table', 'SELECT {a:UInt8} FROM vault.secrets', {
    a: '1',
  }),
  refusedWith('parameter', 'a text where a number goes', 'SELECT {a:UInt8}', { a: '1 OR 1' }),
  refusedWith('parameter', 'SQL where a number goes', 'SELECT {a:UInt64}', { a: '(SELECT 1)' }),
  refusedWith('parameter', 'a number that is too large', 'SELECT {a:UInt8}', { a: '256x' }),
  refusedWith('parameter', 'an array that is none', 'SELECT {a:Array(UInt8)}', { a: '[1, 2' }),
  refusedWith('parameter', 'a call in an array', 'SELECT {a:Array(String)}', { a: "[file('%FILE%')]" }),
  refusedWith('syntax', 'a type that is none', 'SELECT {a:Wrong}', { a: '1' }),
  refusedWith('syntax', 'a type with a declaration', 'SELECT {a:UInt8 DEFAULT 1}', { a: '1' }),
  refused('syntax', 'a placeholder without a type', 'SELECT {a}', 'denied', { a: '1' }),
  refused('syntax', 'a placeholder in a placeholder', 'SELECT {{a:UInt8}:UInt8}', 'denied', { a: '1' }),
  value('a quote', 'SELECT {a:String}', { a: "' OR 1 = 1 --" }),
  value('a backslash before a quote', 'SELECT {a:String}', {
    a: sql`\' UNION SELECT s FROM vault.secrets --`,
  }),
  value('a comment', 'SELECT {a:String}', { a: '/* */ -- #' }),
  value('a line of the tree', 'SELECT {a:String} FROM facilitators', {
    a: '\n  JOIN TREE\n    IDENTIFIER id: 4, identifier: vault.secrets',
  }),
  value('an attribute of the tree', 'SELECT {a:String}', { a: 'x, function_name: file' }),
  value('a placeholder', 'SELECT {a:String}', { a: '{b:Identifier}' }),
  value('an array of quotes', 'SELECT {a:Array(String)}', { a: sql`['\'', '] FROM vault.secrets']` }),
  value('a map of quotes', 'SELECT {a:Map(String, String)}', { a: sql`{'k\'':'v'}` }),
  value('a number', 'SELECT number FROM numbers({n:UInt64})', { n: '3' }),
  value('a limit', 'SELECT number FROM numbers(10) LIMIT {n:UInt64}', { n: '2' }),
];
