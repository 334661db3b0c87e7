import { h } from 'preact';
import { describe, expect, it } from 'vitest';
import { Narrowed } from '../../../console/parts/chain-choice.tsx';
import { WindowChoice } from '../../../console/parts/window-choice.tsx';
import { pageQuery } from '../../../console/routes.ts';
import type { Profile } from '../../../console/wire.ts';
import { elementsOf, htmlOf, textOf } from '../../kit/drawn.ts';

const OTHERS: NonNullable<Profile['elsewhere']> = [
  { chain: 'eip155:8453', settlement_count: 1_204, usd: 0.24, last_seen: '2026-11-20T09:15:00Z' },
  { chain: 'eip155:43114', settlement_count: 1, usd: 3, last_seen: '2026-11-20T09:15:00Z' },
];

function narrowed(search: string, elsewhere?: Profile['elsewhere']): string {
  const query = pageQuery(search);
  return htmlOf(h(Narrowed, { path: '/merchants/0xab', query, elsewhere }));
}

describe('a page that is narrowed to a chain', () => {
  it('names the chain and what its figures leave out on the others, and leads back to all', () => {
    const html = narrowed('?chain=eip155:137&window=7d&offset=50', OTHERS);
    expect(textOf(html)).toBe(
      'Only Polygon is shown. Not in these figures: 1,204 settlements of $0.24 on Base, 1 settlement of $3.00 on Avalanche.Show all chains',
    );
    expect(html).toMatch(/href="\/console\/merchants\/0xab\?window=7d/);
    expect(html).not.toContain('href="/console/merchants/0xab?chain');
  });

  it('says so where nothing is left out', () => {
    expect(textOf(narrowed('?chain=eip155:137'))).toContain(
      'There are no such payments on the other chains.',
    );
  });

  it('is not narrowed by all, nor by no chain', () => {
    expect([narrowed('?chain=all', OTHERS), narrowed('', OTHERS)]).toEqual(['', '']);
  });
});

describe('the choice of a window', () => {
  const choice = (search: string): string =>
    htmlOf(h(WindowChoice, { path: '/merchants', query: new URLSearchParams(search) }));

  it('marks the window of the address, and the default where it names none that exists', () => {
    const current = (search: string): string[] =>
      elementsOf(choice(search), 'aria-current="page"').map(textOf);
    expect([current('window=7d'), current(''), current('window=5y')]).toEqual([['7d'], ['30d'], ['30d']]);
  });

  it('keeps the filters, begins with the first page, and has one address for the default', () => {
    const hrefs = [...choice('chain=a&offset=50').matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
    expect(hrefs).toContain('/console/merchants?chain=a');
    expect(hrefs).toContain('/console/merchants?chain=a&amp;window=all');
    expect(hrefs.join()).not.toContain('offset');
  });
});
