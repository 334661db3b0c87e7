import { describe, expect, test } from 'vitest';
import { RowBinary } from '../../../clickhouse/engine/row-binary.ts';
import type { Address } from '../../../core/domain/account.ts';
import { word } from '../../kit/chain-logs.ts';

const hex = (write: (out: RowBinary) => RowBinary) =>
  Buffer.from(write(new RowBinary()).finish()).toString('hex');

describe('RowBinary bytes', () => {
  test.each([
    ['a short string', (out: RowBinary) => out.string('abc'), '03616263'],
    ['an empty string', (out: RowBinary) => out.string(''), '00'],
    ['a string beyond ASCII', (out: RowBinary) => out.string('₮'), '03e282ae'],
    ['u8', (out: RowBinary) => out.u8(255), 'ff'],
    ['u16', (out: RowBinary) => out.u16(258), '0201'],
    ['u32', (out: RowBinary) => out.u32(4_294_967_295), 'ffffffff'],
    ['u64 from a number', (out: RowBinary) => out.u64(2 ** 40 + 1), '0100000000010000'],
    ['u64 from a bigint', (out: RowBinary) => out.u64(2n ** 64n - 1n), 'ff'.repeat(8)],
    ['a small u256', (out: RowBinary) => out.u256(1n), `01${'00'.repeat(31)}`],
    ['a u256 of its own width', (out: RowBinary) => out.u256(2n ** 255n + 2n), `02${'00'.repeat(30)}80`],
    ['a decimal', (out: RowBinary) => out.decimal64(-1n), 'ff'.repeat(8)],
    ['a date', (out: RowBinary) => out.date('1970-01-03'), '0200'],
    ['a date and time', (out: RowBinary) => out.dateTime(1), '01000000'],
    ['a date and time in milliseconds', (out: RowBinary) => out.dateTime64(256), `0001${'00'.repeat(6)}`],
    ['a float', (out: RowBinary) => out.float64(1), '000000000000f03f'],
    ['a hash', (out: RowBinary) => out.hash(word(5)), `${'00'.repeat(31)}05`],
  ])('%s', (_, write, expected) => {
    expect(hex(write)).toBe(expected);
  });

  test.each([41, 42, 43, 127, 128, 16_383, 16_384, 200_000])(
    'a string of %i three-byte characters keeps its length',
    (length) => {
      const bytes = Buffer.from(new RowBinary().string('₮'.repeat(length)).u8(7).finish());
      let at = 0;
      let size = 0;
      let shift = 0;
      do {
        size |= ((bytes[at] ?? 0) & 127) << shift;
        shift += 7;
      } while ((bytes[at++] ?? 0) >= 128);
      expect(size).toBe(3 * length);
      expect(bytes.toString('utf8', at, at + size)).toBe('₮'.repeat(length));
      expect([bytes[at + size], bytes.length]).toEqual([7, at + size + 1]);
    },
  );

  test('growing keeps what was written', () => {
    const out = new RowBinary();
    for (let value = 0; value < 100_000; value++) out.u32(value);
    const bytes = Buffer.from(out.finish());
    expect(bytes.length).toBe(400_000);
    for (const value of [0, 16_383, 16_384, 99_999]) expect(bytes.readUInt32LE(4 * value)).toBe(value);
  });
});

describe('a value that its column cannot hold is refused, never wrapped', () => {
  test.each([
    ['u8', (out: RowBinary) => out.u8(256)],
    ['u16', (out: RowBinary) => out.u16(-1)],
    ['u32', (out: RowBinary) => out.u32(2 ** 32)],
    ['u32 with a fraction', (out: RowBinary) => out.u32(1.5)],
    ['u64', (out: RowBinary) => out.u64(2n ** 64n)],
    ['u64 beyond the safe numbers', (out: RowBinary) => out.u64(2 ** 53)],
    ['u256', (out: RowBinary) => out.u256(2n ** 256n)],
    ['a negative u256', (out: RowBinary) => out.u256(-1n)],
    ['a decimal', (out: RowBinary) => out.decimal64(2n ** 63n)],
    ['a date before 1970', (out: RowBinary) => out.date('1969-12-31')],
    ['a date that is none', (out: RowBinary) => out.date('yesterday')],
    ['a short hash', (out: RowBinary) => out.hash('0x12')],
    ['a hash with other characters', (out: RowBinary) => out.hash(`0x${'0'.repeat(62)}zz`)],
    ['an address without 0x', (out: RowBinary) => out.account('0'.repeat(42) as Address)],
  ])('%s', (_, write) => {
    expect(() => write(new RowBinary())).toThrow(RangeError);
  });
});
