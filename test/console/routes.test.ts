import { describe, expect, it } from 'vitest';
import { consolePath, matchRoute, pageQuery } from '../../console/routes.ts';

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
});
