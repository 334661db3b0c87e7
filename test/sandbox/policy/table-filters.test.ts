import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readTableFilters } from '../../../sandbox/policy/table-filters.ts';

test.each([
  ['{}', []],
  [" { 'a' : 'x = 1' } ", [['a', 'x = 1']]],
  [
    "{'a':'x = \\'1\\'','b.c':'y'}",
    [
      ['a', "x = '1'"],
      ['b.c', 'y'],
    ],
  ],
  ["{'a':'x = ''1'''}", [['a', "x = '1'"]]],
  ["{'a':'\\d \\\\ '}", [['a', '\\d \\ ']]],
])('%s', (value, filters) => {
  expect(readTableFilters(value)).toEqual(filters);
});

test.each(['', '{', "{'a'}", "{'a':1}", "{'a':'b'", "{'a':'b'} x", "{'a':'b',}", "{'a':'b\\'}", '{"a":"b"}'])(
  '%s is no map of texts',
  (value) => {
    expect(readTableFilters(value)).toBeNull();
  },
);

test('every condition comes back as it was, however it is quoted', () => {
  const escaped = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  fc.assert(
    fc.property(fc.string({ maxLength: 60 }), fc.string({ maxLength: 60 }), (table, condition) => {
      expect(readTableFilters(`{${escaped(table)}: ${escaped(condition)}}`)).toEqual([[table, condition]]);
    }),
  );
});
