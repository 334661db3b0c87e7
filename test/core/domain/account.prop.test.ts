import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  address,
  addressOfBytes,
  addressRanges,
  BYTES_MAX,
  faultOf,
  hexOf,
  isAddress,
  isTransactionId,
  type Namespace,
  namespaceOfText,
  readAddress,
  readTransactionId,
  transactionOfBytes,
  writeBytes,
} from '../../../core/domain/account.ts';

/** Bytes with zeros in front as often as not: what base58 writes as ones. */
const bytesOf = (length: number) =>
  fc
    .tuple(fc.nat(length), fc.uint8Array({ minLength: length, maxLength: length }))
    .map(([zeros, bytes]) => bytes.fill(0, 0, zeros % 2 === 0 ? 0 : zeros));

const SIZES: readonly (readonly [Namespace, number, number])[] = [
  ['eip155', 20, 32],
  ['solana', 32, 64],
];
const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v';
const ONES = '1'.repeat(32);
const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

describe.each(SIZES)('%s', (namespace, addressBytes, transactionBytes) => {
  test('an account keeps its bytes through its text', () => {
    fc.assert(
      fc.property(bytesOf(addressBytes), (bytes) => {
        const text = addressOfBytes(bytes);
        expect([readAddress(text), readAddress(text, namespace), namespaceOfText(text)]).toEqual([
          text,
          text,
          namespace,
        ]);
        expect(written(text)).toEqual(Buffer.from(bytes));
        expect(hexOf(text)).toBe(Buffer.from(bytes).toString('hex'));
      }),
    );
  });

  test('a transaction keeps its bytes through its text', () => {
    fc.assert(
      fc.property(bytesOf(transactionBytes), (bytes) => {
        const text = transactionOfBytes(bytes);
        expect([readTransactionId(text), readTransactionId(text, namespace)]).toEqual([text, text]);
        expect(written(text)).toEqual(Buffer.from(bytes));
        expect(hexOf(text)).toBe(Buffer.from(bytes).toString('hex'));
      }),
    );
  });

  test('an account of the other namespace is refused', () => {
    const other = namespace === 'eip155' ? 'solana' : 'eip155';
    fc.assert(
      fc.property(bytesOf(addressBytes), (bytes) => {
        expect(readAddress(addressOfBytes(bytes), other)).toBe('character');
      }),
    );
  });
});

test('bytes of no account and no transaction have no text', () => {
  for (const length of [0, 1, 19, 21, 31, 33, 63, 64, 65])
    expect(() => addressOfBytes(new Uint8Array(length))).toThrow(RangeError);
  for (const length of [0, 20, 31, 33, 63, 65])
    expect(() => transactionOfBytes(new Uint8Array(length))).toThrow(RangeError);
});

test('base58 keeps its case, hex does not', () => {
  expect(readAddress(USDC)).toBe(USDC);
  expect(readAddress(USDC.toLowerCase())).toBe('length');
  const hex = `0x${'AB'.repeat(20)}`;
  expect(readAddress(hex)).toBe(hex.toLowerCase());
  expect(readTransactionId(`0x${'aB'.repeat(32)}`)).toBe(`0x${'ab'.repeat(32)}`);
});

test('leading ones are zero bytes: one more or one less is another length', () => {
  expect(readAddress(ONES)).toBe(ONES);
  expect(readAddress(`1${ONES}`)).toBe('length');
  expect(readAddress(ONES.slice(1))).toBe('length');
  expect(readAddress(`1${USDC}`)).toBe('length');
  expect(readTransactionId('1'.repeat(64))).toBe('1'.repeat(64));
  expect(readTransactionId('1'.repeat(65))).toBe('length');
});

