import { describe, expect, it } from 'vitest';
import {
  consolePath,
  hostOf,
  matchRoute,
  offsetOf,
  pageQuery,
  pick,
  withQuery,
} from '../../console/routes.ts';

describe('addresses of the console', () => {
  it('match their pattern only', () => {
    expect(matchRoute('/merchants/:address', '/merchants/0xab')).toEqual({ address: '0xab' });
    expect(matchRoute('/merchants/:address', '/merchants')).toBeNull();
    expect(matchRoute('/merchants/:address', '/agents/0xab')).toBeNull();
    expect(matchRoute('/', '/')).toEqual({});
  });

  it('keep a segment that cannot be decoded as it is', () => {
    expect(matchRoute('/agents/:wallet', '/agents/%E0%A4%A')).toEqual({ wallet: '%E0%A4%A' });
  });

  it('are about all chains by naming all as by naming none', () => {
    expect(pageQuery('?chain=all&window=7d').toString()).toBe('window=7d');
    expect(pageQuery('?chain=eip155:137').get('chain')).toBe('eip155:137');
  });

  it('have /console as their first segment', () => {
    expect(['/console', '/console/', '/console/sql', '/consoles', '/'].map(consolePath)).toEqual([
      '/',
      '/',
      '/sql',
      null,
      null,
    ]);
  });

  it('keep the other filters when one is changed, and lose one that is emptied', () => {
    const query = new URLSearchParams('chain=a&tier=proven&offset=50');
    expect(withQuery('/transactions', query, { tier: null, offset: null })).toBe('/transactions?chain=a');
    expect(withQuery('/transactions', query, { tier: '', q: 'a&b' })).toBe(
      '/transactions?chain=a&offset=50&q=a%26b',
    );
    expect(withQuery('/', new URLSearchParams(), {})).toBe('/');
    expect(query.toString()).toBe('chain=a&tier=proven&offset=50');
  });

  it('send on only filters that have a value', () => {
    expect(pick(new URLSearchParams('q=&tier=proven&other=1'), ['q', 'tier', 'chain'])).toEqual({
      tier: 'proven',
    });
  });

  it('begin at the first row where their offset is no number', () => {
    const offsets = ['offset=50', 'offset=-1', 'offset=1e3', `offset=${'9'.repeat(10)}`, ''];
    expect(offsets.map((text) => offsetOf(new URLSearchParams(text)))).toEqual([50, 0, 0, 0, 0]);
  });

  it('of a listing that is no URL are named as it is written', () => {
    expect([hostOf('https://weather.example:8443/v1'), hostOf('weather')]).toEqual([
      'weather.example:8443',
      'weather',
    ]);
  });
});
