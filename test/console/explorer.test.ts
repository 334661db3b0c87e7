import { expect, test } from 'vitest';
import { type ChainFacts, explorerUrlOf } from '../../console/explorer.ts';
import { smallCoinText, tokenText } from '../../console/format.ts';
import { endpointPath, matchRoute, pairPath, transactionPath } from '../../console/routes.ts';
import { KNOWN_CHAINS } from '../../core/domain/known-chains.ts';

const BASE: ChainFacts = { name: 'Base', explorerUrl: 'https://basescan.org', sampleDataTo: null };

test('every chain has an explorer of its own, without a path', () => {
  const urls = KNOWN_CHAINS.flatMap(({ explorerUrl }) => explorerUrl ?? []);
  expect(new Set(urls).size).toBe(urls.length);
  // X Layer's is under a path, and Solana's explorer shows the devnet by a parameter.
  expect(urls.length).toBe(KNOWN_CHAINS.length - 2);
  for (const url of urls) expect(url).toMatch(/^https:\/\/[a-z0-9.-]+$/);
});

test('a link names the page of the thing on the explorer', () => {
  expect(explorerUrlOf(BASE, { page: 'tx', id: '0xab' })).toBe('https://basescan.org/tx/0xab');
  expect(explorerUrlOf(BASE, { page: 'address', id: '0xcd' })).toBe('https://basescan.org/address/0xcd');
  expect(explorerUrlOf(BASE, { page: 'block', id: '7', block: 7 })).toBe('https://basescan.org/block/7');
});

test('there is no link to what no explorer shows: an unknown chain, a chain of one’s own, sample data', () => {
  const asked = { page: 'tx', id: '0xab', block: 100 } as const;
  expect(explorerUrlOf(undefined, asked)).toBeNull();
  expect(explorerUrlOf({ ...BASE, explorerUrl: null }, asked)).toBeNull();
  expect(explorerUrlOf({ ...BASE, sampleDataTo: 100 }, asked)).toBeNull();
  expect(explorerUrlOf({ ...BASE, sampleDataTo: 99 }, asked)).toBe('https://basescan.org/tx/0xab');
});

test('atomic units are whole tokens with every digit', () => {
  expect(tokenText('10000', 6)).toBe('0.01');
  expect(tokenText('1234567890123', 6)).toBe('1,234,567.890123');
  expect(tokenText('5', 0)).toBe('5');
  expect(tokenText('1000000', 6)).toBe('1');
});

test('a fee keeps four significant digits below one coin, and is never shown as nothing', () => {
  expect(smallCoinText('385982093411')).toBe('0.0000003859');
  expect(smallCoinText('1')).toBe('0.000000000000000001');
  expect(smallCoinText('1500000000000000000')).toBe('1.5');
  expect(smallCoinText('0')).toBe('0');
});

test('addresses of pages lead to their pages, and an endpoint keeps its URL out of the path', () => {
  expect(matchRoute('/transactions/:hash', transactionPath('0xab'))).toEqual({ hash: '0xab' });
  expect(matchRoute('/pairs/:payer/:payee', pairPath('0xa', '0xb'))).toEqual({ payer: '0xa', payee: '0xb' });
  const path = endpointPath('https://shop.example/a/b?c=d&e', 'POST');
  const { pathname, searchParams } = new URL(path, 'https://console.example');
  expect(matchRoute('/endpoints/:host', pathname)).toEqual({ host: 'shop.example' });
  expect(searchParams.get('url')).toBe('https://shop.example/a/b?c=d&e');
  expect(searchParams.get('method')).toBe('POST');
});
