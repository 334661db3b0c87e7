import type { Hash } from '../../core/domain/account.ts';

/** The unindexed part of an event does not match the event's types. */
export class MalformedData extends Error {
  constructor(what: string) {
    super(`not ABI data: ${what}`);
    this.name = 'MalformedData';
  }
}

/**
 * Reads the unindexed part of an event: static words by slot, and the dynamic values that they point to. Anyone can write texts of any
 * size to a registry, so values are decoded only up to the length that the caller keeps; a generic decoder would first build
 * megabytes. Throws `MalformedData` if the data is too short, points outside itself or holds a number out of its type's range.
 * Source: Solidity, Contract ABI Specification.
 */
export interface AbiData {
  uint(slot: number, bits: number): bigint;
  int(slot: number, bits: number): bigint;
  bytes32(slot: number): Hash;
  /** UTF-8, cut between two characters if longer than `bytesMax`; invalid bytes become U+FFFD. */
  text(slot: number, bytesMax: number): string;
  /** At most `bytesMax` bytes of a `bytes` value as hex, and how long it is on chain. */
  bytes(slot: number, bytesMax: number): { readonly hex: `0x${string}`; readonly length: number };
}

const WORD_BYTES = 32;
const SIGN_BIT = 255n;
/** Of a character in UTF-8, after the first byte. */
const CONTINUATION_BYTES_MAX = 3;

/** `data` is hex behind 0x, as a source has checked. */
export function abiData(data: string): AbiData {
  const size = (data.length - 2) / 2;
  const digits = (byte: number, bytes: number): string => data.slice(2 + 2 * byte, 2 + 2 * (byte + bytes));
  const wordAt = (byte: number): string => {
    if (byte + WORD_BYTES > size) throw new MalformedData('it ends too early');
    return digits(byte, WORD_BYTES);
  };
  const uint = (slot: number, bits: number): bigint => {
    const value = BigInt(`0x${wordAt(slot * WORD_BYTES)}`);
    if (value >> BigInt(bits) !== 0n) throw new MalformedData(`a number of more than ${bits} bits`);
    return value;
  };
  /** Where the value that a slot points to begins, and its length in bytes. Both are exact: they lie inside the data. */
  const valueAt = (slot: number): { readonly start: number; readonly length: number } => {
    const start = Number(`0x${wordAt(slot * WORD_BYTES)}`) + WORD_BYTES;
    if (start > size) throw new MalformedData('it points outside itself');
    const length = Number(`0x${digits(start - WORD_BYTES, WORD_BYTES)}`);
    if (start + length > size) throw new MalformedData('a value ends outside');
    return { start, length };
  };
  return {
    uint,
    int(slot, bits) {
      const word = BigInt(`0x${wordAt(slot * WORD_BYTES)}`);
      const value = word >> SIGN_BIT === 0n ? word : word - (1n << (SIGN_BIT + 1n));
      if (BigInt.asIntN(bits, value) !== value) throw new MalformedData(`a number of more than ${bits} bits`);
      return value;
    },
    bytes32: (slot) => `0x${wordAt(slot * WORD_BYTES)}`,
    text(slot, bytesMax) {
      const { start, length } = valueAt(slot);
      const bytes = Buffer.from(digits(start, Math.min(length, bytesMax + 1)), 'hex');
      return bytes.subarray(0, lengthOfWhole(bytes, bytesMax)).toString('utf8');
    },
    bytes(slot, bytesMax) {
      const { start, length } = valueAt(slot);
      return { hex: `0x${digits(start, Math.min(length, bytesMax))}`, length };
    },
  };
}

/** How many of the first `bytesMax` bytes are whole characters. */
function lengthOfWhole(bytes: Buffer, bytesMax: number): number {
  if (bytes.length <= bytesMax) return bytes.length;
  let end = bytesMax;
  while (end > 0 && bytesMax - end < CONTINUATION_BYTES_MAX && isContinuation(bytes[end])) end--;
  return end;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
