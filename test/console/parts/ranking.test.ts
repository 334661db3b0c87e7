import { h } from 'preact';
import { describe, expect, it, test } from 'vitest';
import {
  changeColumn,
  comparedWindow,
  orderOf,
  RankedAt,
  RankedFigure,
  RankMove,
  RowChange,
  rankingSort,
  Trend,
  VERDICT_COLUMN,
} from '../../../console/parts/ranking.tsx';
import type { RankedRow, Rankings } from '../../../console/wire.ts';
import { elementsOf, htmlOf, textOf } from '../../kit/drawn.ts';
import { wireAddress } from '../../kit/wire-settlements.ts';

const HOUR_SECONDS = 3_600;

function row(fields: Partial<RankedRow> = {}): RankedRow {
  return {
    rank: 3,
    previous_rank: 5,
    wallet: wireAddress(1),
    name: null,
    name_source: null,
    value: 1284.029999,
    previous_value: 1_000,
    change: 0.28,
    figures: {
      organic_usd: 1_000,
      proven_usd: 900,
      organic_settlement_count: 40,
      distinct_counterparties: 12,
      settled_usd: 1284.029999,
      settlement_count: 50,
    },
    sparkline: [4, 8],
    ...fields,
  };
}

function ranking(meta: Partial<Rankings['meta']> = {}): Rankings {
  return {
    leaderboard: [row()],
    next_offset: null,
    meta: {
      chain: null,
      as_of: '2026-11-20T09:15:00Z',
      freshness: { chains: [] },
      snapshot: null,
      of: 'merchants',
      by: 'organic_usd',
      window: '7d',
      ranked_at: new Date().toISOString(),
      sparkline: null,
      ...meta,
    },
  };
}

describe('the move of a row', () => {
  const move = (
    fields: Partial<RankedRow>,
    window: Parameters<typeof RankMove>[0]['window'] = '7d',
  ): string => htmlOf(h(RankMove, { row: row(fields), window }));

  it('counts places up and down in words, not by colour alone', () => {
    expect([textOf(move({})), move({}).includes('good')]).toEqual(['up2', true]);
    const down = move({ rank: 1_205, previous_rank: 4 });
    expect([textOf(down), down.includes('bad')]).toEqual(['down1,201', true]);
    expect(down).toContain('title="Place 4 in the 7 days before"');
    expect(textOf(move({ rank: 5 }))).toBe('=same place');
  });

  it('is “new” without a former place, and nothing over all of time, which has no time before', () => {
    expect(textOf(move({ previous_rank: null }))).toBe('new');
    expect([move({ previous_rank: null }, 'all'), move({}, 'all')]).toEqual(['', '']);
  });
});

describe('rows of an index that begins within the window before', () => {
  const fresh = { previous_rank: null, previous_value: null };

  it('are compared with nothing, so that not every row is called new', () => {
    expect(comparedWindow('30d', [row(fresh), row(fresh)])).toBe('all');
    expect(comparedWindow('30d', [row(fresh), row({ ...fresh, previous_value: 0 })])).toBe('all');
    expect(textOf(h(RowChange, { row: row({ ...fresh, change: null }), window: 'all' }))).toBe('–');
  });

  it('are compared as soon as one of them was there before', () => {
    expect(comparedWindow('30d', [row(fresh), row()])).toBe('30d');
    expect(comparedWindow('30d', [row(fresh), row({ ...fresh, previous_value: 2 })])).toBe('30d');
  });

  it('are compared while nothing speaks against it: before the answer, and where there is one row', () => {
    expect([comparedWindow('7d', null), comparedWindow('7d', [row(fresh)])]).toEqual(['7d', '7d']);
  });
});

