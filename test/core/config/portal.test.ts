import { expect, test } from 'vitest';
import { loadConfig } from '../../../core/config/load.ts';
import { whereBlocksComeFrom } from '../../../src/what-to-open.ts';

const chainOf = (env: Record<string, string>) => {
  const [chain] = loadConfig({ env }).chains;
  if (chain === undefined) throw new Error('a chain is configured');
  return chain;
};

test('history comes from the public Portal, within its limit, where it has the chain', () => {
  const portal = { url: 'https://portal.sqd.dev', dataset: 'base-mainnet', requestsPer10Seconds: 20 };
  expect(chainOf({}).portal).toEqual(portal);
  expect(chainOf({ RPC_URL_8453: 'https://node.example/key' }).portal).toEqual(portal);
  expect(chainOf({ CHAINS: 'sei' }).portal).toBeNull();
});

test.each(['http://127.0.0.1:8545', 'ws://localhost:8545', 'http://[::1]:8545'])(
  'a chain of this machine alone, %s, has no Portal: its id may be that of a public one',
  (url) => {
    expect(chainOf({ RPC_URL_8453: url }).portal).toBeNull();
    expect(chainOf({ RPC_URL_8453: `${url},https://node.example` }).portal).not.toBeNull();
  },
);

test('PORTAL_URL=none reads every block over JSON-RPC, another URL is another Portal', () => {
  expect(chainOf({ PORTAL_URL: 'none' }).portal).toBeNull();
  expect(chainOf({ PORTAL_URL: 'http://10.0.0.5:8000' }).portal?.url).toBe('http://10.0.0.5:8000');
  expect(() => chainOf({ PORTAL_URL: 'ftp://portal' })).toThrow('portal.url');
});

test('the start says what is read from where, and shows no more of a URL than its host', () => {
  const env = {
    RPC_URL_8453: 'https://node.example/key-of-mine',
    PORTAL_URL: 'https://me:secret@portal.example',
  };
  expect(whereBlocksComeFrom([chainOf(env)])).toBe(
    '  base: history from the SQD Portal (portal.example, base-mainnet, at most 20 requests in 10 s; --no-portal reads without it), new blocks over JSON-RPC (node.example)\n',
  );
  expect(whereBlocksComeFrom([chainOf({ ...env, PORTAL_URL: 'none' })])).toBe(
    '  base: every block over JSON-RPC (node.example)\n',
  );
});
