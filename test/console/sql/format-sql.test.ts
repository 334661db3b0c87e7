import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatSql, sameTokens } from '../../../console/sql/format-sql.ts';
import { docsQuestions } from '../../kit/docs-questions.ts';

it('lays out every worked question without changing a token, and leaves its own layout as it is', () => {
  for (const { number, sql } of docsQuestions()) {
    const text = formatSql(sql);
    expect(text === null ? null : sameTokens(text, sql), `question ${number}`).toBe(true);
    expect(formatSql(text ?? ''), `question ${number}`).toBe(text);
  }
});

it('refuses what it cannot lay out without a change, in place of changing it', () => {
  expect(formatSql("SELECT 'a  b', {x : String}, t.1, a -> a <= 1 -- why\nFROM t")).toContain("'a  b'");
  expect(formatSql("SELECT 'not closed")).toBeNull();
});

it('tells texts apart that differ in more than white space', () => {
  const same = 'SELECT a.1, b <= 2 /* x\n  y */';
  expect(sameTokens(same, 'SELECT\n  a.1,\n  b <= 2 /* x y */')).toBe(true);
  for (const other of [
    'SELECT a .1, b <= 2 /* x y */',
    'SELECT a.1, b < = 2 /* x y */',
    'select a.1, b <= 2 /* x y */',
  ])
    expect(sameTokens(same, other), other).toBe(false);
  expect(sameTokens("SELECT 'a b'", "SELECT 'a  b'")).toBe(false);
  expect(sameTokens('SELECT - -1', 'SELECT --1')).toBe(false);
});

it('tells any two texts apart that differ in a character other than white space', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      const bare = (text: string): string => text.replace(/\s/g, '');
      fc.pre(bare(a) !== bare(b));
      expect(sameTokens(a, b)).toBe(false);
    }),
  );
});
