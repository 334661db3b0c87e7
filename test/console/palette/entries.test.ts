import { describe, expect, it } from 'vitest';
import {
  type Entry,
  type Found,
  groupsOf,
  identityEntries,
  matches,
  pageEntries,
  searchEntries,
} from '../../../console/palette/entries.ts';
import { ON_SOLANA } from '../../kit/rows.ts';

const PAGES = [
  { path: '/', title: 'Home' },
  { path: '/sql', title: 'SQL' },
  { path: '/transactions', title: 'Settlements' },
];

describe('the search of the header', () => {
  it('opens an address as a wallet in both roles, and a hash as a transaction or a channel, however they are typed', () => {
    const address = `0x${'Ab'.repeat(20)}`;
    expect(identityEntries(`  ${address} `).map(({ href }) => href)).toEqual([
      `/console/merchants/${address.toLowerCase()}`,
      `/console/agents/${address.toLowerCase()}`,
    ]);
    const hash = `0x${'C'.repeat(64)}`;
    expect(identityEntries(hash).map(({ href }) => href)).toEqual([
      `/console/transactions/${hash.toLowerCase()}`,
      `/console/channels/${hash.toLowerCase()}`,
    ]);
    expect(identityEntries(`${ON_SOLANA.seller} `).map(({ href }) => href)).toEqual([
      `/console/merchants/${ON_SOLANA.seller}`,
      `/console/agents/${ON_SOLANA.seller}`,
    ]);
    expect(identityEntries('0x12')).toEqual([]);
    expect(identityEntries(`0x${'g'.repeat(40)}`)).toEqual([]);
  });

  it('finds words at their beginnings, in any order, and not inside words', () => {
    expect(matches('Weather by the call', 'call wea')).toBe(true);
    expect(matches('Weather by the call', 'eather')).toBe(false);
    expect(matches('Straße der Daten', 'straße')).toBe(true);
    expect(pageEntries(PAGES, 's').map(({ title }) => title)).toEqual(['SQL', 'Settlements']);
    expect(pageEntries(PAGES, '')).toHaveLength(3);
  });

  it('encodes the text in links to whole lists, and has none for blank text', () => {
    expect(searchEntries('weather & wind').map(({ href }) => href)).toEqual([
      '/console/agents?q=weather%20%26%20wind',
      '/console/endpoints?q=weather%20%26%20wind',
    ]);
    expect(searchEntries('  ')).toEqual([]);
  });

  it('puts a page that is meant before names, otherwise names before pages', () => {
    const entry = (title: string): Entry => ({ kind: 'page', title, href: `/console/${title}` });
    const found: Found = {
      identity: [],
      names: [entry('SQL shop')],
      pages: [entry('SQL')],
      docs: [entry('SQL dialect')],
      search: [entry('All agents')],
    };
    const order = (text: string): string[] => groupsOf(found, text).map(({ name }) => name);
    expect(order('sq')).toEqual(['Pages', 'Names', 'Documentation', 'Search']);
    expect(order('shop')).toEqual(['Names', 'Pages', 'Documentation', 'Search']);
  });

  it('offers no list for an address: it is no word of a name', () => {
    const identity = identityEntries(`0x${'1'.repeat(40)}`);
    const groups = groupsOf({ identity, names: [], pages: [], docs: [], search: searchEntries('x') }, '0x1');
    expect(groups.map(({ name }) => name)).toEqual(['Open']);
  });
});
