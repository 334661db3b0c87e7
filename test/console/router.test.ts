import { h } from 'preact';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Link, navigate, place, readPlace } from '../../console/router.tsx';
import { htmlOf } from '../kit/drawn.ts';

let visited: string[];

beforeEach(() => {
  visited = [];
  vi.stubGlobal('history', {
    pushState: (_state: unknown, _title: string, href: string) => {
      visited.push(href);
      open(href);
    },
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  place.set({ path: '/', query: new URLSearchParams() });
});

/** As the browser does: the address of the page is this one. */
function open(href: string): void {
  vi.stubGlobal('location', new URL(href, 'https://console.example'));
}
const placeNow = (): [path: string, query: string] => [place.get().path, place.get().query.toString()];

test('the place is what the address says, and all chains are the same as none', () => {
  open('/console/merchants/0xab?chain=all&window=7d#top');
  readPlace();
  expect(placeNow()).toEqual(['/merchants/0xab', 'window=7d']);
  open('/console');
  readPlace();
  expect(placeNow()).toEqual(['/', '']);
});

test('a change of the place is an entry of the history, so that the back button undoes it', () => {
  navigate('/transactions?chain=eip155%3A137');
  expect([visited, placeNow()]).toEqual([
    ['/console/transactions?chain=eip155%3A137'],
    ['/transactions', 'chain=eip155%3A137'],
  ]);
  navigate('/');
  expect(visited.at(-1)).toBe('/console');
});

test('a link is a plain address, which opens in a new tab too; the page that is open is marked', () => {
  expect(htmlOf(h(Link, { to: '/', children: 'Home' }))).toBe('<a href="/console">Home</a>');
  expect(htmlOf(h(Link, { to: '/sql', current: true, children: 'SQL' }))).toBe(
    '<a href="/console/sql" aria-current="page">SQL</a>',
  );
});
