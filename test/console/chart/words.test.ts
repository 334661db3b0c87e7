import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spread } from '../../../console/chart/ends.ts';
import { completeSpec, guessSpec } from '../../../console/chart/guess.ts';
import { prepare } from '../../../console/chart/series.ts';
import type { ChartData, ChartSpec } from '../../../console/chart/spec.ts';
import { chartTitle } from '../../../console/chart/titles.ts';
import { canZoom, zoomAfter, zoomBetween, zoomed } from '../../../console/chart/zoom.ts';
import { ON_SOLANA } from '../../kit/rows.ts';

function chart(header: string, rows: ChartData['rows'], chosen: Partial<ChartSpec> = {}) {
  const columns = header.split(' ').map((column) => {
    const [name = '', type = ''] = column.split(':');
    return { name, type };
  });
  const data = { columns, rows };
  const spec = completeSpec(data, chosen);
  if (spec === null) throw new Error('there is nothing to draw');
  return prepare(data, spec);
}

const WEEKS = ['2026-11-02', '2026-11-09', '2026-11-16'].flatMap((week) =>
  ['coinbase', 'payAI'].map((facilitator, at) => [week, facilitator, at + 1]),
);
const SELLER = `0x${'a1'.repeat(20)}`;
const OTHER = `0x${'b2'.repeat(20)}`;

describe('titles', () => {
  it('follow from the columns, and a time is called after its distance', () => {
    expect(chartTitle(chart('bucket:Date facilitator:String usd:Float64', WEEKS))).toBe(
      'Volume by facilitator by week',
    );
    const hours = [0, 1].flatMap((hour) => [1, 2].map((day) => [day, hour, 5]));
    expect(chartTitle(chart('weekday:UInt8 hour:UInt8 payments:UInt64', hours))).toBe(
      'Payments by hour and weekday',
    );
    expect(chartTitle(chart('usd:Float64 payments:UInt64', [[5, 6]]))).toBe('Volume and payments');
  });
});

describe('names', () => {
  it('of facilitators, chains and tokens stand for their ids', () => {
    const names = (header: string, ids: readonly string[]): readonly string[] =>
      chart(
        header,
        ids.map((id, at) => [id, at + 1]),
      ).x.labels;
    expect(names('facilitator:String usd:Float64', ['payAI', 'own'])).toEqual(['PayAI', 'own']);
    expect(names('chain:String usd:Float64', ['eip155:8453', 'eip155:1337'])).toEqual([
      'Base',
      'eip155:1337',
    ]);
    const usdc = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913';
    const polygon = '0x3c499c542cef5e3811e1192ce70d8cc03d5c3359';
    // Two ids are never one name.
    expect(names('asset:String usd:Float64', [usdc, polygon, ON_SOLANA.usdc])).toEqual([
      'USDC',
      'USDC 0x3c49…3359',
      'USDC EPjFWd…Dt1v',
    ]);
  });

  it('of wallets are taken from a column of names beside them, which is no split of its own', () => {
    const rows = [
      ['2026-11-01', SELLER, 'Weather desk', 5],
      ['2026-11-01', OTHER, null, 3],
      ['2026-11-02', SELLER, 'Weather desk', 4],
    ];
    const drawn = chart('day:Date payee:String payee_name:Nullable(String) usd:Float64', rows);
    expect([drawn.spec.by, drawn.series.map(({ name }) => name)]).toEqual(['payee', ['Weather desk', OTHER]]);
  });

  it('that differ for one wallet name nothing', () => {
    const rows = [
      [SELLER, 'Weather desk', 5],
      [SELLER, 'Maps', 3],
    ];
    expect(chart('payee:String name:String usd:Float64', rows, { x: 'payee', by: null }).x.labels).toEqual([
      SELLER,
    ]);
  });

  it('of hours and days of the week are words, in their own order', () => {
    const rows = [7, 1, 3].flatMap((weekday) => [9, 14].map((hour) => [weekday, hour, weekday * hour]));
    const drawn = chart('weekday:UInt8 hour:UInt8 payments:UInt64', rows);
    expect(drawn.series.map(({ name }) => name)).toEqual(['Mon', 'Wed', 'Sun']);
    expect(drawn.x.labels).toEqual(['09:00', '14:00']);
  });
});

