import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { dateText, timeLabel } from '../../../console/chart/dates.ts';
import { completeSpec } from '../../../console/chart/guess.ts';
import { chartSentence, leftText, shortLabel } from '../../../console/chart/labels.ts';
import { facilitatorColour, UNNAMED_COLOUR } from '../../../console/chart/palette.ts';
import { type Prepared, prepare, SERIES_MAX, stacked, valueText } from '../../../console/chart/series.ts';
import { type Scales, shapesOf, valueRange } from '../../../console/chart/shapes.ts';
import type { ChartData, ChartSpec } from '../../../console/chart/spec.ts';
import { svgText } from '../../../console/chart/svg.ts';

const COLUMNS = [
  { name: 'day', type: 'Date' },
  { name: 'facilitator', type: 'Nullable(String)' },
  { name: 'usd', type: 'Decimal(38, 6)' },
];

function prepared(rows: ChartData['rows'], chosen: Partial<ChartSpec> = {}, columns = COLUMNS): Prepared {
  const data = { columns, rows };
  const spec = completeSpec(data, chosen);
  if (spec === null) throw new Error('there is nothing to draw');
  return prepare(data, spec);
}

const DAILY = [
  ['2026-11-02', 'payAI', '2.000001'],
  ['2026-11-01', 'coinbase', '5'],
  ['2026-11-02', 'coinbase', '7'],
  ['2026-11-01', null, '0.5'],
];

const SCALES: Scales = {
  x: (place) => place,
  y: (value) => -value,
  base: () => 0,
  rowHeight: 10,
  top: 0,
};

describe('series', () => {
  it('there is one for each value of the split, largest first, over all days in order, with gaps where there is no row', () => {
    const { x, series } = prepared(DAILY);
    expect(x.labels).toEqual(['1 Nov 2026', '2 Nov 2026']);
    expect(series.map(({ name, values }) => [name, values])).toEqual([
      ['Coinbase', [5, 7]],
      ['PayAI', [null, 2.000001]],
      ['no name', [0.5, null]],
    ]);
  });

  it('facilitators have the colours of every page, and no name is grey', () => {
    const colours = prepared(DAILY).series.map(({ colour }) => colour);
    expect(colours).toEqual([facilitatorColour('coinbase'), facilitatorColour('payAI'), UNNAMED_COLOUR]);
  });

  it('every digit is under the pointer', () => {
    const [, second] = prepared(DAILY).series;
    expect(second?.texts).toEqual([null, '$2.000001']);
    const exact = prepared([['2026-11-01', 'a', '12345678901234567890.123456']], { by: null }).series[0];
    expect(exact?.texts).toEqual(['$12,345,678,901,234,567,890.123456']);
  });

  it('dollars are written as dollars with every digit, and what is no number as it is', () => {
    expect(['1', '1284.030000', null, 'n/a'].map((value) => valueText(value, true))).toEqual([
      '$1.00',
      '$1,284.03',
      'NULL',
      'n/a',
    ]);
    expect(valueText('1284', false)).toBe('1,284');
  });

  it('no row is lost: the sum of all series is the sum of the column', () => {
    const row = fc.tuple(
      fc.constantFrom('2026-11-01', '2026-11-02', '2026-11-03'),
      fc.constantFrom('a', 'b', 'c', null),
      fc.integer({ min: -1_000, max: 1_000 }),
    );
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1 }),
        fc.constantFrom('line', 'scatter', 'bar', 'stacked'),
        (rows, kind) => {
          const { series } = prepared(rows, { kind, by: 'facilitator' });
          const drawn = series
            .flatMap(({ values }) => values)
            .reduce<number>((sum, value) => sum + (value ?? 0), 0);
          expect(drawn).toBe(rows.reduce((sum, [, , value]) => sum + value, 0));
        },
      ),
    );
  });

  it('the 50 largest are drawn, and the chart says how many are not', () => {
    const rows = Array.from({ length: 60 }, (_, at) => ['2026-11-01', `f${at}`, at + 1]);
    const chart = prepared(rows, { by: 'facilitator', isGrouped: false });
    expect([chart.series.length, chart.left.series, chart.series[0]?.name]).toEqual([SERIES_MAX, 10, 'f59']);
    expect(leftText(chart)).toBe('The 10 smallest series are not drawn.');
  });

  it('of many series the seven largest are drawn, and the sum of the others with their number', () => {
    const rows = Array.from({ length: 20 }, (_, at) => ['2026-11-01', `f${at}`, `${at + 1}.1`]);
    const chart = prepared(rows, { by: 'facilitator' });
    expect([chart.series.length, chart.left.grouped, chart.left.series]).toEqual([8, 13, 0]);
    const other = chart.series.at(-1);
    // 1.1 to 13.1.
    expect([other?.name, other?.values, other?.texts]).toEqual(['Other (13)', [92.3], ['$92.30']]);
    expect(leftText(chart)).toBe('Other is the sum of the 13 smallest.');
    expect(prepared(rows.slice(0, 8), { by: 'facilitator' }).series).toHaveLength(8);
  });

  it('means and shares are not added up: the chart says how many are not drawn', () => {
    const columns = [...COLUMNS.slice(0, 2), { name: 'avg_usd', type: 'Float64' }];
    const rows = Array.from({ length: 20 }, (_, at) => ['2026-11-01', `f${at}`, at + 1]);
    const chart = prepared(rows, { by: 'facilitator' }, columns);
    expect([chart.series.length, leftText(chart)]).toEqual([7, 'The 13 smallest series are not drawn.']);
  });

  it('two series of one colour have different dashes', () => {
    const rows = Array.from({ length: 50 }, (_, at) => ['2026-11-01', `seller ${at}`, at + 1]);
    const columns = COLUMNS.map((column) =>
      column.name === 'facilitator' ? { ...column, name: 'seller' } : column,
    );
    const { series } = prepared(rows, { by: 'seller', isGrouped: false }, columns);
    expect(new Set(series.map(({ colour, dash }) => `${colour} ${dash}`)).size).toBe(series.length);
  });

  it('each edge of a stack lies on the one before it', () => {
    const values = fc.array(fc.option(fc.nat(1_000)), { minLength: 3, maxLength: 3 });
    fc.assert(
      fc.property(fc.array(values, { minLength: 1, maxLength: 6 }), (all) => {
        const layers = stacked(all.map((one) => ({ values: one })));
        for (const [at, { low, high }] of layers.entries()) {
          expect(low).toEqual(layers[at - 1]?.high ?? [0, 0, 0]);
          expect(high.every((height, place) => height >= (low[place] ?? 0))).toBe(true);
        }
        const top = layers.at(-1)?.high[0];
        expect(top).toBe(all.reduce((sum, one) => sum + (one[0] ?? 0), 0));
      }),
    );
  });
});

