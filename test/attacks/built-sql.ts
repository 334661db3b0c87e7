import { type Attack, refused } from './attack.ts';

/** SQL that is built out of texts, and the engine's words about SQL: parsers, plans, generators, states out of bytes. */

const parses = (what: string, text: string, raw: Attack['raw'] = 'harmless') =>
  refused('function', what, `SELECT ${text}`, raw);

export const builtSql: readonly Attack[] = [
  parses('formatQuery', "formatQuery('SELECT 1')"),
  parses('formatQueryOrNull', "formatQueryOrNull('SELECT')"),
  parses('formatQuerySingleLine', "formatQuerySingleLine('SELECT * FROM vault.secrets')"),
  parses('tokenizeQuery', "tokenizeQuery('SELECT 1')"),
  parses('highlightQuery', "highlightQuery('SELECT 1')"),
  parses('normalizeQuery', "normalizeQuery('SELECT 1')"),
  parses('normalizedQueryHash', "normalizedQueryHash('SELECT 1')"),
  parses('obfuscateQuery', "obfuscateQuery('SELECT secret FROM t')"),
  parses('fuzzQuery', "fuzzQuery('SELECT 1')", 'denied'),
  parses('fuzzBits', "fuzzBits('abc', 0.5)"),
  parses('generateRandomStructure', 'generateRandomStructure(3, 1)'),
  parses('structureToProtobufSchema', "structureToProtobufSchema('a UInt8')"),
  parses('structureToCapnProtoSchema', "structureToCapnProtoSchema('a UInt8')"),
  parses('formatRow', "formatRow('CSV', 1)"),
  parses('formatRow with a schema file', "formatRow('Template', 1)", 'denied'),
  parses('getSubcolumn', "getSubcolumn([1], 'size0')"),
  refused('table_function', 'EXPLAIN as a table', 'SELECT * FROM (EXPLAIN SELECT 1)'),
  refused(
    'table_function',
    'EXPLAIN PLAN of a view',
    'SELECT * FROM (EXPLAIN PLAN SELECT * FROM settlements)',
  ),
  refused('syntax', 'EXPLAIN AST of anything', 'SELECT * FROM (EXPLAIN AST DROP TABLE settlements)'),
  refused(
    'table_function',
    'EXPLAIN as a scalar subquery',
    'SELECT (SELECT groupArray(explain) FROM (EXPLAIN SELECT 1))',
  ),
  refused('table_function', 'EXPLAIN in IN', "SELECT 'x' IN (SELECT explain FROM (EXPLAIN SELECT 1))"),
  refused(
    'table_function',
    'EXPLAIN in a CTE',
    'WITH p AS (SELECT * FROM (EXPLAIN PIPELINE SELECT 1)) SELECT * FROM p',
  ),
  refused('table_function', 'viewExplain', "SELECT * FROM viewExplain('EXPLAIN', '', (SELECT 1))"),
  refused('syntax', 'SHOW as a table', 'SELECT * FROM (SHOW TABLES)'),
  refused('syntax', 'DESCRIBE as a table', 'SELECT * FROM (DESCRIBE settlements)', 'denied'),
  refused('syntax', 'INSERT as a table', 'SELECT * FROM (INSERT INTO settlements SELECT 1)', 'denied'),
  refused(
    'type',
    'a state out of bytes',
    "SELECT CAST(unhex('0101010101010101') AS AggregateFunction(sum, UInt64))",
    'harmless',
  ),
  refused(
    'type',
    'a state out of bytes with ::',
    "SELECT unhex('0101010101010101')::AggregateFunction(sum, UInt64)",
    'harmless',
  ),
  refused(
    'type',
    'a state by a computed type',
    "SELECT CAST(unhex('0101010101010101'), concat('Aggregate', 'Function(sum, UInt64)'))",
    'harmless',
  ),
  refused(
    'type',
    'a state by a type with a comment',
    "SELECT CAST(unhex('0101010101010101'), 'AggregateFunction/**/(sum, UInt64)')",
    'harmless',
  ),
  refused(
    'type',
    'a state by a quoted type',
    "SELECT CAST(unhex('0101010101010101'), '`AggregateFunction`(sum, UInt64)')",
    'harmless',
  ),
  refused(
    'type',
    'a state behind an alias',
    "WITH 'AggregateFunction(sum, UInt64)' AS t SELECT CAST(unhex('0101010101010101'), t)",
    'harmless',
  ),
  refused(
    'type',
    'a state in a tuple',
    "SELECT CAST((unhex('0101010101010101'), 1) AS Tuple(AggregateFunction(sum, UInt64), UInt8))",
    'harmless',
  ),
  refused(
    'type',
    'a state in accurateCast',
    "SELECT accurateCast(unhex('0101010101010101'), 'AggregateFunction(sum, UInt64)')",
    'harmless',
  ),
  refused(
    'type',
    'the default of a state',
    "SELECT defaultValueOfTypeName('AggregateFunction(uniq, String)')",
    'harmless',
  ),
  refused(
    'type',
    'a state in JSON',
    "SELECT JSONExtract('{\"a\": \"x\"}', 'a', 'AggregateFunction(sum, UInt64)')",
    'denied',
  ),
  refused(
    'type',
    'a state in values',
    "SELECT * FROM values('s AggregateFunction(sum, UInt64)', 'x')",
    'denied',
  ),
  refused('function', 'bytes read as another type', "SELECT reinterpret('abcdefgh', 'UInt64')", 'harmless'),
  refused('function', 'a cast of the engine’s own', "SELECT _CAST('1', 'UInt8')", 'harmless'),
];
