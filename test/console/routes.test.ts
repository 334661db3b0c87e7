import { describe, expect, it } from 'vitest';
import { consolePath, matchRoute, searchPath } from '../../console/routes.ts';

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

describe('search', () => {
  it('an address leads to its wallet, other text to agents, blank text nowhere', () => {
    expect(searchPath(` 0x${'Ab'.repeat(20)} `)).toBe(`/merchants/0x${'ab'.repeat(20)}`);
    expect(searchPath('weather & wind')).toBe('/agents?q=weather%20%26%20wind');
    expect(searchPath('0x12')).toBe('/agents?q=0x12');
    expect(searchPath('  ')).toBeNull();
  });
});
