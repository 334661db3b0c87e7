import { type Address, type Hash, hexDigitsOf, ZERO_ADDRESS } from '../../core/domain/account.ts';

/**
 * Reads 32-byte words of a log by position. The source has checked that they are hex, so nothing is checked twice; a word's
 * padding is ignored as every ABI decoder ignores it.
 *
 * Comparing part of a string is slow: `slice() ===` takes four times as long as comparing whole strings, and `startsWith` four times
 * as long again (both measured). So whole words are compared wherever that is equivalent.
 */

/** `0x` and 64 digits. */
export const WORD_CHARS = 66;
/** `0x` and the padding of an address. */
const PADDING_CHARS = WORD_CHARS - hexDigitsOf('address');
const ADDRESS_OFFSET = PADDING_CHARS - 2;
const ADDRESS_CHARS = ZERO_ADDRESS.length;

export function addressInWord(word: Hash): Address {
  return `0x${word.slice(PADDING_CHARS)}` as Address; // the last digits of a `Hash`
}

/** Whether the word holds this address. Compares the last digits first, in which nearly all pairs differ. */
export function isAddressInWord(address: Address, word: Hash): boolean {
  for (let at = ADDRESS_CHARS - 1; at >= 2; at--)
    if (address.charCodeAt(at) !== word.charCodeAt(at + ADDRESS_OFFSET)) return false;
  return true;
}

/** The uint256 in a data word; undefined when it is not one hex word. */
export function uintInWord(word: string): bigint | undefined {
  if (word.length !== WORD_CHARS) return undefined;
  try {
    return BigInt(word);
  } catch {
    return undefined; // not a number: the log is malformed, which the caller handles
  }
}
