import { h } from 'preact';
import { describe, expect, it } from 'vitest';
import { Money } from '../../../console/components/money.tsx';
import { Sparkline, type SparkPoint } from '../../../console/components/sparkline.tsx';
import { Change, Stat } from '../../../console/components/stat.tsx';
import { Time } from '../../../console/components/time.tsx';
import { moneyText } from '../../../console/format.ts';
import { elementsOf, htmlOf, textOf } from '../../kit/drawn.ts';

describe('an amount of dollars', () => {
  const shown = (props: Parameters<typeof Money>[0]): [text: string, title: string | undefined] => {
    const html = htmlOf(h(Money, props));
    return [textOf(html), /title="([^"]*)"/.exec(html)?.[1]];
  };

  it('is rounded to the eye and whole in its title', () => {
    expect(shown({ usd: 1284.029999 })).toEqual(['$1,284.03', '$1,284.029999']);
    expect(shown({ usd: '12345678901234567890.123456' })).toEqual([
      '$12,345,678,901,234,567,890.12',
      '$12,345,678,901,234,567,890.123456',
    ]);
    expect(shown({ usd: -3_500_001n })).toEqual(['-$3.50', '-$3.500001']);
  });

  it('is short on a tile from a thousand dollars on, and whole in its title all the same', () => {
    expect(shown({ usd: '34127483.27', isShort: true })).toEqual(['$34.1M', '$34,127,483.27']);
    expect(shown({ usd: -1_500, isShort: true })).toEqual(['-$1.5k', '-$1,500.00']);
    expect(shown({ usd: 999.99, isShort: true })[0]).toBe('$999.99');
  });

  it('is copied with every digit, without its note', () => {
    const html = htmlOf(h(Money, { usd: 1284.029999, note: '1284029999 atomic units of USDC' }));
    expect(html).toContain('title="$1,284.029999 · 1284029999 atomic units of USDC"');
    expect(html).toContain('data-exact="$1,284.029999"');
  });
});

describe('a change', () => {
  const change = (share: number | null): string => htmlOf(h(Change, { share, since: 'the 7 days before' }));

  it('has a sign and a colour that say the same', () => {
    expect([textOf(change(0.124)), change(0.124).includes('good')]).toEqual(['+12%', true]);
    expect([textOf(change(-0.034)), change(-0.034).includes('bad')]).toEqual(['−3.4%', true]);
    expect([textOf(change(0)), change(0).includes('muted')]).toEqual(['0%', true]);
    expect(change(0)).toContain('title="Compared with the 7 days before"');
  });

  it('from nothing is new and not infinite', () => {
    expect(textOf(change(null))).toBe('new');
    expect(change(null)).toContain('title="Nothing in the 7 days before"');
  });

  it('is not said of a figure that is being read', () => {
    const html = htmlOf(
      h(Stat, { name: 'Settled', change: 0.5, isLoading: true, note: 'in the last 30 days' }),
    );
    expect(textOf(html)).toBe('Settled in the last 30 days');
    expect(html).toContain('aria-busy="true"');
  });
});

describe('a line over time', () => {
  const day = (label: string, value: number | null, isOpen = false): SparkPoint => ({ label, value, isOpen });
  const line = (...points: SparkPoint[]): string =>
    htmlOf(h(Sparkline, { name: 'Settled per day', points, format: moneyText }));
  const linesOf = (html: string): string[] =>
    [...html.matchAll(/class="sparkline-line[^"]*" d="([^"]*)"/g)].map(([, path = '']) => path);

  it('draws the day that is not over apart from the others, and says that its figure is so far', () => {
    const html = line(day('19', 4), day('20', 8), day('21', 1, true));
    const [over = '', open = ''] = linesOf(html);
    expect(html).toContain('class="sparkline-line is-open"');
    // The unfinished part begins where the finished one ends.
    expect(over.split('L').at(-1)).toBe(open.slice(1).split('L')[0]);
    expect(elementsOf(html, 'class="sparkline-hit"').map(textOf)).toEqual([
      '19: $4.00',
      '20: $8.00',
      '21: $1.00 so far',
    ]);
    expect(html).toContain('to $1.00 (21, so far), lowest $1.00 (21, so far), highest $8.00 (20)"');
  });

  it('draws no unfinished part where every day is over', () => {
    expect(line(day('19', 4), day('20', 8))).not.toContain('is-open');
  });

  it('has a gap where a day has no value, instead of a zero', () => {
    const [path = ''] = linesOf(line(day('1', 1), day('2', 2), day('3', null), day('4', 3), day('5', 1)));
    expect(path.match(/M/g)).toHaveLength(2);
    expect(path.match(/L/g)).toHaveLength(2);
  });

  it('begins at zero, or at the lowest value below it', () => {
    const heights = (html: string): number[] =>
      [...(linesOf(html)[0] ?? '').matchAll(/[ML][\d.]+ ([\d.]+)/g)].map(([, y]) => Number(y));
    const [ten, twenty] = heights(line(day('1', 10), day('2', 20)));
    expect([ten, twenty]).toEqual([12, 3]);
    expect(heights(line(day('1', -10), day('2', 10)))).toEqual([21, 3]);
  });

  it('needs two values', () => {
    expect(textOf(line(day('1', 5)))).toBe('–');
    expect(textOf(line(day('1', 5), day('2', null)))).toBe('–');
  });
});

describe('a time', () => {
  it('is in UTC, whole in its title where it says how long ago it was', () => {
    const at = new Date(Date.now() - 3 * 3_600_000).toISOString();
    const html = htmlOf(h(Time, { at, ago: true }));
    expect(textOf(html)).toBe('3 h ago');
    expect(html).toContain(`title="${at.slice(0, 19).replace('T', ' ')} UTC"`);
    expect(textOf(h(Time, { at: '2026-11-20T09:15:04Z' }))).toBe('2026-11-20 09:15:04 UTC');
  });

  it('that the clock of the visitor has not reached yet is now, not negative', () => {
    expect(textOf(h(Time, { at: new Date(Date.now() + 60_000).toISOString(), ago: true }))).toBe('0 s ago');
  });
});
