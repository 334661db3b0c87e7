import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { getAddress } from 'viem';
import { expect, test } from 'vitest';
import { address, isAddress, readAddress, toChecksum } from '../../../core/domain/account.ts';
import {
  microsFromDecimal,
  USD_EXACT_BELOW_MICROS,
  usdMicros,
  usdNumber,
} from '../../../core/domain/amount.ts';
import type { Chain } from '../../../core/domain/chains.ts';
import { type CursorKeys, mintCursor, readCursor } from '../../../core/domain/cursor.ts';

const hexAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);

test('the checksum spelling is the one that viem makes, and reads back', () => {
  fc.assert(
    fc.property(hexAddress, (text) => {
      expect(toChecksum(address(text))).toBe(getAddress(text));
      expect(readAddress(getAddress(text))).toBe(text);
    }),
  );
});

test('flipping the case of one letter of a checksummed address is noticed', () => {
  fc.assert(
    fc.property(hexAddress, fc.nat(39), (text, at) => {
      const spelled = getAddress(text);
      const letter = spelled.charAt(2 + at);
      const flipped = letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase();
      const typo = spelled.slice(0, 2 + at) + flipped + spelled.slice(3 + at);
      const mixed = /[a-f]/.test(typo.slice(2)) && /[A-F]/.test(typo.slice(2));
      fc.pre(letter !== flipped && mixed);
      expect(readAddress(typo)).toBe('checksum');
    }),
  );
});

test('anything else is refused', () => {
  fc.assert(fc.property(fc.string(), (text) => !isAddress(readAddress(text))));
});

test('a dollar number shows every digit of its decimal text below the exact bound', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: USD_EXACT_BELOW_MICROS - 1n }), (micros) => {
      const decimal = `${micros / 1_000_000n}.${(micros % 1_000_000n).toString().padStart(6, '0')}`;
      expect(microsFromDecimal(decimal)).toBe(micros);
      expect(usdNumber(micros).toFixed(6)).toBe(decimal);
    }),
  );
});

test('face value scales between decimals without inventing money', () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2n ** 128n }),
      fc.integer({ min: 0, max: 24 }),
      (amount, decimals) => {
        const micros = usdMicros(amount, { decimals, currency: 'USD' }) ?? -1n;
        expect(micros * 10n ** BigInt(decimals)).toBeLessThanOrEqual(amount * 1_000_000n);
        expect((micros + 1n) * 10n ** BigInt(decimals)).toBeGreaterThan(amount * 1_000_000n);
      },
    ),
  );
});

test('money of another currency has a dollar value by its configured rate alone', () => {
  const euros = { decimals: 18, currency: 'EUR' };
  expect(usdMicros(10n ** 18n, euros)).toBeNull();
  const rated = { ...euros, usdRate: { usd: '1.0842', source: 'ECB, 2026-11-27' } };
  expect(usdMicros(10n ** 18n, rated)).toBe(1_084_200n);
  expect(usdMicros(2n ** 200n, rated)).toBe((2n ** 200n * 10_842n) / 10n ** 16n);
  expect(usdMicros(3n, { decimals: 0, currency: 'JPY', usdRate: { usd: '2', source: 'a test' } })).toBe(
    6_000_000n,
  );
});

const keys: CursorKeys = { keys: [randomBytes(32)] };
const position = fc.record({
  blockTime: fc.nat(),
  chain: fc.nat(10 ** 6).map((id): Chain => `eip155:${id}`),
  blockNumber: fc.maxSafeNat(),
  logIndex: fc.nat(),
});

test('a cursor reads back as the position it was minted from', () => {
  fc.assert(
    fc.property(position, (at) => {
      expect(readCursor(keys, 'flows', mintCursor(keys, 'flows', at))).toEqual(at);
    }),
  );
});

test('a cursor of another list, another deployment, or with one character changed is refused', () => {
  fc.assert(
    fc.property(position, fc.nat(), fc.constantFrom(...'ABCxyz019-_'), (at, index, letter) => {
      const cursor = mintCursor(keys, 'flows', at);
      expect(readCursor(keys, 'transactions', cursor)).toBeUndefined();
      expect(readCursor({ keys: [randomBytes(32)] }, 'flows', cursor)).toBeUndefined();
      expect(readCursor(keys, 'flows', cursor.slice(0, index % cursor.length))).toBeUndefined();
      const changed =
        cursor.slice(0, index % cursor.length) + letter + cursor.slice((index % cursor.length) + 1);
      fc.pre(changed !== cursor);
      expect(readCursor(keys, 'flows', changed)).toBeUndefined();
    }),
  );
});

test('an older key still reads, the newest one mints', () => {
  const old = randomBytes(32);
  const at = { blockTime: 1, chain: 'eip155:1', blockNumber: 2, logIndex: 3 } as const;
  const rotated: CursorKeys = { keys: [randomBytes(32), old] };
  expect(readCursor(rotated, 'flows', mintCursor({ keys: [old] }, 'flows', at))).toEqual(at);
  expect(readCursor({ keys: [old] }, 'flows', mintCursor(rotated, 'flows', at))).toBeUndefined();
});