describe('hostile texts', () => {
  test.each([
    ['nothing', '', 'length'],
    ['the prefix alone', '0x', 'length'],
    ['another prefix', `0X${'a'.repeat(40)}`, 'character'],
    ['hex without the prefix', 'a1'.repeat(20), 'length'],
    ['39 digits', `0x${'a'.repeat(39)}`, 'length'],
    ['41 digits', `0x${'a'.repeat(41)}`, 'length'],
    ['a space in front', ` 0x${'a'.repeat(40)}`, 'character'],
    ['a line break behind', `${USDC}\n`, 'length'],
    ['a line break within the length', `${USDC.slice(0, 43)}\n`, 'character'],
    ['a Cyrillic a', `0x${'а'.repeat(40)}`, 'character'],
    ['full-width digits', `0x${'１'.repeat(40)}`, 'character'],
    ['a base58 text with 0', `0${USDC.slice(1)}`, 'character'],
    ['a base58 text with O', `O${USDC.slice(1)}`, 'character'],
    ['a base58 text with I', `I${USDC.slice(1)}`, 'character'],
    ['a base58 text with l', `l${USDC.slice(1)}`, 'character'],
    ['a base58 text with a Greek letter', `Α${USDC.slice(1)}`, 'character'],
    ['44 digits above 32 bytes', 'z'.repeat(44), 'length'],
    ['a combining accent', `${USDC.slice(0, 43)}\u0301`, 'character'],
    ['a zero-width space', `${USDC.slice(0, 43)}\u200b`, 'character'],
    ['a megabyte of ones', '1'.repeat(1_000_000), 'length'],
    ['a megabyte of hex', `0x${'a'.repeat(1_000_000)}`, 'length'],
  ])('%s', (_, text, problem) => {
    expect(readAddress(text)).toBe(problem);
    expect(isAddress(readAddress(text))).toBe(false);
  });

  test.each([null, undefined, 42, [], {}, [USDC]])('%s is no text', (value) => {
    expect([readAddress(value), readTransactionId(value)]).toEqual(['character', 'character']);
  });

  test('the words for problems are no addresses', () => {
    for (const word of ['length', 'character', 'checksum']) expect(isAddress(readAddress(word))).toBe(false);
  });

  test('a text of other characters is refused and writes no bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        fc.pre(!/^0x/.test(text) && ![...text].every((char) => ALPHABET.includes(char)));
        expect(isAddress(readAddress(text))).toBe(false);
        expect(isTransactionId(readTransactionId(text))).toBe(false);
        expect(writeBytes(text as never, Buffer.alloc(BYTES_MAX), 0)).toBe(0);
      }),
    );
  });

  test('whatever is accepted has one spelling, and that many bytes', () => {
    const base58 = fc.string({ unit: fc.constantFrom(...ALPHABET), minLength: 30, maxLength: 46 });
    fc.assert(
      fc.property(base58, (text) => {
        const outcome = readAddress(text);
        fc.pre(isAddress(outcome));
        expect(isAddress(outcome) && addressOfBytes(written(outcome))).toBe(text);
      }),
    );
  });
});

test.each([
  [`0x${'a'.repeat(39)}`, 'It has 39 hex digits, not 40.'],
  [`0x${'a'.repeat(39)}g`, '"g" is no hex digit.'],
  [`0X${'a'.repeat(40)}`, '"X" is no hex digit.'],
  [`l${USDC.slice(1)}`, '"l" is no base58 digit.'],
  [USDC.slice(0, 20), 'It has 20 base58 digits, not 32 to 44.'],
  ['z'.repeat(44), 'It stands for other than 32 bytes.'],
])('%s: %s', (text, fault) => {
  expect(faultOf(text, 'address')).toBe(fault);
});

test('a fault of a long text is short', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 5_000 }), (text) => {
      expect(faultOf(text, 'transaction').length).toBeLessThan(80);
    }),
  );
});

test('every address is in one of the ranges, whatever its namespace', () => {
  const accounts = fc.oneof(...SIZES.map(([, length]) => bytesOf(length).map(addressOfBytes)));
  fc.assert(
    fc.property(accounts, fc.nat(2), (account, digits) => {
      expect(addressRanges(digits).filter(({ from, to }) => account >= from && account < to)).toHaveLength(1);
    }),
  );
});

test('a literal of our own that is no address is a bug', () => {
  expect(() => address('0x12')).toThrow('not an address (length): 0x12');
});

function written(text: Parameters<typeof writeBytes>[0]): Buffer {
  const into = Buffer.alloc(BYTES_MAX + 1);
  return into.subarray(1, 1 + writeBytes(text, into, 1));
}
