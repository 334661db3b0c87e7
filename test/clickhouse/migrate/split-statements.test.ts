import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { splitStatements } from '../../../clickhouse/migrate/migrations.ts';

describe('a migration is split at the semicolons that end statements', () => {
  test.each([
    ['', []],
    [' ; ;\n', []],
    ['-- only a comment; nothing else', []],
    ['SELECT 1', ['SELECT 1']],
    ['SELECT 1; SELECT 2;', ['SELECT 1', 'SELECT 2']],
    ["SELECT ';'; SELECT 2", ["SELECT ';'", 'SELECT 2']],
    ["SELECT 'it\\'s; fine'; SELECT 2", ["SELECT 'it\\'s; fine'", 'SELECT 2']],
    ["SELECT 'it''s; fine'; SELECT 2", ["SELECT 'it''s; fine'", 'SELECT 2']],
    ['SELECT `a;b`, "c;d"; SELECT 2', ['SELECT `a;b`, "c;d"', 'SELECT 2']],
    ['SELECT 1 -- why; because\n, 2; SELECT 3', ['SELECT 1  \n, 2', 'SELECT 3']],
    ['SELECT /* a; b */ 1; SELECT 2', ['SELECT   1', 'SELECT 2']],
    ["SELECT '-- no comment'; SELECT 2", ["SELECT '-- no comment'", 'SELECT 2']],
    ["SELECT '/*'; SELECT '*/'", ["SELECT '/*'", "SELECT '*/'"]],
    ["-- don't stop here\nSELECT 1; SELECT 2", ['SELECT 1', 'SELECT 2']],
    ['SELECT 6 / 3 - 1; SELECT 2', ['SELECT 6 / 3 - 1', 'SELECT 2']],
  ])('%j', (script, statements) => {
    expect(splitStatements(script)).toEqual(statements);
  });

  test('whatever the quoted text holds', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 }), (contents) => {
        const statements = contents.map(
          (content) => `SELECT '${content.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`,
        );
        expect(splitStatements(`${statements.join(';\n-- it;\n')};`)).toEqual(statements);
      }),
    );
  });
});
