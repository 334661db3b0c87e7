import { describe, expect, it } from 'vitest';
import { findPlaceholders, fragmentOf, readFragment, valuesFor } from '../../../console/sql/query-text.ts';

describe('placeholders', () => {
  it('are found once each, outside strings and comments', () => {
    const sql = `SELECT {wallet:String}, '{no:String}', {n : UInt8} -- {no:Int8}\n/* {no:Int8} */ WHERE a = {wallet:String}`;
    expect(findPlaceholders(sql)).toEqual([
      { name: 'wallet', type: 'String' },
      { name: 'n', type: 'UInt8' },
    ]);
  });

  it('keep the names of an Enum, which stand in quotes', () => {
    const type = "Enum8('head' = 1, 'it''s' = 2)";
    expect(findPlaceholders(`SELECT {state: ${type} }`)).toEqual([{ name: 'state', type }]);
  });

  it('take only the values that the query uses', () => {
    expect(valuesFor('SELECT {a:String}', { a: '1', b: '2' })).toEqual({ a: '1' });
  });
});

describe('a shared link', () => {
  it('restores the query, its tier and its values', () => {
    const question = { sql: "SELECT '+&#%\n é'", tier: 'extended', params: { 'a b': '0x1&', c: '' } };
    expect(readFragment(fragmentOf(question))).toEqual({ ...question, chart: null });
    expect(readFragment(fragmentOf(question, '{"kind":"bar"}'))?.chart).toBe('{"kind":"bar"}');
    expect(readFragment('#main')).toBeNull();
  });
});
