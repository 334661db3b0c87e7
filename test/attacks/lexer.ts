import { type Attack, harmless, refused, sql } from './attack.ts';

/** Texts that look like one thing to a reader and another to the engine's lexer. */

const tick = '`';
const table = (what: string, text: string, raw: Attack['raw'] = 'denied') =>
  refused('unknown_table', what, text, raw);
const syntax = (what: string, text: string, raw: Attack['raw'] = 'denied') =>
  refused('syntax', what, text, raw);

export const lexer: readonly Attack[] = [
  table(
    'nested comments, of which only the outermost ends',
    '/* /* */ SELECT 1 /* */ */ SELECT * FROM vault.secrets',
  ),
  table('a comment with --', '-- SELECT 1\nSELECT * FROM vault.secrets'),
  table('a comment with #', '# SELECT 1\nSELECT * FROM vault.secrets'),
  table('a comment with #!', '#!SELECT 1\nSELECT * FROM vault.secrets'),
  table('a comment without a space', '--SELECT 1\nSELECT * FROM vault.secrets'),
  table('a comment in the middle of a name’s path', 'SELECT * FROM vault/* */./* */secrets'),
  table('a comment with a carriage return', '-- x\r\nSELECT * FROM vault.secrets'),
  table('a comment that a line separator does not end', '-- x\u2028 SELECT 1\nSELECT * FROM vault.secrets'),
  harmless(
    'a comment that a carriage return alone does not end',
    'all of it is a comment',
    'SELECT 1 -- x\r, (SELECT s FROM vault.secrets)',
  ),
  harmless(
    'a hostile comment',
    'comments are gone before anything is looked at',
    'SELECT 1 -- FROM vault.secrets',
  ),
  harmless(
    'directives of a test client',
    'they are comments to the engine’s server',
    'SELECT 1 -- { echoOn }\n-- { serverError 60 }',
  ),
  harmless('a hint', 'it is a comment', 'SELECT /*+ SET_VAR(readonly=0) */ 1'),
  harmless(
    'an executable comment of MySQL',
    'it is a comment',
    'SELECT 1 /*! UNION SELECT s FROM vault.secrets */',
  ),
  syntax('an open comment', 'SELECT 1 /* FROM'),
  syntax('an open nested comment', 'SELECT 1 /* /* */'),
  syntax('an open text', "SELECT 'abc"),
  syntax('an open name', 'SELECT `abc'),
  harmless('an open heredoc', 'without its end it is a name', 'SELECT $x$abc', 'denied'),
  syntax('an em-dash as a minus', 'SELECT 1 — 1 FROM vault.secrets'),
  table('a minus of mathematics', 'SELECT 1 − 1 FROM vault.secrets'),
  table('typographic quotes', 'SELECT ‘ FROM settlements ’ AS a, s FROM vault.secrets'),
  table('typographic double quotes as a name', 'SELECT * FROM vault.“secrets”'),
  table('a no-break space', 'SELECT\u00a0*\u00a0FROM\u00a0vault.secrets'),
  table('an ideographic space', 'SELECT * FROM\u3000vault.secrets'),
  table('a mark at the beginning', '\ufeffSELECT * FROM vault.secrets'),
  syntax('full-width letters', 'ＳＥＬＥＣＴ 1'),
  syntax('a name with look-alike letters', 'SELECT * FROM sеttlements'),
  table('a zero-width space in a name', 'SELECT * FROM settle\u200bments'),
  syntax('a change of direction', 'SELECT 1 \u202e FROM settlements'),
  harmless(
    'a heredoc as a text',
    'it is a literal in the canonical text',
    "SELECT $x$ FROM vault.secrets ' $x$",
  ),
  table('a heredoc around a text, and a table behind it', 'SELECT $a$ $b$ $a$ FROM vault.secrets -- $b$'),
  refused('function', 'a heredoc with a file’s name', 'SELECT file($$%FILE%$$)', 'reads_files'),
  table('an escape in a quoted name', sql`SELECT * FROM ${tick}va\x75lt${tick}.${tick}sec\x72ets${tick}`),
  refused('identifier', 'a doubled quote in a name', 'SELECT * FROM `vau``lt`.secrets'),
  syntax('an escape in a bare name', sql`SELECT * FROM va\x75lt.secrets`),
  refused('nul_byte', 'a NUL byte', 'SELECT 1\0'),
  refused('nul_byte', 'a NUL byte in a text', "SELECT 'a\0b' FROM settlements", 'harmless'),
  refused('nul_byte', 'a NUL byte before a second text', 'SELECT 1\0; SELECT * FROM vault.secrets'),
  harmless('a NUL byte by an escape', 'it is a byte of a value', sql`SELECT 'a\0b'`),
  table('a vertical tab and a form feed', 'SELECT\v*\fFROM vault.secrets'),
  syntax('a semicolon', 'SELECT 1; SELECT * FROM vault.secrets'),
  syntax('a semicolon between comments', 'SELECT 1 /* ; */ ; /* */ DROP TABLE settlements'),
  harmless('a semicolon at the end', 'it ends the one statement', 'SELECT 1;'),
  syntax('a full-width semicolon', 'SELECT 1； SELECT 2'),
  syntax('a delimiter of the console', 'SELECT 1 \\G'),
  syntax('a semicolon before a vertical G', 'SELECT 1 \\G SELECT * FROM vault.secrets'),
  refused('empty', 'nothing', ' \n\t'),
  refused('empty', 'a comment alone', '/* SELECT * FROM vault.secrets */'),
  refused('empty', 'semicolons alone', ';;'),
  refused('function', 'a variable of MySQL', 'SELECT @@version', 'tells'),
  syntax('a session variable of MySQL', 'SELECT @x'),
  table('a trailing comma', 'SELECT s, FROM vault.secrets'),
  syntax('a comma behind a table', 'SELECT s FROM vault.secrets,'),
  syntax('a hexadecimal text that is no name', "SELECT * FROM x'7661756c74'"),
  table('keywords as aliases', 'SELECT 1 select, 2 AS from FROM vault.secrets'),
  table('limit and offset as columns', 'SELECT limit + 1, offset + 1 FROM vault.secrets'),
  harmless('a text that is a query', 'texts are values', "SELECT 'SELECT * FROM vault.secrets'"),
  harmless(
    'line breaks in a text',
    'the tree prints them escaped',
    "SELECT 'a\n  JOIN TREE\n    IDENTIFIER id: 9, identifier: vault.secrets'",
  ),
];
