import { describe, expect, it } from 'vitest';
import { columnWords, isMoney, isSummable } from '../../../console/chart/columns.ts';
import { figuresOf } from '../../../console/chart/figures.ts';

const MONEY = 'Nullable(Decimal(38, 6))';

describe('a number card', () => {
  it('has the value, the value before and the change as a share', () => {
    const columns = [
      { name: 'usd', type: MONEY },
      { name: 'usd_before', type: MONEY },
    ];
    expect(figuresOf({ columns, rows: [['1284031.5', '1000000']] }, { y: ['usd'] })).toEqual([
      {
        name: 'Volume',
        text: '$1.28M',
        exact: '$1,284,031.50',
        before: { text: '$1M', exact: '$1,000,000.00' },
        change: 0.2840315,
      },
    ]);
  });

  it('two figures that do not belong together stand side by side', () => {
    const columns = [
      { name: 'payments', type: 'UInt64' },
      { name: 'organic_usd', type: MONEY },
    ];
    const figures = figuresOf({ columns, rows: [['12345', '0.0125']] }, { y: ['payments', 'organic_usd'] });
    expect(figures.map(({ name, text, change }) => [name, text, change])).toEqual([
      ['Payments', '12,345', undefined],
      ['Organic volume', '$0.0125', undefined],
    ]);
  });

  it('nothing before is no change, and a figure that is missing is a dash', () => {
    const columns = [
      { name: 'sellers', type: 'UInt64' },
      { name: 'previous', type: 'UInt64' },
    ];
    expect(figuresOf({ columns, rows: [['7', '0']] }, { y: ['sellers'] })[0]?.change).toBeNull();
    expect(figuresOf({ columns, rows: [[null, '0']] }, { y: ['sellers'] })[0]?.text).toBe('–');
  });
});

describe('columns', () => {
  it('are named in words', () => {
    const names = [
      'usd',
      'organic_usd',
      'avg_usd',
      'total_usd',
      'payments',
      'count()',
      'block_time',
      'sum(x)',
    ];
    expect(names.map(columnWords)).toEqual([
      'volume',
      'organic volume',
      'average payment',
      'total',
      'payments',
      'count',
      'time',
      'sum(x)',
    ]);
  });

  it('money is known by type or name, and means, shares and distinct counts are not summed', () => {
    expect([isMoney({ name: 'x', type: MONEY }), isMoney({ name: 'sum(usd)', type: 'Float64' })]).toEqual([
      true,
      true,
    ]);
    const summed = ['usd', 'payments', 'avg_usd', 'median', 'organic_share', 'unique_payers', 'uniq(payer)'];
    expect(summed.filter((name) => isSummable({ name }))).toEqual(['usd', 'payments']);
  });
});
