import { describe, expect, it } from 'vitest';
import { filteredOrder, sortedOrder } from '../../../console/sql/row-order.ts';

/** The values of one column in the order that the grid shows them in. */
function sorted(values: readonly unknown[], descending = false): unknown[] {
  const rows = values.map((value) => [value]);
  return sortedOrder(rows, { column: 0, descending }, 'number').map((index) => values[index]);
}

describe('rows', () => {
  it('are compared digit by digit, where floats would lose digits', () => {
    expect(sorted(['9007199254740993', '9007199254740992'])).toEqual([
      '9007199254740992',
      '9007199254740993',
    ]);
    expect(sorted(['0.000002', '0.0000010', '-2', '-10.5'])).toEqual([
      '-10.5',
      '-2',
      '0.0000010',
      '0.000002',
    ]);
  });

  it('are compared as floats where the column has such, NaN last', () => {
    expect(sorted(['nan', 'inf', '5', 1e-9, '-inf', 2])).toEqual(['-inf', 1e-9, 2, '5', 'inf', 'nan']);
  });

  it('are sorted with NULL last in both directions, and equal rows keep their order', () => {
    const rows = [
      [null, 'a'],
      ['2', 'b'],
      ['10', 'c'],
      ['2.0', 'd'],
    ];
    expect(sortedOrder(rows, { column: 0, descending: false }, 'number')).toEqual([1, 3, 2, 0]);
    expect(sortedOrder(rows, { column: 0, descending: true }, 'number')).toEqual([2, 1, 3, 0]);
    expect(sortedOrder(rows, null, 'number')).toEqual([0, 1, 2, 3]);
  });
});

describe('a filter', () => {
  const result = {
    columns: [
      { name: 'payee', type: 'Nullable(String)' },
      { name: 'usd', type: 'Decimal(38, 6)' },
      { name: 'at', type: 'DateTime' },
    ],
    rows: [
      ["it's", '1234.500000', '2026-11-20T12:00:00Z'],
      [null, '9', '2026-11-21T12:00:00Z'],
    ],
  };
  const shown = (text: string, column: number | null = null) =>
    filteredOrder(result, [1, 0], { column, text });

  it.each([
    ['IT', null, [0]],
    ['1,234.5', null, [0]],
    ['2026-11-20 12', null, [0]],
    ['20T12', null, [0]],
    ['null', 0, [1]],
    [',', null, []],
    ['', null, [1, 0]],
  ] as const)('finds %j as it is shown and as it was sent', (text, column, rows) => {
    expect(shown(text, column)).toEqual(rows);
  });

  it.each([
    ['> 9', 1, [0]],
    ['>= 9', 1, [1, 0]],
    ['= 1,234.5', 1, [0]],
    ['< .5', 1, []],
    ['> x', 1, []],
    ['>= 2026-11-21', 2, [1]],
    ["!= it's", 0, []],
  ] as const)('compares %j exactly', (text, column, rows) => {
    expect(shown(text, column)).toEqual(rows);
  });
});
