import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { axisKindOf, completeSpec, guessSpec, numberColumns } from '../../../console/chart/guess.ts';
import {
  CHART_KINDS,
  type ChartData,
  type ChartSpec,
  readSpec,
  writeSpec,
} from '../../../console/chart/spec.ts';

/** Data from a header of `name:Type` and rows. */
function data(header: string, rows: readonly (readonly unknown[])[]): ChartData {
  const columns = header.split(' ').map((column) => {
    const [name = '', type = ''] = column.split(':');
    return { name, type };
  });
  return { columns, rows };
}

const DAILY = data(
  'day:Date facilitator:LowCardinality(Nullable(String)) payments:UInt64 usd:Decimal(38,6)',
  [
    ['2026-11-01', 'coinbase', '4', '1.5'],
    ['2026-11-01', 'payAI', '2', '0.5'],
    ['2026-11-02', 'coinbase', '5', '2.5'],
    ['2026-11-02', null, '1', '0.1'],
  ],
);

describe('the guess', () => {
  it('day and facilitator are one line for each facilitator', () => {
    expect(guessSpec(DAILY)).toMatchObject({ kind: 'line', x: 'day', y: ['usd'], by: 'facilitator' });
  });

  it('days that do not repeat are one line, even next to a name', () => {
    const once = data('day:Date best:String usd:Float64', [
      ['2026-11-01', 'a', 1],
      ['2026-11-02', 'b', 2],
    ]);
    expect(guessSpec(once)).toMatchObject({ kind: 'line', x: 'day', y: ['usd'], by: null });
  });

  it('of two names that could split, the one with fewer values does', () => {
    const rows = ['a', 'b', 'c'].flatMap((payee) =>
      ['x', 'y'].map((chain) => ['2026-11-01', payee, chain, 1]),
    );
    expect(guessSpec(data('day:Date payee:String chain:String usd:Float64', rows))?.by).toBe('chain');
  });

  it('texts that are all dates are times', () => {
    const text = data('month:String usd:Float64', [
      ['2026-10', 1],
      ['2026-11', 2],
    ]);
    expect([axisKindOf(text, 0), guessSpec(text)?.kind]).toEqual(['time', 'line']);
  });

  it('names are bars, pairs of names a heatmap, pairs of numbers points', () => {
    const pairs = data('chain:String hour:String payments:UInt64', [
      ['a', '01', 1],
      ['a', '02', 2],
      ['b', '01', 3],
    ]);
    expect(guessSpec(data('payee:String usd:Float64', [['a', 1]]))?.kind).toBe('bar');
    expect(guessSpec(pairs)).toMatchObject({ kind: 'heatmap', x: 'chain', by: 'hour' });
    const points = data('a:Int32 b:Int32', [
      [1, 2],
      [2, 3],
    ]);
    expect(guessSpec(points)).toMatchObject({ kind: 'scatter', x: 'a', y: ['b'] });
  });

  it('hours against days of the week, or against dates, are a heatmap', () => {
    const grid = [1, 2].flatMap((day) => [0, 1].map((hour) => [day, hour, 5]));
    expect(guessSpec(data('weekday:UInt8 hour:UInt8 settlements:UInt64', grid))).toMatchObject({
      kind: 'heatmap',
      x: 'hour',
      y: ['settlements'],
      by: 'weekday',
    });
    const dates = grid.map(([day, hour, count]) => [`2026-11-0${day}`, hour, count]);
    expect(guessSpec(data('day:Date hour:UInt8 settlements:UInt64', dates))).toMatchObject({
      kind: 'heatmap',
      x: 'day',
      by: 'hour',
    });
    const hours = [
      [0, 4],
      [1, 5],
    ];
    expect(guessSpec(data('hour:UInt8 usd:Float64', hours))).toMatchObject({
      kind: 'bar',
      x: 'hour',
      y: ['usd'],
    });
  });

  it('one row of few numbers is a number card, without the columns of the period before', () => {
    expect(guessSpec(data('usd:Decimal(38,6)', [['5']]))).toMatchObject({ kind: 'number', y: ['usd'] });
    expect(guessSpec(data('usd:Decimal(38,6) usd_before:Decimal(38,6)', [['5', '4']]))).toMatchObject({
      kind: 'number',
      y: ['usd'],
    });
    expect(guessSpec(data('a:Int8 b:Int8 c:Int8 d:Int8 e:Int8', [[1, 2, 3, 4, 5]]))?.kind).not.toBe('number');
    expect(guessSpec(data('payee:String usd:Float64', [['a', 1]]))?.kind).toBe('bar');
  });

  it('without rows or without numbers there is nothing to draw', () => {
    expect(guessSpec({ ...DAILY, rows: [] })).toBeNull();
    expect(guessSpec(data('name:String', [['a']]))).toBeNull();
    expect(completeSpec(data('name:String', [['a']]), { kind: 'bar' })).toBeNull();
  });
});

