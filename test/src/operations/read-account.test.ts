import { describe, expect, test } from 'vitest';
import { chainOf } from '../../../core/domain/chains.ts';
import { Failure } from '../../../core/errors.ts';
import { readAddressParam, readTransactionParam } from '../../../src/operations/read-account.ts';

const EVM = { chains: [chainOf(8453)] };
const BOTH = { chains: [chainOf(8453), 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'] } as const;
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const HEX = `0x${'aB'.repeat(20)}`;
const SIGNATURE = '1'.repeat(64);

const refusal = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    return error instanceof Failure ? [error.code, error.message] : error;
  }
};

describe('where EVM chains alone are indexed', () => {
  test.each([
    ['a word', 'base', 'wallet must be an address: 0x and 40 hex digits, not "base".'],
    [
      'an address of Solana',
      USDC,
      `wallet must be an address: 0x and 40 hex digits, not "${USDC}". It is one of Solana, of which no chain is indexed here.`,
    ],
    [
      'one digit less',
      `0x${'a'.repeat(39)}`,
      `wallet must be an address: 0x and 40 hex digits, not "0x${'a'.repeat(39)}". It has 39 hex digits, not 40.`,
    ],
    [
      'the letter o',
      `0x${'a'.repeat(39)}o`,
      `wallet must be an address: 0x and 40 hex digits, not "0x${'a'.repeat(39)}o". "o" is no hex digit.`,
    ],
    [
      'a wrong checksum',
      HEX,
      'wallet has a wrong EIP-55 checksum: most likely a typing error. Send it in lower case to skip the check.',
    ],
    ['nothing', undefined, 'wallet must be an address: 0x and 40 hex digits, not nothing.'],
  ])('%s is refused with what is wrong', (_, raw, detail) => {
    expect(refusal(() => readAddressParam(raw, 'wallet', EVM))).toEqual(['invalid_parameter', detail]);
  });

  test('a signature of Solana is refused as one', () => {
    const detail = `hash must be the hash of a transaction: 0x and 64 hex digits, not "${SIGNATURE.slice(0, 60)}…". It is one of Solana, of which no chain is indexed here.`;
    expect(refusal(() => readTransactionParam(SIGNATURE, 'hash', EVM))).toEqual([
      'invalid_parameter',
      detail,
    ]);
  });

  test('hex is read in lower case', () => {
    expect(readAddressParam(HEX.toUpperCase().replace('0X', '0x'), 'wallet', EVM)).toBe(HEX.toLowerCase());
    expect(readTransactionParam(`0x${'aB'.repeat(32)}`, 'hash', EVM)).toBe(`0x${'ab'.repeat(32)}`);
  });
});

describe('where a chain of Solana is indexed as well', () => {
  test('both are read, base58 as it is', () => {
    expect(readAddressParam(USDC, 'wallet', BOTH)).toBe(USDC);
    expect(readAddressParam(HEX.toLowerCase(), 'wallet', BOTH)).toBe(HEX.toLowerCase());
    expect(readTransactionParam(SIGNATURE, 'hash', BOTH)).toBe(SIGNATURE);
  });

  test('a text that is neither is refused with what is wrong', () => {
    const detail = `wallet must be an address: 0x and 40 hex digits, or base58 of 32 bytes, not "l${USDC.slice(1)}". "l" is no base58 digit.`;
    expect(refusal(() => readAddressParam(`l${USDC.slice(1)}`, 'wallet', BOTH))).toEqual([
      'invalid_parameter',
      detail,
    ]);
  });
});
