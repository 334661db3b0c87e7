import { type Attack, harmless, refused } from './attack.ts';

/** Clauses that say where the answer goes, or start another statement beside this one. */

const clause = (what: string, text: string, raw?: Attack['raw']) =>
  refused('forbidden_clause', what, text, raw);

export const outputClauses: readonly Attack[] = [
  clause('INTO OUTFILE', "SELECT 1 INTO OUTFILE '%OUT%'"),
  clause('INTO OUTFILE with a format', "SELECT 1 INTO OUTFILE '%OUT%' FORMAT CSV"),
  clause('INTO OUTFILE, appended', "SELECT 1 INTO OUTFILE '%OUT%' APPEND"),
  clause('INTO OUTFILE, replaced', "SELECT 1 INTO OUTFILE '%OUT%' TRUNCATE"),
  clause('INTO OUTFILE and to us', "SELECT 1 INTO OUTFILE '%OUT%' AND STDOUT"),
  clause('INTO OUTFILE, compressed', "SELECT 1 INTO OUTFILE '%OUT%' COMPRESSION 'gzip' LEVEL 1"),
  clause('INTO OUTFILE with a comment in it', "SELECT 1 INTO/**/OUTFILE '%OUT%'"),
  clause('INTO OUTFILE behind a union', "SELECT 1 UNION ALL SELECT 2 INTO OUTFILE '%OUT%'"),
  clause('INTO OUTFILE behind parentheses', "(SELECT 1) INTO OUTFILE '%OUT%'"),
  clause('INTO OUTFILE in small letters', "select 1 into outfile '%OUT%'"),
  refused('syntax', 'INTO OUTFILE inside', "SELECT * FROM (SELECT 1 INTO OUTFILE '%OUT%')"),
  refused('syntax', 'INTO DUMPFILE', "SELECT 1 INTO DUMPFILE '%OUT%'"),
  refused('syntax', 'INTO a table', 'SELECT 1 INTO vault.secrets'),
  clause('a format that hides the rows', 'SELECT 1 FORMAT Null', 'harmless'),
  clause('a format of another protocol', 'SELECT 1 FORMAT MySQLWire', 'harmless'),
  clause('a format with the engine’s own bytes', 'SELECT 1 FORMAT Native', 'harmless'),
  clause('a format with a schema file', 'SELECT 1 FORMAT Template'),
  clause('a format with a protocol file', 'SELECT 1 FORMAT Protobuf'),
  clause('a format that writes SQL', 'SELECT 1 AS a FORMAT SQLInsert', 'harmless'),
  clause('a format of numbers', 'SELECT 1 AS a FORMAT RowBinary', 'harmless'),
  clause('a format for metrics', "SELECT 'a' AS name, 1. AS value FORMAT Prometheus", 'harmless'),
  clause('a format that is none', 'SELECT 1 FORMAT Nothing'),
  clause('two statements at once', 'SELECT 1 PARALLEL WITH SELECT 2'),
  clause('a query beside DROP', 'SELECT 1 PARALLEL WITH DROP TABLE settlements'),
  harmless('a common format', 'it is dropped: the request says the format', 'SELECT 1 FORMAT JSON'),
  harmless('a common format in quotes', 'it is dropped', 'SELECT 1 FORMAT `CSV`'),
  harmless('a column called format', 'it is no clause', 'SELECT 1 AS format, format + 1'),
  harmless('a column called outfile', 'it is no clause', 'SELECT 1 AS outfile, 2 AS into'),
];