const anySpec: fc.Arbitrary<Partial<ChartSpec>> = fc.record(
  {
    kind: fc.constantFrom(...CHART_KINDS),
    x: fc.constantFrom('day', 'facilitator', 'usd', 'gone'),
    y: fc.subarray(['payments', 'usd', 'gone', 'day']),
    by: fc.constantFrom('facilitator', 'day', 'gone', null),
    right: fc.subarray(['payments', 'usd', 'gone']),
    isLog: fc.boolean(),
    isZeroBased: fc.boolean(),
    isGrouped: fc.boolean(),
  },
  { requiredKeys: [] },
);

describe('a completed choice', () => {
  it('names only columns that exist, draws numbers, and never splits by its own axis', () => {
    const names = DAILY.columns.map(({ name }) => name);
    fc.assert(
      fc.property(anySpec, (chosen) => {
        const spec = completeSpec(DAILY, chosen);
        if (spec === null) throw new Error('DAILY can always be drawn');
        expect(names).toContain(spec.x);
        expect(spec.y.length).toBeGreaterThan(0);
        for (const name of spec.y) expect(numberColumns(DAILY)).toContain(name);
        expect(spec.by === null || (names.includes(spec.by) && spec.by !== spec.x)).toBe(true);
        expect(spec.right.every((name) => spec.y.includes(name)) && spec.right.length < spec.y.length).toBe(
          true,
        );
      }),
    );
  });

  it('is complete: completing it again changes nothing', () => {
    fc.assert(
      fc.property(anySpec, (chosen) => {
        const spec = completeSpec(DAILY, chosen);
        expect(completeSpec(DAILY, spec ?? {})).toEqual(spec);
      }),
    );
  });

  it('is read from a link of any version: fields that it does not know are left out, and those it lacks are guessed', () => {
    const old =
      '{"kind":"stacked","x":"day","y":["usd"],"by":"facilitator","right":[],"isLog":false,"isZeroBased":true}';
    expect(completeSpec(DAILY, readSpec(old))).toMatchObject({
      kind: 'stacked',
      by: 'facilitator',
      isGrouped: true,
    });
    expect(readSpec('{"kind":"pie","x":4,"colour":"red","isGrouped":false}')).toEqual({ isGrouped: false });
    expect(readSpec('[')).toEqual({});
    fc.assert(
      fc.property(anySpec, (chosen) => {
        const spec = completeSpec(DAILY, chosen);
        if (spec === null) throw new Error('DAILY can always be drawn');
        expect(readSpec(writeSpec(spec))).toEqual(spec);
      }),
    );
  });

  it('keeps what the visitor chose where the data has it', () => {
    expect(completeSpec(DAILY, { kind: 'stacked', y: ['payments'], by: null })).toMatchObject({
      kind: 'stacked',
      x: 'day',
      y: ['payments'],
      by: null,
    });
  });
});