describe('a heatmap of hours', () => {
  it('has a day along x and a row for each hour of the day', () => {
    const rows = ['2026-11-01 00:00:00', '2026-11-01 13:00:00', '2026-11-02 13:00:00'].map((hour, at) => [
      hour,
      at + 1,
    ]);
    const drawn = chart('hour:DateTime payments:UInt64', rows, { kind: 'heatmap' });
    expect(drawn.x.labels).toEqual(['1 Nov 2026', '2 Nov 2026']);
    expect(drawn.series.map(({ name, values }) => [name, values])).toEqual([
      ['00:00', [1, null]],
      ['13:00', [2, 3]],
    ]);
    expect(
      guessSpec({
        columns: [
          { name: 'hour', type: 'DateTime' },
          { name: 'n', type: 'Int8' },
        ],
        rows,
      })?.kind,
    ).toBe('line');
  });
});

describe('labels at the ends of lines', () => {
  it('are a gap apart and in their room, in the order of the lines', () => {
    const room = { gap: 20, top: 0, bottom: 300 };
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -50, max: 350 }), { minLength: 1, maxLength: 8 }), (wanted) => {
        const placed = spread(wanted, room);
        const sorted = [...placed].sort((a, b) => a - b);
        expect(sorted[0]).toBeGreaterThanOrEqual(-1e-6);
        expect(sorted.at(-1)).toBeLessThanOrEqual(300 + 1e-6);
        const gaps = sorted.slice(1).map((y, at) => y - (sorted[at] ?? 0));
        expect(gaps.every((gap) => gap > 20 - 1e-6)).toBe(true);
        const order = wanted.map((_y, at) => at).sort((a, b) => (wanted[a] ?? 0) - (wanted[b] ?? 0));
        expect(order.map((at) => placed[at])).toEqual(sorted);
      }),
    );
    expect(spread([10, 100], room)).toEqual([10, 100]);
    expect(spread([100, 100], room)).toEqual([90, 110]);
  });
});

describe('zoom', () => {
  const drawn = chart('week:Date facilitator:String usd:Float64', WEEKS);
  const places = drawn.x.places;

  it('shows the places of a range alone, with what belongs to them', () => {
    const zoom = zoomBetween(places, [(places[1] ?? 0) - 1, (places[2] ?? 0) + 1]);
    expect(zoom).toEqual({ from: 1, to: 2 });
    const part = zoomed(drawn, zoom);
    expect([part.x.labels, part.series.map(({ values }) => values.length)]).toEqual([
      ['9 Nov 2026', '16 Nov 2026'],
      [2, 2],
    ]);
    expect(zoomed(drawn, null)).toBe(drawn);
  });

  it('one place is no range, and the whole is no zoom', () => {
    expect(zoomBetween(places, [(places[1] ?? 0) - 1, (places[1] ?? 0) + 1])).toBeNull();
    expect(zoomBetween(places, [0, Number.MAX_SAFE_INTEGER])).toBeNull();
  });

  it('is there along times and numbers, not along names', () => {
    expect(canZoom(drawn)).toBe(true);
    expect(
      canZoom(
        chart('payee:String usd:Float64', [
          ['a', 1],
          ['b', 2],
          ['c', 3],
        ]),
      ),
    ).toBe(false);
  });

  it('keys stay inside the chart, and minus leads back to all of it', () => {
    const keys = fc.constantFrom('+', '-', 'ArrowLeft', 'ArrowRight', 'Escape');
    fc.assert(
      fc.property(fc.integer({ min: 3, max: 200 }), fc.array(keys), (count, pressed) => {
        let zoom = zoomAfter('+', null, count) ?? null;
        for (const key of pressed) zoom = zoomAfter(key, zoom, count) ?? null;
        if (zoom !== null) {
          expect(zoom.from).toBeGreaterThanOrEqual(0);
          expect(zoom.to).toBeLessThan(count);
          expect(zoom.to - zoom.from).toBeGreaterThanOrEqual(1);
        }
        for (let at = 0; at < 10; at += 1) zoom = zoomAfter('-', zoom, count) ?? null;
        expect(zoom).toBeNull();
      }),
    );
    expect(zoomAfter('a', null, 30)).toBeUndefined();
    expect(zoomAfter('+', null, 30)).toEqual({ from: 7, to: 21 });
  });
});