describe('shapes', () => {
  it('a line is cut at a gap, and a lone value has a mark', () => {
    const rows = [
      ['2026-11-01', 'a', 1],
      ['2026-11-02', 'b', 1],
      ['2026-11-03', 'a', 3],
      ['2026-11-04', 'a', 4],
    ];
    const shapes = shapesOf(prepared(rows, { by: 'facilitator' }), SCALES);
    const line = shapes.find((shape) => shape.kind === 'line');
    expect(line?.runs.map((run) => run.length / 2)).toEqual([1, 2]);
    expect(shapes.some((shape) => shape.kind === 'dot')).toBe(true);
  });

  it('bars of a split are as high together as their sum; the axis reaches it', () => {
    const chart = prepared(DAILY, { kind: 'bar' });
    const heights = shapesOf(chart, SCALES).flatMap((shape) =>
      shape.kind === 'box' ? shape.boxes.filter((_, at) => at % 4 === 3) : [],
    );
    expect(heights.reduce((a, b) => a + b, 0)).toBeCloseTo(14.500001);
    expect(valueRange(chart).most).toBeCloseTo(9.000001);
  });

  it('what a logarithmic axis cannot show is left out, and nothing is infinite', () => {
    const rows = [
      ['2026-11-01', 'a', 0],
      ['2026-11-02', 'a', -4],
      ['2026-11-03', 'a', 100],
    ];
    const chart = prepared(rows, { isLog: true, by: null });
    const shapes = shapesOf(chart, { ...SCALES, y: (value) => (value <= 0 ? null : Math.log10(value)) });
    expect(shapes.flatMap((shape) => (shape.kind === 'line' ? shape.runs : []))).toEqual([
      [Date.parse('2026-11-03') / 1_000, 2],
    ]);
    expect(valueRange(chart).leastPositive).toBe(100);
  });

  it('a cell of a heatmap is the stronger the larger its value', () => {
    const chart = prepared(DAILY, { kind: 'heatmap', by: 'facilitator' });
    const cells = shapesOf(chart, SCALES).flatMap((shape) => (shape.kind === 'box' ? [shape.opacity] : []));
    const values = chart.series.flatMap(({ values: all }) => all.filter((value) => value !== null));
    const byValue = values
      .map((value, at) => ({ value, opacity: cells[at] ?? 0 }))
      .sort((a, b) => a.value - b.value);
    expect(byValue.map(({ opacity }) => opacity)).toEqual([...cells].sort((a, b) => a - b));
    expect([Math.max(...cells) <= 1, Math.min(...cells) > 0]).toEqual([true, true]);
  });
});

