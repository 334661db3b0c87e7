import Fastify from 'fastify';
import { describe, expect, test } from 'vitest';
import type { TrustedProxies } from '../../../core/config/config.ts';
import { loadConfig } from '../../../core/config/load.ts';
import { UserError } from '../../../core/user-error.ts';
import { addressQuota } from '../../../src/gate/caller.ts';
import { callerAddress, proxyTrust } from '../../../src/http/headers.ts';

describe('the window of an address', () => {
  test.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['0:0:0:0:0:ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:DB8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002:ffff::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8::/64'],
    ['2001:db8:0:0:1::', '2001:db8::/64'],
    ['::1', '::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['64:ff9b::203.0.113.9', '64:ff9b::/64'],
    ['not an address', 'not an address'],
  ])('%s counts as %s', (ip, key) => {
    expect(addressQuota(ip, { requestsPerMinute: 1 }).key).toBe(`ip:${key}`);
  });
});

/** The address that a request from `from` with this X-Forwarded-For counts for. */
async function seen(trustProxy: TrustedProxies, from: string, forwarded?: string): Promise<string> {
  const app = Fastify({ trustProxy: proxyTrust(trustProxy) });
  app.get('/', (request) => ({ address: callerAddress(request) }));
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  const answer = await app.inject({ url: '/', remoteAddress: from, headers });
  await app.close();
  return answer.json<{ address: string }>().address;
}

describe('the address of a caller', () => {
  test.each([
    ['without proxies, whatever the header says', false, '203.0.113.1', '198.51.100.1', '203.0.113.1'],
    [
      'one proxy: what it wrote, not what the caller wrote',
      1,
      '10.0.0.1',
      '192.0.2.66, 198.51.100.1',
      '198.51.100.1',
    ],
    ['two proxies', 2, '10.0.0.1', '192.0.2.66, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['more proxies than entries', 3, '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['one proxy that wrote nothing', 1, '10.0.0.1', undefined, '10.0.0.1'],
    [
      'a network of proxies',
      ['10.0.0.0/8'],
      '10.0.0.1',
      '192.0.2.66, 198.51.100.1, 10.9.9.9',
      '198.51.100.1',
    ],
    [
      'a caller who does not come through the network',
      ['10.0.0.0/8'],
      '203.0.113.1',
      '198.51.100.1',
      '203.0.113.1',
    ],
    ['a proxy by its mapped address', ['10.0.0.0/8'], '::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a network of IPv6', ['fd00::/8'], 'fd00::1', '2001:db8::7', '2001:db8::7'],
    ['one address as the network', ['10.0.0.1'], '10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['a text in place of the address', 1, '10.0.0.1', 'unknown', '10.0.0.1'],
    ['an address before a text is not believed', 2, '10.0.0.1', '192.0.2.66, _hidden', '10.0.0.1'],
    ['a script in place of the address', 1, '10.0.0.1', '<script>', '10.0.0.1'],
    ['a number in place of the address', 1, '10.0.0.1', '2130706433', '10.0.0.1'],
    ['a port behind the address', 1, '10.0.0.1', '198.51.100.1:4711', '198.51.100.1'],
    ['a port behind an address of IPv6', 1, '10.0.0.1', '[2001:db8::7]:4711', '2001:db8::7'],
  ] as const)('%s', async (_what, trustProxy, from, forwarded, address) => {
    expect(await seen(trustProxy, from, forwarded)).toBe(address);
  });
});

describe('http.trustProxy', () => {
  const problemsOf = (trustProxy: string): string => {
    try {
      loadConfig({ env: { TRUST_PROXY: trustProxy } });
    } catch (error) {
      if (error instanceof UserError) return error.problems.join('\n');
      throw error;
    }
    return '';
  };

  test.each([
    ['false', false],
    ['1', 1],
    ['10.0.0.0/8, fd00::/8,192.0.2.1', ['10.0.0.0/8', 'fd00::/8', '192.0.2.1']],
  ])('%s is taken', (text, value) => {
    expect(loadConfig({ env: { TRUST_PROXY: text } }).http.trustProxy).toEqual(value);
  });

  test.each([
    [
      'true',
      /http\.trustProxy \(TRUST_PROXY\): true would believe whatever a caller writes.*number of proxies.*10\.0\.0\.0\/8/,
    ],
    ['0', /http\.trustProxy \(TRUST_PROXY\)/],
    ['0.0.0.0/0', /every address/],
    ['::/0', /every address/],
    ['::ffff:0:0/96', /every address/],
    ['10.0.0.0/33', /must be an address or a network/],
    ['10.0.0.0/8/8', /must be an address or a network/],
    ['proxy.example', /must be an address or a network/],
    ['127.1', /must be an address or a network/],
  ])('%s is refused with what to write', (text, said) => {
    expect(problemsOf(text)).toMatch(said);
  });
});
