import { expect, test } from 'vitest';
import {
  type Chain,
  chainIdOf,
  chainOf,
  chainOfReference,
  isChain,
  namespaceOf,
  referenceOf,
  wildcardOf,
  withoutChain,
} from '../../../core/domain/chains.ts';
import { chainOfNetwork, namespaceOfNetwork } from '../../../core/domain/networks.ts';

const SOLANA: Chain = 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp';

test.each(['eip155:0', 'eip155:8453', 'eip155:9007199254740991', SOLANA])('%s is a chain', (name) => {
  expect(isChain(name)).toBe(true);
  expect(isChain(name) && chainOfReference(referenceOf(name))).toBe(name);
});

test.each([
  'eip155:',
  'eip155:08453',
  'eip155:-1',
  'eip155:1e3',
  'EIP155:8453',
  'eip155:8453 ',
  'eip155:12345678901234567',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvd',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpp',
  'solana:0eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  'bip122:000000000019d6689c085ae165831e93',
  '8453',
  '',
  `eip155:${'1'.repeat(100_000)}`,
])('%.40s is none', (name) => {
  expect(isChain(name)).toBe(false);
});

test('a reference of no chain has none', () => {
  for (const reference of ['', 'abc', '08453', '0x2105', 'eip155:8453'])
    expect(chainOfReference(reference)).toBe(null);
});

test('a chain has the namespace of its accounts, and only EVM chains have an id', () => {
  expect([namespaceOf(chainOf(8453)), namespaceOf(SOLANA)]).toEqual(['eip155', 'solana']);
  expect([wildcardOf(chainOf(8453)), wildcardOf(SOLANA)]).toEqual(['eip155:*', 'solana:*']);
  expect(chainIdOf(chainOf(8453))).toBe(8453);
  expect(() => chainIdOf(SOLANA)).toThrow(TypeError);
});

test('listings name EVM chains by several names, and no other chain is one of them yet', () => {
  expect([chainOfNetwork('base'), chainOfNetwork('eip155:8453')]).toEqual(['eip155:8453', 'eip155:8453']);
  expect([chainOfNetwork(SOLANA), chainOfNetwork('solana'), chainOfNetwork('near')]).toEqual([
    ...[SOLANA, SOLANA, null],
  ]);
  expect(['base', 'eip155:x', 'solana', 'near'].map(namespaceOfNetwork)).toEqual([
    ...['eip155', 'eip155', 'solana', null],
  ]);
});

test('an account is read without the chain before it', () => {
  const account = `0x${'ab'.repeat(20)}`;
  expect(withoutChain(`eip155:8453:${account}`)).toBe(account);
  expect(withoutChain(account)).toBe(account);
  expect(withoutChain(`eip155:x:${account}`)).toBe(`eip155:x:${account}`);
  expect(withoutChain(`${SOLANA}:11111111111111111111111111111111`)).toBe('11111111111111111111111111111111');
});