describe('words and files', () => {
  it('a sentence describes the drawing', () => {
    expect(chartSentence(prepared(DAILY))).toBe(
      'Line chart of usd by facilitator along day, 2 points: Coinbase from $5.00 (1 Nov 2026) to $7.00 (2 Nov 2026); PayAI from $2.000001 (2 Nov 2026) to $2.000001 (2 Nov 2026); no name from $0.50 (1 Nov 2026) to $0.50 (1 Nov 2026).',
    );
  });

  it('labels are as short as the axis needs', () => {
    expect(shortLabel(`0x${'a'.repeat(40)}`)).toBe('0xaaaa…aaaa');
    const noon = Date.parse('2026-11-20T12:30:00Z') / 1_000;
    expect([60, 86_400, 31 * 86_400, 366 * 86_400].map((every) => timeLabel(noon, every))).toEqual([
      '12:30',
      '20 Nov',
      'Nov 2026',
      '2026',
    ]);
  });

  it('a time has its year, and is in words', () => {
    const texts = ['2026-11-03', '2026-11-03 14:00:00', '2026-11-03T14:00:05Z', '2026-11', 'other'];
    expect(texts.map(dateText)).toEqual([
      '3 Nov 2026',
      '3 Nov 2026, 14:00',
      '3 Nov 2026, 14:00:05',
      'Nov 2026',
      'other',
    ]);
  });

  it('the newest hour or day is drawn as unfinished while it is not over, and only then', () => {
    const days = ['2026-11-18', '2026-11-19', '2026-11-20'].map((day, at) => [day, 'a', at + 1]);
    const noon = Date.parse('2026-11-20T12:00:00Z') / 1_000;
    const { spec } = prepared(days, { by: 'facilitator' });
    const chart = (nowSeconds: number, kind: 'line' | 'bar' = 'bar') =>
      prepare({ columns: COLUMNS, rows: days }, { ...spec, kind }, nowSeconds);
    expect(chart(noon).x.openFrom).toBe(2);
    expect(chart(noon + 86_400).x.openFrom).toBe(3);
    const boxes = shapesOf(chart(noon), SCALES).flatMap((shape) => (shape.kind === 'box' ? [shape] : []));
    expect(boxes.map(({ opacity, boxes: all }) => [opacity < 1, all.length / 4])).toEqual([
      [false, 2],
      [true, 1],
    ]);
    const lines = shapesOf(chart(noon, 'line'), SCALES).flatMap((shape) =>
      shape.kind === 'line' ? [shape.dash] : [],
    );
    expect(lines).toEqual([0, 2]);
    expect(leftText(chart(noon))).toBe('20 Nov 2026 is not over: its figures are so far.');
  });

  it('a file holds every series and no markup of the data', () => {
    const chart = prepared([...DAILY, ['2026-11-01', '<b>&"', '9']], { kind: 'line' });
    const svg = svgText({
      words: { title: 'a < b', source: 'Settlement Index, example.org', date: '28 Nov 2026' },
      width: 400,
      height: 200,
      frame: { left: 0, top: 0, width: 400, height: 200 },
      ticks: { x: [], y: [], right: [] },
      hasGrid: true,
      shapes: shapesOf(chart, SCALES),
      legend: chart.series,
      ends: [],
      colourOf: (css) => css,
    });
    expect(svg.match(/fill="none" stroke="var/g)).toHaveLength(4);
    expect(svg).toContain('&lt;b&gt;&amp;&quot;');
    expect(svg).not.toContain('<b>');
    expect(svg).toMatch(/>Source: Settlement Index, example\.org<.*>28 Nov 2026</);
    expect(svg).not.toMatch(/NaN|Infinity/);
  });
});
