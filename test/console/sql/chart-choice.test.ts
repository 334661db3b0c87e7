import { describe, expect, it } from 'vitest';
import { chartPoints, chartSummary, chooseChart } from '../../../console/sql/chart-choice.ts';

describe('the default chart', () => {
  const usd = { name: 'usd', type: 'Decimal(38, 6)' };

  it('is over time where there is a time, otherwise over names', () => {
    const day = { name: 'day', type: 'Date' };
    expect(chooseChart({ columns: [usd, day], rows: [['1', '2026-11-01']] })).toEqual({
      kind: 'line',
      x: 1,
      y: [0],
    });
    const payee = { name: 'payee', type: 'String' };
    expect(chooseChart({ columns: [payee, usd], rows: [['a', '1']] })).toEqual({ kind: 'bar', x: 0, y: [1] });
    expect(chooseChart({ columns: [payee], rows: [['a']] })).toBeNull();
  });

  it('has a description in words, and its points sorted by time', () => {
    const result = {
      columns: [{ name: 'day', type: 'Date' }, usd],
      rows: [
        ['2026-11-02', '5.5'],
        ['2026-11-01', null],
        ['2026-11-03', '2'],
      ],
    };
    const choice = { kind: 'line', x: 0, y: [1] } as const;
    const points = chartPoints(result, choice);
    expect(points.map(({ label }) => label)).toEqual(['2026-11-01', '2026-11-02', '2026-11-03']);
    expect(chartSummary(result, choice, points)).toBe(
      'Line chart along day, 3 points: usd from 2 (2026-11-03) to 5.5 (2026-11-02).',
    );
  });
});
