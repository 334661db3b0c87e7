import { keccak_256 } from '@noble/hashes/sha3.js';

/** A 20-byte account address: `0x` and 40 lower-case hex digits. The only spelling used inside the program and in answers. */
export type Address = string & { readonly __brand: 'Address' };

/** What logs and tables hold where there is no address. */
export const ZERO_ADDRESS = `0x${'0'.repeat(40)}` as Address; // as the type says

/** Why a text is not an address. `checksum`: mixed case that contradicts EIP-55, most likely a typing error. */
export type AddressProblem = 'malformed' | 'checksum';

const SHAPE = /^0x[0-9a-fA-F]{40}$/;
const LOWER = /^0x[0-9a-f]{40}$/;
const UPPER = /^0x[0-9A-F]{40}$/;

/**
 * Reads an address in any case. All-lower and all-upper carry no checksum and pass; mixed case must match EIP-55.
 * Source: EIP-55.
 */
export function readAddress(text: string): Address | AddressProblem {
  if (LOWER.test(text)) return text as Address;
  if (!SHAPE.test(text)) return 'malformed';
  const lower = text.toLowerCase() as Address;
  if (UPPER.test(text)) return lower;
  return toChecksum(lower) === text ? lower : 'checksum';
}

/** True when the outcome of `readAddress` is an address and not a problem. */
export function isAddress(outcome: Address | AddressProblem): outcome is Address {
  return outcome.startsWith('0x');
}

/** An address literal of our own, for tables and tests. Throws on anything that `readAddress` refuses. */
export function address(text: string): Address {
  const outcome = readAddress(text);
  if (!isAddress(outcome)) throw new Error(`not an address (${outcome}): ${text}`);
  return outcome;
}

/** The EIP-55 spelling: a hex letter is upper-case where the matching digit of keccak256(lower-case hex) is 8 or more. */
export function toChecksum(lower: Address): string {
  const digits = lower.slice(2);
  const hash = Buffer.from(keccak_256(Buffer.from(digits, 'latin1'))).toString('hex');
  let out = '0x';
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charAt(i);
    out += hash.charCodeAt(i) >= 0x38 /* '8' and above, letters included */ ? digit.toUpperCase() : digit;
  }
  return out;
}