describe('the figure that ranks', () => {
  const figure = (by: Rankings['meta']['by'], value = 34_127.48): string =>
    textOf(h(RankedFigure, { row: row({ value }), by }));

  it('is dollars, a gain in dollars, or a number', () => {
    expect([figure('organic_usd'), figure('growth'), figure('settlements', 120_433)]).toEqual([
      '$34.1k',
      '+$34.1k',
      '120,433',
    ]);
    expect(figure('counterparties', 12)).toBe('12');
  });

  it('says what it gained next to its change only where growth ranks', () => {
    const change = (by: Rankings['meta']['by']): string =>
      textOf(htmlOf(h('p', null, changeColumn('7d', by).cell(row()))));
    expect([change('growth'), change('organic_usd')]).toEqual(['+$1,284.03 +28%', '+28%']);
  });
});

describe('the trend of a row', () => {
  const points = (stepSeconds: number, ago: number, by: Rankings['meta']['by'] = 'organic_usd'): string[] => {
    const fromMs = Math.floor(Date.now() / 1_000 - ago * stepSeconds) * 1_000;
    const sparkline = { from: new Date(fromMs).toISOString(), step_seconds: stepSeconds };
    const html = htmlOf(h(Trend, { row: row(), meta: ranking({ by, sparkline }).meta }));
    return elementsOf(html, 'class="sparkline-hit"').map((point) => textOf(point).replace(/^.*?: /, ''));
  };

  it('marks the part that is not over as so far, and no other', () => {
    expect(points(24 * HOUR_SECONDS, 1.5)).toEqual(['$4.00', '$8.00 so far']);
    expect(points(24 * HOUR_SECONDS, 2.5)).toEqual(['$4.00', '$8.00']);
  });

  it('is of numbers where numbers rank, and of the dollars where their gain does', () => {
    expect(points(24 * HOUR_SECONDS, 3, 'settlements')).toEqual(['4', '8']);
    expect(points(24 * HOUR_SECONDS, 3, 'growth')).toEqual(['$4.00', '$8.00']);
  });

  it('names parts of a day by their hour', () => {
    const sparkline = { from: '2026-11-20T08:00:00Z', step_seconds: HOUR_SECONDS };
    const html = htmlOf(h(Trend, { row: row(), meta: ranking({ sparkline }).meta }));
    expect(textOf(html)).toBe('2026-11-20 08:00: $4.00 2026-11-20 09:00: $8.00');
  });
});

describe('the order of a ranking', () => {
  const by = (text: string) => orderOf(new URLSearchParams({ by: text }), ['organic_usd', 'growth']);
  const linkTo = (next: string, query: string): string =>
    rankingSort({ path: '/merchants', query: new URLSearchParams(query), by: 'organic_usd' }).to(next, true);

  it('is that of the address where the subject has it, and the first one otherwise', () => {
    expect([by('growth'), by('score'), by('')]).toEqual(['growth', 'organic_usd', 'organic_usd']);
  });

  it('keeps the filters and begins with the first page', () => {
    expect(linkTo('growth', 'window=7d&offset=50')).toBe('/merchants?window=7d&by=growth');
  });

  it('leaves all of time when growth is chosen, which needs a time before', () => {
    expect(linkTo('growth', 'window=all')).toBe('/merchants?by=growth');
    expect(linkTo('settlements', 'window=all')).toBe('/merchants?window=all&by=settlements');
  });
});

test('a ranking that was never made says so, and not that it was made in the past', () => {
  const text = (warnings: Rankings['meta']['warnings']): string =>
    textOf(h(RankedAt, { answer: ranking({ ...(warnings === undefined ? {} : { warnings }) }) }));
  expect(text(['rankings_not_computed'])).toContain('Payments are being added up for the first time.');
  expect(text(undefined)).toBe('Ranked 0 s ago.');
});

test('a row without a verdict has a dash in its place', () => {
  const verdict = (data_quality: RankedRow['data_quality']): string =>
    textOf(h('p', null, VERDICT_COLUMN.cell(row(data_quality === undefined ? {} : { data_quality }))));
  expect([verdict('suspect'), verdict(undefined)]).toEqual(['suspect', '–']);
});
